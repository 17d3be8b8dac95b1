from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest

from loomverify.accounts.access import Access
from loomverify.accounts.models import AuditEntry, Project
from loomverify.errors import InputError
from tests.builders import make_run
from tests.reviewing import DOUBTED, make_review
from tests.reviews.people import (
    FAIL,
    PASS,
    fresh,
    kinds,
    reviewer_of,
    says,
    settled,
    told,
)
from verification.engine.outcome import Outcome
from verification.reviews import deciding, settling
from verification.reviews.deciding import Said
from verification.reviews.models import CaseDraft, Decision
from verification.reviews.queue import claims
from verification.runs import rendering
from verification.runs.models import Event, OutboxEvent, Review, ReviewState, Run

pytestmark = pytest.mark.django_db
WARNINGS = Outcome.PASS_WITH_WARNINGS


@pytest.fixture
def people(project: Project) -> list[Access]:
    return [reviewer_of(project, name) for name in ("anna", "bert", "cleo", "dora")]


@pytest.fixture
def two(project: Project) -> Review:
    """A review that two people decide."""
    run = make_run(project, findings=[{"fingerprint": "one"}, {"fingerprint": "two"}], **DOUBTED)
    return make_review(project, run, reviewers=2)


@pytest.fixture
def blind(project: Project) -> Review:
    run = make_run(project, findings=[{"fingerprint": "one"}], **DOUBTED)
    return make_review(project, run, is_blind=True)


def refused(access: Access, review: Review, outcome: Outcome | None = PASS, **said: Any) -> str:
    with pytest.raises(InputError) as refusal:
        says(access, review, outcome, **said)
    return refusal.value.code


def written(run: Run) -> str:
    """All that anybody but the reviewer can read of it."""
    shown = rendering.full(rendering.whole(Run.objects.filter(pk=run.pk)).get())
    rows: list[Any] = [
        *Event.objects.filter(run=run).values_list("data", flat=True),
        *OutboxEvent.objects.filter(run=run).values_list("payload", flat=True),
        *AuditEntry.objects.values_list("diff", flat=True),
        *CaseDraft.objects.values_list("outcome", flat=True),
    ]
    return shown.model_dump_json() + json.dumps(rows)


def test_two_who_agree_decide(people: list[Access], two: Review) -> None:
    anna, bert, *_ = people
    says(anna, two, comment="Fine.")
    says(bert, two, comment="Good.")

    after = settled(two)

    assert (after.outcome, after.run.final_outcome, after.is_adjudication) == (
        "pass", "pass", False,
    )  # fmt: skip
    assert (after.told["by"], after.told["comment"]) == (["anna", "bert"], "Fine.\n\nGood.")
    assert len(told(two.run)) == 1


def test_the_second_seat_is_for_somebody_else(people: list[Access], two: Review) -> None:
    anna, bert, *_ = people
    says(anna, two)

    after = fresh(two)
    assert (after.state, after.claimed_by, after.assigned_to) == (ReviewState.PENDING, None, None)
    assert claims.claim_next(access=anna) is None
    taken = claims.claim_next(access=bert)
    assert taken is not None
    assert taken.pk == two.pk
    assert refused(anna, two, FAIL) == "review.decided_by_you"


def test_the_first_of_two_is_told_to_nobody_until_both_are_settled(
    people: list[Access], two: Review
) -> None:
    anna, bert, *_ = people
    said = {"comment": "secret words", "findings": {"one": True}, "wants_case": True}
    says(anna, two, WARNINGS, **said)
    settled(two)
    assert Decision.objects.get().settled_at is not None
    after_one = written(two.run)

    says(bert, two, WARNINGS)
    after_both = written(two.run)
    settled(two)

    for text in (after_one, after_both):
        assert "secret words" not in text
        assert "pass_with_warnings" not in text
        assert "true_positive" not in text
        assert "anna" not in text
    assert "pass_with_warnings" in written(two.run)
    assert "secret words" in written(two.run)


def test_the_first_of_two_can_undo_for_as_long_as_anybody(
    people: list[Access], two: Review
) -> None:
    anna, bert, *_ = people
    says(anna, two)
    assert deciding.undo(access=anna).is_erased
    says(anna, two, FAIL)
    settled(two)

    assert deciding.undo(access=anna).is_erased is False
    says(bert, two, FAIL)
    assert settled(two).outcome == "fail"


