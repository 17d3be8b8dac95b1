from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from loomverify.accounts.access import Access
from loomverify.accounts.models import Project
from tests.reviewing import make_review
from tests.reviews.people import FAIL, PASS, fresh, in_time, kinds, says, told
from verification.engine.outcome import Outcome
from verification.reviews import effects, settling
from verification.reviews.models import CaseDraft, Decision
from verification.runs import figures, outbox, relay
from verification.runs.models import Evaluation, Review, ReviewState, Run
from verification.runs.spans import Span

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("outcome", "passed"),
    [
        (Outcome.PASS, True),
        (Outcome.PASS_WITH_WARNINGS, True),
        (Outcome.PARTIAL_VERIFIED, True),
        (Outcome.FAIL, False),
    ],
)
def test_people_leave_nothing_undecided(outcome: Outcome, passed: bool) -> None:
    assert effects.verdict_of(outcome).passed is passed


def test_the_relay_lets_decisions_take_effect(anna: Access, project: Project) -> None:
    review = make_review(project)
    says(anna, review)
    Review.objects.update(takes_effect_at=timezone.now())

    relay.turn()

    assert fresh(review).run.final_outcome == "pass"


def test_what_is_due_is_settled_once_and_the_rest_is_left(anna: Access, project: Project) -> None:
    due, later = make_review(project), make_review(project)
    says(anna, due)
    says(anna, later)
    Review.objects.filter(pk=due.pk).update(takes_effect_at=timezone.now())

    assert [settling.settle_due(now=timezone.now()) for _ in range(2)] == [1, 0]

    assert (len(told(due.run)), len(told(later.run))) == (1, 0)


def test_one_that_cannot_be_settled_keeps_no_other_from_it(
    anna: Access, project: Project, caplog: pytest.LogCaptureFixture
) -> None:
    broken, whole = make_review(project), make_review(project)
    for review in (broken, whole):
        says(anna, review)
    Run.objects.filter(pk=broken.run_id).update(verdict="odd")

    assert settling.settle_due(now=in_time()) == 1

    assert (fresh(broken).told_at, fresh(whole).run.final_outcome) == (None, "pass")
    assert "decision_not_settled" in caplog.text
    Run.objects.filter(pk=broken.run_id).update(verdict="undecided")
    assert settling.settle_due(now=in_time()) == 1


def test_many_are_settled_by_and_by(
    anna: Access, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settling, "BATCH", 2)
    for _ in range(5):
        says(anna, make_review(project))

    assert [settling.settle_due(now=in_time()) for _ in range(4)] == [2, 2, 1, 0]


def test_a_turn_without_decisions_costs_two_looks(anna: Access, project: Project) -> None:
    for _ in range(3):
        says(anna, make_review(project))

    with CaptureQueriesContext(
        connection,
    ) as queries:
        settling.settle_due(now=timezone.now())

    statements = [query["sql"] for query in queries if query["sql"].startswith("SELECT")]
    assert len(statements) <= 3


def test_the_first_word_of_two_is_settled_alone(anna: Access, project: Project) -> None:
    review = make_review(project, reviewers=2)
    says(anna, review)

    assert settling.settle_due(now=in_time()) == 1

    assert Decision.objects.get().settled_at is not None
    assert (fresh(review).state, told(review.run)) == (ReviewState.PENDING, [])


@pytest.mark.parametrize("state", [ReviewState.EXPIRED, ReviewState.WITHDRAWN])
def test_a_first_word_that_no_second_follows_decides_nothing(
    anna: Access, project: Project, state: ReviewState
) -> None:
    review = make_review(project, reviewers=2)
    says(anna, review)
    Review.objects.update(state=state)

    settling.settle_due(now=in_time())

    after = fresh(review)
    assert (after.state, after.run.final_outcome, told(review.run)) == (state, "", [])


def test_figures_count_what_people_overturned(anna: Access, project: Project) -> None:
    review = make_review(project)
    Run.objects.update(verdict="reject")
    Evaluation.objects.update(verdict="reject")
    says(anna, review)

    settling.settle_due(now=in_time())

    now = timezone.now()
    span = Span.by_days(now - timedelta(days=1), now + timedelta(hours=1))
    assert sum(one.overturned_count for one in figures.figures(project.pk, span)) == 1


def test_a_draft_of_a_case_has_the_outcome_that_counts(anna: Access, project: Project) -> None:
    review = make_review(project)
    says(anna, review, PASS, wants_case=True)
    settling.settle_due(now=in_time())
    says(anna, review, FAIL)
    settling.settle_due(now=in_time())

    assert CaseDraft.objects.get().outcome == "fail"


def test_the_outside_is_told_through_the_outbox(anna: Access, project: Project) -> None:
    review = make_review(project)
    says(anna, review, comment="\u202e<b>bold</b>\0")
    settling.settle_due(now=in_time())

    assert outbox.dispatch() == 1
    assert told(review.run)[0]["comment"] == "\u202e<b>bold</b>\N{REPLACEMENT CHARACTER}"
    assert kinds(review.run).count("review_decided") == 1
