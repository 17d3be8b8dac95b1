from __future__ import annotations

from uuid import uuid4

import pytest

from loomverify.accounts.access import Access
from loomverify.accounts.models import Project
from loomverify.errors import NotFound
from tests.builders import make_run
from tests.reviewing import DOUBTED, make_review
from tests.reviews.people import FAIL, PASS, fresh, key_of, kinds, reviewer_of, says, settled, told
from verification.reviews import deciding, settling
from verification.reviews.deciding import Said
from verification.reviews.models import Decision, FindingLabel
from verification.reviews.queue import claims
from verification.runs.models import Review, ReviewState, Run

pytestmark = pytest.mark.django_db


@pytest.fixture
def review(project: Project) -> Review:
    return make_review(project)


def test_in_its_time_a_decision_is_erased_and_the_review_is_claimed_again(
    anna: Access, review: Review
) -> None:
    history = kinds(review.run)
    says(anna, review)

    undone = deciding.undo(access=anna)

    assert (undone.is_erased, undone.review.state) == (True, ReviewState.PENDING)
    assert undone.review.claimed_by == anna.actor.user
    assert Decision.objects.get().undone_at is not None
    assert settled(review).run.review_state == "pending"
    assert (told(review.run), kinds(review.run)) == ([], history)


def test_what_was_erased_is_decided_anew(anna: Access, review: Review) -> None:
    says(anna, review)
    deciding.undo(access=anna)
    says(anna, review, FAIL)

    after = settled(review)

    assert (after.outcome, after.run.final_outcome, after.round) == ("fail", "fail", 1)
    counted = Decision.objects.filter(undone_at=None, settled_at__isnull=False)
    assert [one.outcome for one in counted] == ["fail"]


def test_after_its_effect_nothing_is_erased_and_the_review_is_given_for_a_change(
    anna: Access, review: Review
) -> None:
    says(anna, review)
    settled(review)

    undone = deciding.undo(access=anna)

    assert (undone.is_erased, undone.review.pk) == (False, review.pk)
    assert undone.review.state == ReviewState.DECIDED
    assert Decision.objects.get().undone_at is None


def test_a_change_of_mind_is_a_new_round_and_is_told_with_what_was_before(
    anna: Access, review: Review
) -> None:
    says(anna, review, comment="It is fine.")
    settled(review)

    says(anna, review, FAIL, comment="It is not.")
    between = fresh(review)
    after = settled(review)

    assert (between.outcome, between.run.final_outcome, between.run.review_state) == (
        "pass", "pass", "decided",
    )  # fmt: skip
    assert between.told["comment"] == "It is fine."
    assert (after.outcome, after.run.final_outcome, after.round) == ("fail", "fail", 2)
    assert after.told["comment"] == "It is not."
    assert [(one["final_outcome"], one["previous"]) for one in told(review.run)] == [
        ("pass", None),
        ("fail", "pass"),
    ]


def test_a_change_of_mind_can_be_undone_and_what_was_before_stands(
    anna: Access, review: Review
) -> None:
    says(anna, review)
    before = settled(review)
    says(anna, review, FAIL)

    undone = deciding.undo(access=anna)

    after = settled(review)
    kept = ("state", "outcome", "round", "reviewers", "told", "decided_at")
    assert undone.is_erased
    assert {name: getattr(after, name) for name in kept} == {
        name: getattr(before, name) for name in kept
    }
    assert after.told_at is not None
    assert (after.run.final_outcome, after.run.review_state) == ("pass", "decided")
    assert len(told(review.run)) == 1


def test_somebody_else_may_change_what_was_decided(
    project: Project, anna: Access, review: Review
) -> None:
    says(anna, review)
    settled(review)

    says(reviewer_of(project, "bert"), review, FAIL)

    assert settled(review).told["by"] == ["bert"]


def test_over_the_api_nothing_can_be_erased(project: Project, review: Review) -> None:
    key = key_of(project)
    deciding.decide(access=key, review=review.uuid, said=Said(PASS), at_once=True)

    assert deciding.undo(access=key).is_erased is False


def test_the_latest_comes_first_and_each_next_undo_goes_further_back(
    project: Project, anna: Access
) -> None:
    reviews = [make_review(project) for _ in range(3)]
    for review in reviews:
        says(anna, review)

    undone = [deciding.undo(access=anna).review.pk for _ in range(3)]

    assert undone == [review.pk for review in reversed(reviews)]
    with pytest.raises(NotFound):
        deciding.undo(access=anna)


def test_only_the_last_ten_are_offered(project: Project, anna: Access) -> None:
    decisions = [says(anna, make_review(project)) for _ in range(11)]

    assert deciding.last_decisions(anna) == decisions[:0:-1]
    assert deciding.undo(access=anna, decision=decisions[1].uuid).is_erased
    Decision.objects.filter(pk=decisions[1].pk).update(undone_at=None)
    with pytest.raises(NotFound):
        deciding.undo(access=anna, decision=decisions[0].uuid)


def test_nobody_undoes_what_somebody_else_decided(
    project: Project, anna: Access, review: Review
) -> None:
    decision = says(anna, review)
    bert = reviewer_of(project)

    for name in (None, decision.uuid, uuid4()):
        with pytest.raises(NotFound):
            deciding.undo(access=bert, decision=name)


def test_what_was_taken_back_gives_way_to_who_took_it_since(project: Project, anna: Access) -> None:
    bert = reviewer_of(project, "bert")
    review = make_review(project, reviewers=2)
    says(anna, review)
    claims.claim(access=bert, review=review.uuid)

    undone = deciding.undo(access=anna)

    assert (undone.is_erased, undone.review.claimed_by) == (True, bert.actor.user)


def test_a_run_that_was_verified_again_meanwhile_waits_for_a_person_again(
    anna: Access, review: Review
) -> None:
    says(anna, review)
    Run.objects.update(review_state="not_required")

    deciding.undo(access=anna)

    assert fresh(review).run.review_state == "pending"


def test_labels_of_what_was_undone_are_kept_and_count_nothing(
    project: Project, anna: Access
) -> None:
    review = make_review(project, make_run(project, findings=[{"fingerprint": "one"}], **DOUBTED))
    says(anna, review, findings={"one": True})
    deciding.undo(access=anna)
    says(anna, review, findings={"one": False})

    assert settled(review).told["findings"] == {"one": "false_positive"}
    assert FindingLabel.objects.filter(decision__undone_at=None).count() == 1


def test_the_time_for_undoing_is_ten_seconds(anna: Access, review: Review) -> None:
    decision = says(anna, review)

    assert settling.UNDO_SECONDS == deciding.UNDO_SECONDS == 10
    assert settling.settle_due(now=decision.created_at + settling.UNDO * 0.99) == 0
    assert settling.settle_due(now=decision.created_at + settling.UNDO) == 1