def test_the_second_word_is_undone_alone(people: list[Access], two: Review) -> None:
    anna, bert, cleo, _ = people
    says(anna, two)
    says(bert, two, FAIL)

    assert deciding.undo(access=bert).is_erased

    assert fresh(two).state == ReviewState.PENDING
    claims.release(access=bert, review=two.uuid)
    says(cleo, two)
    assert settled(two).told["by"] == ["anna", "cleo"]


def test_the_first_word_is_undone_after_the_second_was_said(
    people: list[Access], two: Review
) -> None:
    anna, bert, *_ = people
    says(anna, two)
    says(bert, two)

    assert deciding.undo(access=anna).is_erased
    assert settled(two).state == ReviewState.PENDING
    assert told(two.run) == []

    says(anna, two)
    assert settled(two).told["by"] == ["bert", "anna"]


def test_two_who_disagree_are_decided_between_by_a_third(people: list[Access], two: Review) -> None:
    anna, bert, cleo, _ = people
    says(anna, two)
    says(bert, two, FAIL)
    disagreed = settled(two)

    assert (disagreed.state, disagreed.round, disagreed.is_adjudication, disagreed.reviewers) == (
        ReviewState.PENDING, 2, True, 1,
    )  # fmt: skip
    assert (disagreed.outcome, disagreed.run.review_state, told(two.run)) == ("", "pending", [])
    assert kinds(two.run)[-1] == "reviewers_disagreed"
    asked = OutboxEvent.objects.get(topic="review.requested").payload
    assert (asked["run"], asked["reasons"]) == (str(two.run.uuid), ["reviewers_disagreed"])
    for one in (anna, bert):
        assert claims.claim_next(access=one) is None
        assert refused(one, two) == "review.decided_by_you"
    taken = claims.claim_next(access=cleo)
    assert taken is not None
    says(cleo, two, FAIL)

    after = settled(two)
    assert (after.outcome, after.run.final_outcome, after.told["by"]) == ("fail", "fail", ["cleo"])
    assert Decision.objects.get(reviewer=cleo.actor.user).is_adjudication


def test_an_adjudication_has_its_own_time(people: list[Access], two: Review) -> None:
    anna, bert, *_ = people
    soon = two.created_at + timedelta(hours=1)
    Review.objects.update(expires_at=soon)
    says(anna, two)
    says(bert, two, FAIL)

    after = settled(two)

    assert after.expires_at is not None
    assert after.expires_at >= soon + settling.UNDO


def test_an_undone_change_of_two_peoples_mind_leaves_both_words(
    people: list[Access], two: Review
) -> None:
    anna, bert, *_ = people
    says(anna, two)
    says(bert, two)
    before = settled(two)
    says(anna, two, FAIL)
    deciding.undo(access=anna)

    after = settled(two)

    assert (after.round, after.reviewers, after.outcome, after.told) == (
        before.round, 2, "pass", before.told,
    )  # fmt: skip


def test_where_it_was_opened_anew_what_was_said_before_counts_nothing(
    people: list[Access], two: Review
) -> None:
    anna, bert, *_ = people
    says(anna, two, PASS)
    settled(two)
    Review.objects.update(round=2)  # as when it had been withdrawn

    says(anna, two, FAIL)
    says(bert, two, FAIL)

    after = settled(two)
    assert (after.outcome, after.told["by"]) == ("fail", ["anna", "bert"])


def test_labels_that_two_do_not_share_are_not_told(people: list[Access], two: Review) -> None:
    anna, bert, *_ = people
    says(anna, two, FAIL, findings={"one": True, "two": True})
    says(bert, two, FAIL, findings={"one": False, "two": True})

    assert settled(two).told["findings"] == {"two": "true_positive"}


def test_over_the_api_the_second_word_waits_for_the_firsts_time_to_undo(
    people: list[Access], two: Review
) -> None:
    anna, bert, *_ = people
    first = says(anna, two)
    deciding.decide(access=bert, review=two.uuid, said=Said(PASS), at_once=True)

    waiting = fresh(two)
    assert (waiting.state, waiting.told_at) == (ReviewState.DECIDED, None)
    assert waiting.takes_effect_at == first.created_at + settling.UNDO
    assert settled(two).told_at is not None


