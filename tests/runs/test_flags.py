"""Which ends of runs become reviews, through a real worker's steps."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.conf import LazySettings
from django.db.models import F

from loomverify.accounts.access import SYSTEM
from loomverify.accounts.models import Project, Role
from processes.services import add_version, publish
from tests.model_server import model_server
from tests.runs.conftest import Caller
from tests.runs.judged import AWAY, FAILING, NOISE, PASSING, judged_by
from verification.runs.models import Event, OutboxEvent, Review, Run

ASKED_FOR = """\
name: asked
phases:
  - {id: work, description: Do it., verification_tier: %(tier)s, may_lower_tier: true, is_critical_path: %(critical)s}
verification:
  policy:
    review: %(review)s
"""


@pytest.fixture(autouse=True)
def _no_sample(settings: LazySettings) -> None:
    settings.REVIEW_SAMPLE_RATE = 0


def asked_process(
    project: Project, review: str = "{}", *, tier: int = 1, critical: str = "false"
) -> None:
    source = ASKED_FOR % {"review": review, "tier": tier, "critical": critical}
    version, _ = add_version(project=project, source_text=source, actor=SYSTEM, role=Role.ADMIN)
    publish(process=version.process, number=version.number, actor=SYSTEM, reason="test")


def asked(agent: Caller, **fields: Any) -> tuple[dict[str, Any], Review | None]:
    run = agent.submit(process="asked", **fields)
    return run, Review.objects.filter(run__uuid=run["id"]).first()


def events_of(run: dict[str, Any]) -> list[str]:
    kinds = Event.objects.filter(run__uuid=run["id"], kind__startswith="review_")
    return list(kinds.order_by("seq").values_list("kind", flat=True))


def verified_again(agent: Caller, run: dict[str, Any]) -> dict[str, Any]:
    answer = agent.post(f"/runs/{run['id']}/reverify")
    assert answer.status_code == 202, answer.content
    return agent.verified(run["id"])


def test_doubt_opens_a_review_with_its_reason_and_place_in_the_queue(
    agent: Caller, project: Project
) -> None:
    asked_process(project, tier=2)

    run, review = asked(agent)

    assert review is not None
    assert run["review"]["state"] == review.state == "pending"
    assert review.reasons == ["verifier_unavailable"]
    assert (review.urgency, review.is_flagged, review.sample_rate) == (40, True, None)
    assert review.rank_at == review.created_at - timedelta(hours=1) * 40
    assert review.expires_at == review.created_at + timedelta(hours=168)
    assert review.evaluation == Run.objects.get(uuid=run["id"]).live_evaluation
    assert events_of(run) == ["review_requested"]
    assert OutboxEvent.objects.filter(topic="review.requested").count() == 1


UNSURE = '{"passed": true, "confidence": 0.3}'


@pytest.mark.extended
@pytest.mark.parametrize(
    ("script", "tier", "reasons", "urgency"),
    [
        ([NOISE], 2, ["parse_inconclusive"], 40),
        ([AWAY], 2, ["infra_verifier_error"], 40),
        ([UNSURE], 2, ["low_confidence"], 30),
        ([PASSING, PASSING, PASSING, FAILING], 3, ["vote_divergence"], 50),
        ([PASSING, FAILING, FAILING, PASSING], 3, ["vote_divergence"], 60),
        ([FAILING], 2, None, 0),
        ([PASSING], 2, None, 0),
    ],
    ids=["unread", "away", "unsure", "mostly-passed", "mostly-failed", "rejected", "accepted"],
)
def test_what_judges_leave_in_doubt_is_reviewed_and_their_plain_words_are_not(
    agent: Caller,
    project: Project,
    settings: LazySettings,
    script: list[Any],
    tier: int,
    reasons: list[str] | None,
    urgency: int,
) -> None:
    settings.REVERIFY_DEADLINE_SECONDS, settings.JUDGE_FIRST_WAIT_SECONDS = 0, 0.01
    asked_process(project, tier=tier)
    with model_server(*script) as server:
        judged_by(project, server)

        run, review = asked(agent)

    assert (review and review.reasons) == reasons
    assert (review.urgency if review else 0) == urgency
    assert run["review"]["state"] == ("pending" if reasons else "not_required")


@pytest.mark.extended
@pytest.mark.parametrize("kind", ["partial", "rejected"])
@pytest.mark.parametrize("is_asked", [True, False], ids=["asked", "not-asked"])
def test_plain_verdicts_are_reviewed_where_the_process_wants_it(
    agent: Caller, project: Project, kind: str, is_asked: bool
) -> None:
    asked_process(project, f"{{reasons: [undecided{f', {kind}' * is_asked}]}}")
    doubtful: dict[str, Any] = {
        "claims": [{"text": "quarters", "label": "inferred", "section": "supporting"}]
    }
    fields = {"partial": doubtful, "rejected": {"return_code": 1}}[kind]

    run, review = asked(agent, **fields)

    assert run["outcome"] == {"partial": "partial_verified", "rejected": "fail"}[kind]
    assert (review and review.reasons) == ([run["reason_code"]] if is_asked else None)


def test_the_last_attempt_of_a_task_is_reviewed(agent: Caller, project: Project) -> None:
    asked_process(project, critical="true")

    _, review = asked(agent, task={"id": "t", "max_attempts": 1}, return_code=1)

    assert review is not None
    assert review.reasons == ["attempts_exhausted"]
    assert review.urgency == 45 + 30 + 15


def test_the_leading_finding_groups_reviews(agent: Caller, project: Project) -> None:
    asked_process(project, "{reasons: [undecided, rejected]}")

    runs = [asked(agent, output=text, return_code=3) for text in ("One.", "Another.")]

    leading = {(review.rule, review.fingerprint) for _, review in runs if review}
    [found] = {(run["findings"][0]["rule"], run["findings"][0]["fingerprint"]) for run, _ in runs}
    assert leading == {found}


def test_a_run_without_a_finding_has_nothing_to_group_by(agent: Caller, project: Project) -> None:
    asked_process(project, "{sample_rate: 1}")

    _, review = asked(agent)

    assert review is not None
    assert (review.rule, review.fingerprint) == ("", "")


def test_the_policy_of_the_runs_own_version_counts(agent: Caller, project: Project) -> None:
    asked_process(project, "{reasons: [], sample_rate: 0}")
    before, nobody = asked(agent, return_code=1)
    asked_process(project, "{reasons: [rejected], blind: true, reviewers: 2}")

    _, review = asked(agent, return_code=1)
    again = verified_again(agent, before)

    assert nobody is None
    assert again["review"]["state"] == "not_required"
    assert review is not None
    assert (review.is_blind, review.reviewers) == (True, 2)


@pytest.mark.parametrize(("hours", "days"), [("48", 2), ("never", None)])
def test_a_review_ends_when_the_policy_says(
    agent: Caller, project: Project, hours: str, days: int | None
) -> None:
    asked_process(project, f"{{reasons: [rejected, undecided], expires_after_hours: {hours}}}")

    _, review = asked(agent, return_code=1)

    assert review is not None
    until = review.created_at + timedelta(days=days) if days else None
    assert review.expires_at == until


def test_chance_draws_passes_and_rejects_and_no_doubt(agent: Caller, project: Project) -> None:
    asked_process(project, "{reasons: [], sample_rate: 1}", tier=2)

    passed, rejected = asked(agent, tier=1), asked(agent, tier=1, return_code=1)
    doubtful = asked(agent)

    for run, review in (passed, rejected):
        assert review is not None
        assert (review.reasons, review.is_flagged) == (["random_sample"], False)
        assert (review.sample_rate, review.urgency, run["review"]["state"]) == (1, 5, "pending")
    assert doubtful[1] is None


def test_beyond_the_cap_a_run_is_held_back_and_counted(agent: Caller, project: Project) -> None:
    asked_process(project, "{cap_per_day: 2}", tier=2)

    found = [asked(agent) for _ in range(4)]

    assert [review.state for _, review in found if review] == ["pending"] * 2 + ["held"] * 2
    run, _ = found[-1]
    assert (run["verdict"], run["final_outcome"]) == ("undecided", run["outcome"])
    assert run["review"]["state"] == "not_required"
    assert events_of(run) == ["review_held_back"]
    assert OutboxEvent.objects.filter(topic="review.requested").count() == 2


def test_a_place_once_taken_stays_taken_that_day(agent: Caller, project: Project) -> None:
    asked_process(project, "{cap_per_day: 1}", tier=2)
    asked(agent)
    Review.objects.update(state="decided")

    _, review = asked(agent)

    assert review is not None
    assert review.state == "held"


def test_the_next_day_has_room_for_new_runs_and_leaves_held_ones(
    agent: Caller, project: Project
) -> None:
    asked_process(project, "{cap_per_day: 1}", tier=2)
    _, held = [asked(agent)[1] for _ in range(2)]
    Review.objects.update(created_at=F("created_at") - timedelta(days=1))

    _, review = asked(agent)

    assert held is not None
    assert review is not None
    held.refresh_from_db()
    assert (held.state, review.state) == ("held", "pending")


def test_each_process_has_a_cap_of_its_own(agent: Caller, project: Project) -> None:
    asked_process(project, "{cap_per_day: 1}", tier=2)
    asked(agent)

    assert agent.submit(tier=2)["review"]["state"] == "pending"


def test_chance_is_never_held_back_and_takes_no_place(agent: Caller, project: Project) -> None:
    asked_process(
        project, "{reasons: [undecided, rejected], sample_rate: 1, cap_per_day: 1}", tier=2
    )

    drawn = [asked(agent, tier=1, return_code=1)[1] for _ in range(2)]
    flagged = [asked(agent)[1] for _ in range(2)]

    assert [one.state for one in drawn if one] == ["pending"] * 2
    assert [one.is_flagged for one in drawn if one] == [True] * 2
    assert [one.state for one in flagged if one] == ["pending", "held"]
