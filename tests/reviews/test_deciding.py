from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone

from loomverify.accounts.access import Access
from loomverify.accounts.models import AuditEntry, Project, Role
from loomverify.errors import Conflict, Forbidden, InputError, NotFound
from tests.builders import evaluate, make_project, make_run
from tests.reviewing import DOUBTED, make_review
from tests.reviews.people import (
    FAIL,
    PASS,
    fresh,
    key_of,
    kinds,
    reviewer_of,
    says,
    settled,
    told,
)
from verification.engine.outcome import Outcome
from verification.reviews import deciding
from verification.reviews.deciding import Said
from verification.reviews.models import CaseDraft, Decision, FindingLabel
from verification.reviews.queue import claims
from verification.runs.models import DirtyHour, Evaluation, Review, ReviewState, Run

pytestmark = pytest.mark.django_db
RULE = {"fingerprint": "one", "rule": "no-placeholders"}
OTHER_RULE = {"fingerprint": "two", "rule": "figures-have-sources"}


@pytest.fixture
def review(project: Project) -> Review:
    return make_review(project, make_run(project, findings=[RULE, OTHER_RULE], **DOUBTED))


def refused(access: Access, review: Review, outcome: Outcome | None = PASS, **said: Any) -> str:
    """The refusal's code, once nothing was stored."""
    before = Decision.objects.count()
    with pytest.raises(InputError) as refusal:
        says(access, review, outcome, **said)
    assert Decision.objects.count() == before
    return refusal.value.code


@pytest.mark.parametrize(
    ("said", "final", "passed"),
    [
        (Outcome.PASS, "pass", True),
        (Outcome.PASS_WITH_WARNINGS, "pass_with_warnings", True),
        (Outcome.PARTIAL_VERIFIED, "partial_verified", True),
        (Outcome.FAIL, "fail", False),
        (None, "fail", False),  # the verifier's own
    ],
)
def test_what_a_person_says_becomes_the_final_outcome(
    anna: Access, review: Review, said: Outcome | None, final: str, passed: bool
) -> None:
    says(anna, review, said)
    after = settled(review)

    assert (after.outcome, after.run.final_outcome, after.run.review_state) == (
        final,
        final,
        "decided",
    )
    assert [one["passed"] for one in told(review.run)] == [passed]


def test_what_the_project_redacts_is_in_no_comment(anna: Access, review: Review) -> None:
    anna.project.redaction_patterns = ["sk-[a-z]+"]

    says(anna, review, FAIL, comment="The key sk-abc stands in line 3.")

    assert Decision.objects.get().comment == "The key [redacted] stands in line 3."


def test_what_the_verifier_said_is_never_rewritten(anna: Access, review: Review) -> None:
    before = (
        Run.objects.values("outcome", "verdict", "reason_code", "action").get(),
        Evaluation.objects.values().get(),
    )

    says(anna, review)
    settled(review)

    assert before == (
        Run.objects.values("outcome", "verdict", "reason_code", "action").get(),
        Evaluation.objects.values().get(),
    )


def test_nothing_is_told_as_long_as_it_can_be_undone(anna: Access, review: Review) -> None:
    history = kinds(review.run)
    DirtyHour.objects.all().delete()

    decision = says(anna, review)

    after = fresh(review)
    assert (after.state, after.outcome, after.told_at) == (ReviewState.DECIDED, "", None)
    assert (after.run.final_outcome, after.run.review_state) == ("", "pending")
    assert (kinds(review.run), told(review.run)) == (history, [])
    assert (decision.settled_at, DirtyHour.objects.exists()) == (None, False)


def test_once_it_takes_effect_everybody_is_told_all_of_it(anna: Access, review: Review) -> None:
    DirtyHour.objects.all().delete()
    says(anna, review, comment="It is fine.", findings={"one": False, "two": True})

    after = settled(review)

    labels = {"one": "false_positive", "two": "true_positive"}
    assert kinds(review.run)[-1] == "review_decided"
    assert after.decided_at is not None
    assert told(review.run) == [
        {
            "run": str(review.run.uuid),
            "task": review.run.task.external_id,
            "process": "small-work",
            "phase": "build",
            "outcome": "fail",
            "final_outcome": "pass",
            "passed": True,
            "comment": "It is fine.",
            "findings": labels,
            "decided_at": after.decided_at.isoformat(),
            "previous": None,
        }
    ]
    assert after.told == {
        "passed": True, "comment": "It is fine.", "by": ["anna"], "findings": labels,
    }  # fmt: skip
    assert DirtyHour.objects.exists()
    assert Decision.objects.get().settled_at is not None


def test_over_the_api_a_decision_takes_effect_at_once(project: Project, review: Review) -> None:
    decision = deciding.decide(
        access=key_of(project), review=review.uuid, said=Said(PASS), at_once=True
    )

    after = fresh(review)
    assert (after.run.final_outcome, after.run.review_state) == ("pass", "decided")
    assert decision.settled_at is not None
    assert after.told["by"] == ["script"]


