"""Reviews of runs that are verified again, cancelled, out of time or purged."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from loomverify.accounts.models import Project, Role
from tests.builders import make_project, make_run, make_user
from tests.reviewing import make_review
from tests.runs.conftest import Caller
from tests.runs.test_flags import asked, asked_process, events_of, verified_again
from verification.engine.outcome import Outcome, Verdict
from verification.reviews.models import Decision, FindingLabel
from verification.runs import flags, retention
from verification.runs.models import (
    Evaluation,
    Event,
    Finding,
    OutboxEvent,
    Review,
    ReviewState,
    Run,
    TierResult,
)

KEPT = ("id", "uuid", "created_at", "rank_at", "urgency", "round", "lease_until", "claimed_by_id")


@pytest.fixture
def doubtful(agent: Caller, project: Project) -> dict[str, Any]:
    """A run that waits for a person: its judge is not there."""
    asked_process(project, "{expires_after_hours: 10}", tier=2)
    run, _ = asked(agent)
    return run


def review_of(run: dict[str, Any]) -> Review:
    return Review.objects.get(run__uuid=run["id"])


def change(run: dict[str, Any], **columns: Any) -> None:
    Review.objects.filter(run__uuid=run["id"]).update(**columns)


def settles(run: dict[str, Any]) -> None:
    """As if the run had asked for tier 1 alone: it is accepted when it is verified again."""
    Run.objects.filter(uuid=run["id"]).update(tier_requested=1)


def kept_of(run: dict[str, Any]) -> dict[str, Any]:
    kept: dict[str, Any] = Review.objects.filter(run__uuid=run["id"]).values(*KEPT).get()
    return kept


def test_a_review_goes_on_in_its_place_while_its_run_stays_in_doubt(
    agent: Caller, project: Project, doubtful: dict[str, Any]
) -> None:
    person, now = make_user(project, Role.REVIEWER), timezone.now()
    opened = now - timedelta(hours=3)
    claim = {"claimed_by": person, "lease_until": now + timedelta(minutes=5)}
    change(doubtful, created_at=opened, rank_at=opened - timedelta(hours=40), round=2, **claim)
    before = kept_of(doubtful)

    again = verified_again(agent, doubtful)

    assert kept_of(doubtful) == before
    review = review_of(doubtful)
    assert review.evaluation == Run.objects.get(uuid=again["id"]).live_evaluation
    assert Evaluation.objects.filter(run=review.run).count() == 2
    assert again["review"]["state"] == "pending"
    assert events_of(again) == ["review_requested"]
    assert OutboxEvent.objects.filter(topic="review.requested").count() == 1


def test_what_became_more_urgent_moves_up_and_nothing_moves_down(
    agent: Caller, doubtful: dict[str, Any]
) -> None:
    opened = review_of(doubtful).created_at
    change(doubtful, urgency=3, rank_at=opened)
    verified_again(agent, doubtful)
    raised = review_of(doubtful)
    change(doubtful, urgency=90, rank_at=opened - timedelta(hours=1) * 90)

    verified_again(agent, doubtful)

    kept = review_of(doubtful)
    assert (raised.urgency, kept.urgency) == (40, 90)
    assert raised.rank_at == opened - timedelta(hours=1) * 40
    assert kept.rank_at == opened - timedelta(hours=1) * 90


def test_a_held_review_stays_held_until_somebody_takes_it_in(
    agent: Caller, doubtful: dict[str, Any]
) -> None:
    change(doubtful, state=ReviewState.HELD)

    again = verified_again(agent, doubtful)

    assert (review_of(doubtful).state, again["review"]["state"]) == ("held", "not_required")
    assert events_of(again) == ["review_requested"]


@pytest.mark.parametrize("state", [ReviewState.PENDING, ReviewState.HELD])
def test_a_review_is_withdrawn_when_its_run_settles_itself(
    agent: Caller, project: Project, doubtful: dict[str, Any], state: ReviewState
) -> None:
    lease = timezone.now() + timedelta(minutes=5)
    change(doubtful, state=state, claimed_by=make_user(project), lease_until=lease)
    settles(doubtful)

    again = verified_again(agent, doubtful)

    review = review_of(doubtful)
    assert (review.state, review.claimed_by, review.lease_until) == ("withdrawn", None, None)
    assert (again["verdict"], again["review"]["state"]) == ("accept", "not_required")
    assert events_of(again) == ["review_requested", "review_withdrawn"]


@pytest.mark.parametrize("state", [ReviewState.WITHDRAWN, ReviewState.EXPIRED])
def test_a_closed_review_is_opened_afresh_when_there_is_doubt_again(
    agent: Caller, project: Project, doubtful: dict[str, Any], state: ReviewState
) -> None:
    long_ago = timezone.now() - timedelta(days=9)
    change(
        doubtful,
        state=state,
        created_at=long_ago,
        rank_at=long_ago,
        expires_at=long_ago,
        urgency=99,
        is_adjudication=True,
        assigned_to=make_user(project),
    )
    Run.objects.update(review_state="not_required")

    again = verified_again(agent, doubtful)

    review = review_of(doubtful)
    assert (review.state, again["review"]["state"], review.urgency) == ("pending", "pending", 40)
    assert review.created_at > long_ago + timedelta(days=8)
    assert review.expires_at == review.created_at + timedelta(hours=10)
    assert (review.round, review.is_adjudication, review.assigned_to) == (2, False, None)
    assert events_of(again) == ["review_requested", "review_requested"]


@pytest.mark.parametrize("is_settled", [True, False], ids=["settles", "in-doubt"])
def test_what_was_decided_stays_decided(
    agent: Caller, doubtful: dict[str, Any], is_settled: bool
) -> None:
    told = timezone.now()
    change(doubtful, state=ReviewState.DECIDED, outcome="pass_with_warnings", told_at=told)
    Run.objects.update(review_state="decided", final_outcome="pass_with_warnings")
    if is_settled:
        settles(doubtful)

    agent.post(f"/runs/{doubtful['id']}/reverify")
    meanwhile = agent.get(f"/runs/{doubtful['id']}").json()
    again = agent.verified(doubtful["id"])

    assert meanwhile["final_outcome"] == again["final_outcome"] == "pass_with_warnings"
    assert (review_of(doubtful).state, again["review"]["state"]) == ("decided", "decided")
    assert again["verdict"] == ("accept" if is_settled else "undecided")
    assert events_of(again) == ["review_requested"]


@pytest.mark.parametrize("is_settled", [True, False], ids=["settles", "in-doubt"])
def test_a_decision_that_can_still_be_undone_is_left_alone(
    agent: Caller, doubtful: dict[str, Any], is_settled: bool
) -> None:
    change(doubtful, state=ReviewState.DECIDED, told_at=None)
    before = review_of(doubtful).evaluation
    if is_settled:
        settles(doubtful)

    again = verified_again(agent, doubtful)

    review = review_of(doubtful)
    assert (review.state, review.evaluation, again["review"]["state"]) == (
        "decided",
        before,
        "pending",
    )


def test_a_run_that_is_cancelled_asks_nobody(agent: Caller, doubtful: dict[str, Any]) -> None:
    agent.post(f"/runs/{doubtful['id']}/reverify")

    agent.post(f"/runs/{doubtful['id']}/cancel")

    run = agent.get(f"/runs/{doubtful['id']}").json()
    assert (run["state"], run["review"]["state"]) == ("cancelled", "not_required")
    assert review_of(doubtful).state == "withdrawn"


def overdue(project: Project, **columns: Any) -> Review:
    past = timezone.now() - timedelta(seconds=1)
    return make_review(project, **{"expires_at": past, **columns})


@pytest.mark.parametrize("state", [ReviewState.PENDING, ReviewState.HELD])
def test_what_nobody_decides_in_its_time_is_closed_and_told_once(
    db: None, state: ReviewState
) -> None:
    review = overdue(make_project(), state=state)

    closed = [flags.expire(now=timezone.now()) for _ in range(2)]

    review.refresh_from_db()
    run = Run.objects.get(pk=review.run_id)
    assert (closed, review.state, run.review_state) == ([1, 0], "expired", "not_required")
    assert (run.outcome, run.verdict) == ("fail", "undecided")
    assert Event.objects.filter(run=run, kind="review_expired").count() == 1


@pytest.mark.parametrize(
    "columns",
    [
        {"expires_at": None},
        {"expires_at": timezone.now() + timedelta(days=1)},
        {"lease_until": timezone.now() + timedelta(days=1)},
        {"state": ReviewState.DECIDED},
        {"state": ReviewState.WITHDRAWN},
    ],
    ids=["never", "in-time", "somebody-holds-it", "decided", "withdrawn"],
)
def test_nothing_else_expires(db: None, columns: dict[str, Any]) -> None:
    review = overdue(make_project(), **columns)

    assert flags.expire(now=timezone.now()) == 0

    state = review.state
    review.refresh_from_db()
    assert review.state == state
    assert not Event.objects.filter(kind="review_expired").exists()


def test_a_claim_that_has_lapsed_keeps_nothing_open(db: None) -> None:
    project = make_project()
    past = timezone.now() - timedelta(minutes=1)
    review = overdue(project, claimed_by=make_user(project), lease_until=past)

    flags.expire(now=timezone.now())

    review.refresh_from_db()
    assert (review.state, review.claimed_by) == ("expired", None)


def test_a_turn_of_the_relay_closes_a_bounded_number(db: None) -> None:
    project = make_project()
    for _ in range(3):
        overdue(project)

    turns = [flags.expire(now=timezone.now(), limit=2) for _ in range(3)]

    assert turns == [2, 1, 0]


def test_a_turn_with_nothing_to_close_costs_one_query(db: None) -> None:
    make_review(make_project())

    with CaptureQueriesContext(
        connection,
    ) as queries:
        flags.expire(now=timezone.now())

    assert len(queries) == 1


def test_a_run_is_purged_with_its_review_decisions_and_labels(db: None) -> None:
    project = make_project()
    run = make_run(
        project, outcome=Outcome.FAIL, verdict=Verdict.REJECT, findings=[{"rule": "sources"}]
    )
    review = make_review(project, run)
    person = make_user(project, Role.REVIEWER)
    decision = Decision.objects.create(
        project=project,
        review=review,
        evaluation=review.evaluation,
        reviewer=person,
        outcome=Outcome.PASS,
        created_at=timezone.now(),
    )
    FindingLabel.objects.create(decision=decision, finding=Finding.objects.get(), is_right=False)
    Run.objects.update(retain_until=timezone.now() - timedelta(days=1))

    assert retention.purge_expired() == 1

    for table in (Run, Review, Decision, FindingLabel, Evaluation, TierResult):
        assert not table.objects.exists()
    person.refresh_from_db()