def test_over_the_api_two_settled_words_take_effect_at_once(
    people: list[Access], two: Review
) -> None:
    for one in people[:2]:
        deciding.decide(access=one, review=two.uuid, said=Said(PASS), at_once=True)

    assert fresh(two).run.final_outcome == "pass"


def test_blind_the_first_answer_is_kept_and_confirmed(people: list[Access], blind: Review) -> None:
    anna, *_ = people

    first = says(anna, blind, comment="As I see it.")
    between = settled(blind)
    confirmed = says(anna, blind, PASS, findings={"one": False})

    assert (first.first_outcome, first.outcome) == ("pass", "")
    assert (between.state, between.claimed_by) == (ReviewState.PENDING, anna.actor.user)
    assert confirmed.pk == first.pk
    assert (confirmed.first_outcome, confirmed.outcome) == ("pass", "pass")
    assert confirmed.comment == "As I see it."
    assert settled(blind).told["findings"] == {"one": "false_positive"}


def test_blind_an_answer_may_change_once_the_verdict_is_known(
    people: list[Access], blind: Review
) -> None:
    anna, *_ = people
    says(anna, blind, PASS)
    says(anna, blind, FAIL)

    after = settled(blind)

    decision = Decision.objects.get()
    assert (decision.first_outcome, decision.outcome) == ("pass", "fail")
    assert after.outcome == "fail"


def test_blind_nothing_given_confirms_what_was_said_first(
    people: list[Access], blind: Review
) -> None:
    says(people[0], blind, PASS)
    says(people[0], blind, None)

    assert settled(blind).outcome == "pass"


def test_blind_a_button_pressed_twice_confirms_nothing(people: list[Access], blind: Review) -> None:
    says(people[0], blind, PASS, is_first=True)
    says(people[0], blind, PASS, is_first=True)

    assert Decision.objects.get().outcome == ""


@pytest.mark.parametrize(
    ("outcome", "said", "code"),
    [
        (None, {}, "outcome.required"),  # the verifier's own is not known yet
        (PASS, {"findings": {"one": True}}, "review.blind"),
        (PASS, {"is_first": False}, "review.blind"),
    ],
)
def test_blind_nobody_agrees_to_what_they_have_not_seen(
    people: list[Access], blind: Review, outcome: Outcome | None, said: dict[str, Any], code: str
) -> None:
    assert refused(people[0], blind, outcome, **said) == code
    assert not Decision.objects.exists()


def test_blind_what_is_undone_does_not_make_blind_again(
    people: list[Access], blind: Review
) -> None:
    anna, *_ = people
    says(anna, blind, PASS)
    says(anna, blind, FAIL)
    assert deciding.undo(access=anna).is_erased

    again = says(anna, blind, FAIL)

    assert (again.first_outcome, again.outcome) == ("pass", "fail")
    assert settled(blind).outcome == "fail"


def test_blind_a_first_answer_cannot_be_undone(people: list[Access], blind: Review) -> None:
    says(people[0], blind)

    with pytest.raises(InputError) as refusal:
        deciding.undo(access=people[0])

    assert refusal.value.code == "decision.unknown"


def test_blind_each_of_two_answers_before_the_verdict(
    project: Project, people: list[Access]
) -> None:
    anna, bert, *_ = people
    review = make_review(project, is_blind=True, reviewers=2)
    says(anna, review, PASS)
    says(anna, review, PASS)
    assert says(bert, review, FAIL).outcome == ""
    says(bert, review, PASS)

    after = settled(review)

    assert (after.outcome, after.is_adjudication) == ("pass", False)


def test_blind_a_draft_of_a_case_tells_nothing_of_the_verdict(
    people: list[Access], blind: Review
) -> None:
    says(people[0], blind, wants_case=True)

    assert CaseDraft.objects.get().outcome == ""


def test_a_first_answer_that_is_never_confirmed_counts_nothing(
    people: list[Access], blind: Review
) -> None:
    anna, bert, *_ = people
    says(anna, blind, PASS)
    claims.release(access=anna, review=blind.uuid)
    says(bert, blind, FAIL)
    says(bert, blind, FAIL)

    assert settled(blind).told["by"] == ["bert"]