@pytest.mark.parametrize("role", [Role.VIEWER, Role.AGENT])
def test_only_reviewers_decide(project: Project, review: Review, role: Role) -> None:
    access = reviewer_of(project, role=role)

    for act in (
        lambda: says(access, review),
        lambda: deciding.undo(access=access),
        lambda: deciding.decide_together(access=access, reviews=[], said=Said(PASS)),
    ):
        with pytest.raises(Forbidden):
            act()


def test_another_projects_reviewer_finds_nothing(review: Review) -> None:
    with pytest.raises(NotFound):
        says(reviewer_of(make_project()), review)


def test_what_somebody_else_holds_is_theirs_to_decide(
    anna: Access, bert: Access, review: Review
) -> None:
    claims.claim(access=bert, review=review.uuid)

    assert refused(anna, review) == "review.held"
    assert says(bert, review).reviewer == bert.actor.user


def test_a_lease_that_ran_out_and_was_taken_decides_nothing(
    anna: Access, bert: Access, review: Review
) -> None:
    claims.claim(access=anna, review=review.uuid)
    Review.objects.update(lease_until=timezone.now())
    claims.claim(access=bert, review=review.uuid)

    assert refused(anna, review) == "review.held"


@pytest.mark.parametrize("holder", ["anna", "bert", "nobody"])
def test_what_nobody_holds_any_more_is_claimed_in_passing(
    request: pytest.FixtureRequest, anna: Access, review: Review, holder: str
) -> None:
    if holder != "nobody":
        claims.claim(access=request.getfixturevalue(holder), review=review.uuid)
        Review.objects.update(lease_until=timezone.now())

    says(anna, review)

    after = fresh(review)
    assert (after.state, after.claimed_by, after.lease_until) == (ReviewState.DECIDED, None, None)


@pytest.mark.parametrize("state", [ReviewState.HELD, ReviewState.EXPIRED, ReviewState.WITHDRAWN])
def test_what_waits_for_nobody_is_not_decided(
    project: Project, anna: Access, state: ReviewState
) -> None:
    assert refused(anna, make_review(project, state=state)) == "review.over"


def test_the_same_said_twice_is_one_decision(anna: Access, review: Review) -> None:
    once = says(anna, review, comment="Fine.", findings={"one": True})
    twice = says(anna, review, comment="Fine.", findings={"one": True})

    assert (once, Decision.objects.count()) == (twice, 1)


def test_the_same_said_again_after_its_effect_is_no_change_of_mind(
    anna: Access, review: Review
) -> None:
    once = says(anna, review)
    settled(review)

    assert says(anna, review) == once
    assert len(told(review.run)) == 1


@pytest.mark.parametrize(
    "other", [{"outcome": FAIL}, {"comment": "No."}, {"findings": {"one": False}}]
)
def test_anything_else_said_twice_is_refused(
    anna: Access, review: Review, other: dict[str, Any]
) -> None:
    says(anna, review)

    assert refused(anna, review, **other) == "review.decided_by_you"


def test_what_somebody_has_just_decided_is_over_for_others(
    anna: Access, bert: Access, review: Review
) -> None:
    says(anna, review)

    assert refused(bert, review) == "review.over"


def test_findings_are_labelled_by_their_fingerprint(anna: Access, review: Review) -> None:
    says(anna, review, findings={"one": True, "two": False})

    rows = FindingLabel.objects.values_list("finding__fingerprint", "is_right")
    assert dict(rows) == {"one": True, "two": False}


@pytest.mark.parametrize("name", ["three", "", "on\0e", "o" * 5000, "\ud800"])
def test_a_finding_that_is_not_there_is_refused(anna: Access, review: Review, name: str) -> None:
    assert refused(anna, review, findings={"one": True, name: True}) == "finding.unknown"


def test_findings_of_another_evaluation_are_refused(anna: Access, review: Review) -> None:
    evaluate(review.run, purpose="shadow", findings=[{"fingerprint": "theirs"}])

    assert refused(anna, review, findings={"theirs": True}) == "finding.unknown"


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("  two\r\nlines \n", "two\nlines"),
        ("a\0b", "a\N{REPLACEMENT CHARACTER}b"),
        ("a\ud800b", "a\N{REPLACEMENT CHARACTER}b"),
        ("x" * 10_000, "x" * 10_000),
        ("<script>alert(1)</script>", "<script>alert(1)</script>"),
    ],
)
def test_a_comment_is_kept_as_it_can_be_stored(
    anna: Access, review: Review, given: str, kept: str
) -> None:
    says(anna, review, comment=given)
    after = settled(review)

    assert Decision.objects.get().comment == after.told["comment"] == kept


def test_a_comment_has_an_end(anna: Access, review: Review) -> None:
    assert refused(anna, review, comment="x" * 10_001) == "comment.too_long"


def test_the_verifiers_own_outcome_is_nothing_where_there_is_none(
    anna: Access, review: Review
) -> None:
    Evaluation.objects.update(outcome="")

    assert refused(anna, review, None) == "outcome.required"


def test_who_looked_at_an_earlier_evaluation_is_told_so(anna: Access, review: Review) -> None:
    seen = review.evaluation.uuid
    Review.objects.update(evaluation=evaluate(review.run, purpose="reverify"))

    assert refused(anna, review, evaluation=seen) == "review.changed"


def test_the_time_a_decision_took_counts_from_the_claim(anna: Access, review: Review) -> None:
    claims.claim(access=anna, review=review.uuid)
    Review.objects.update(claimed_at=timezone.now() - timedelta(seconds=42))
    claims.claim(access=anna, review=review.uuid)  # kept longer: no new beginning

    assert says(anna, review).seconds in range(42, 42 + 60)


def test_a_claim_that_had_run_out_begins_anew(anna: Access, review: Review) -> None:
    claims.claim(access=anna, review=review.uuid)
    yesterday = timezone.now() - timedelta(days=1)
    Review.objects.update(claimed_at=yesterday)
    Review.objects.update(lease_until=yesterday)
    claims.claim(access=anna, review=review.uuid)

    assert says(anna, review).seconds in range(60)


def test_what_was_not_claimed_took_no_time_that_is_known(anna: Access, review: Review) -> None:
    assert says(anna, review).seconds is None


def test_each_step_is_in_the_audit_trail(anna: Access, review: Review) -> None:
    says(anna, review)
    deciding.undo(access=anna)
    says(anna, review)
    settled(review)
    says(anna, review, FAIL)

    rows = AuditEntry.objects.filter(verb__startswith="review.").order_by("id")
    assert list(rows.values_list("verb", "diff", "actor")) == [
        ("review.decided", {"outcome": ["", "pass"]}, "anna"),
        ("review.undone", {}, "anna"),
        ("review.decided", {"outcome": ["", "pass"]}, "anna"),
        ("review.changed", {"outcome": ["pass", "fail"]}, "anna"),
    ]


def test_a_golden_case_is_drafted_with_the_decision(anna: Access, review: Review) -> None:
    says(anna, review, wants_case=True)
    settled(review)

    draft = CaseDraft.objects.get()
    assert (draft.run, draft.outcome, draft.made_by) == (review.run, "pass", "anna")


def test_many_are_decided_together_and_each_by_its_own_rules(
    project: Project, anna: Access, bert: Access
) -> None:
    plain, held, past = (make_review(project) for _ in range(3))
    blind = make_review(project, is_blind=True)
    two = make_review(project, reviewers=2)
    third = make_review(project, is_adjudication=True)
    foreign, unknown = make_review(make_project()), uuid4()
    claims.claim(access=bert, review=held.uuid)
    says(bert, past)
    settled(past)
    asked = [one.uuid for one in (plain, held, past, blind, two, third, foreign, plain)]

    together = deciding.decide_together(access=anna, reviews=[*asked, unknown], said=Said(PASS))

    assert together.decided == [plain.uuid]
    assert together.refused == {
        held.uuid: "review.held",
        past.uuid: "review.over",
        blind.uuid: "review.one_by_one",
        two.uuid: "review.one_by_one",
        third.uuid: "review.one_by_one",
        foreign.uuid: "review.unknown",
        unknown: "review.unknown",
    }
    assert Decision.objects.filter(reviewer=anna.actor.user).count() == 1


def test_one_that_has_not_the_finding_keeps_no_other_from_it(
    project: Project, anna: Access, review: Review
) -> None:
    without = make_review(project)

    together = deciding.decide_together(
        access=anna, reviews=[without.uuid, review.uuid], said=Said(FAIL, findings={"one": True})
    )

    assert (together.decided, together.refused) == (
        [review.uuid],
        {without.uuid: "finding.unknown"},
    )


def test_not_more_than_two_hundred_are_decided_together(anna: Access) -> None:
    with pytest.raises(InputError, match="At most 200"):
        deciding.decide_together(
            access=anna, reviews=[uuid4() for _ in range(201)], said=Said(PASS)
        )


def test_the_database_keeps_one_decision_per_reviewer_and_round(
    anna: Access, review: Review
) -> None:
    first = says(anna, review)
    # As if the row had been written behind our back.
    Review.objects.update(state=ReviewState.PENDING)
    Decision.objects.update(outcome="", first_outcome="", comment="hidden")
    Review.objects.update(is_blind=False)

    with pytest.raises(Conflict) as refusal:
        says(anna, review)

    assert refusal.value.code == "review.decided_by_you"
    assert list(Decision.objects.values_list("pk", flat=True)) == [first.pk]
