"""Tier 3 over real HTTP: votes, what people see of them, and alternatives."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.conf import LazySettings

from loomverify.accounts.models import Project
from tests.model_server import ModelServer, Said, model_server, together
from tests.runs.conftest import Caller
from tests.runs.judged import FAILING, NOISE, PASSING, judged_by
from verification.runs.models import ModelCall, Review

pytestmark = pytest.mark.django_db
COMPARES = "You compare"


@pytest.fixture(autouse=True)
def _nobody_waits_long(settings: LazySettings) -> None:
    settings.JUDGE_FIRST_WAIT_SECONDS = 0.01


@pytest.fixture
def server(project: Project) -> Iterator[ModelServer]:
    with model_server(PASSING) as server:
        judged_by(project, server, votes=5)
        yield server


def says(server: ModelServer, *votes: str) -> None:
    """Tier 2 passes; the votes of tier 3 come in this order."""
    server.script[:] = [PASSING, *votes]


@pytest.mark.extended
@pytest.mark.parametrize(
    ("votes", "verdict", "reason_code", "confidence", "vote_share"),
    [
        ((PASSING,) * 5, "accept", None, 0.9, 1.0),
        ((PASSING, FAILING, PASSING, PASSING, PASSING), "accept", "vote_divergence", 0.74, 0.8),
        ((FAILING, FAILING, PASSING, FAILING, PASSING), "reject", "vote_rejected", 0.58, 0.4),
    ],
)
def test_a_majority_decides_and_whoever_disagreed_brings_a_review(
    agent: Caller,
    server: ModelServer,
    votes: tuple[str, ...],
    verdict: str,
    reason_code: str | None,
    confidence: float,
    vote_share: float,
) -> None:
    says(server, *votes)

    run = agent.submit(tier=3)

    assert (run["verdict"], run["reason_code"]) == (verdict, reason_code)
    assert (run["confidence"], run["tier_achieved"]) == (pytest.approx(confidence), 3)
    assert run["vote_share"] == vote_share
    assert sorted(vote["passed"] for vote in run["votes"]) == sorted(
        one == PASSING for one in votes
    )
    is_split = len({*votes}) > 1
    assert run["review"]["state"] == ("pending" if is_split else "not_required")
    assert [one.reasons for one in Review.objects.all()] == [["vote_divergence"]] * is_split


def test_five_votes_are_under_way_at_the_same_time(agent: Caller, server: ModelServer) -> None:
    server.script[:] = [PASSING, together(5, PASSING)]

    run = agent.submit(tier=3)

    assert (run["verdict"], server.most_at_once) == ("accept", 5)
    tier = run["tiers"][2]
    assert (tier["calls"], tier["detail"]) == (5, "5 of 5 votes passed")


def test_a_vote_that_cannot_be_read_is_cast_again_and_both_calls_are_kept(
    agent: Caller, server: ModelServer
) -> None:
    says(server, NOISE, PASSING)

    run = agent.submit(tier=3)

    assert (run["verdict"], run["review"]["state"]) == ("accept", "not_required")
    calls = ModelCall.objects.filter(tier=3)
    assert (calls.count(), calls.filter(recovery="unreadable").count()) == (6, 1)


def test_alternatives_are_compared_beside_the_votes(agent: Caller, server: ModelServer) -> None:
    def said(request: dict[str, Any]) -> Said:
        system, user = (one["content"] for one in request["messages"])
        if not system.startswith(COMPARES):
            return Said(PASSING)
        names = re.findall(r"begin ([0-9a-f]{8})\]\n(.+)", user)
        same = [name for name, text in names if text in ("five", "5")]
        groups = [same, *([name] for name, _ in names if name not in same)]
        return Said(json.dumps({"groups": groups}))

    server.script[:] = [PASSING, together(6, said)]

    agreed = agent.submit(tier=3, output="five", alternatives=["5", "6"])
    server.script[:] = [said]
    alone = agent.submit(tier=3, output="6", alternatives=["5", "five"])

    assert (agreed["verdict"], server.most_at_once) == ("accept", 6)
    assert (alone["verdict"], alone["reason_code"]) == ("reject", "vote_rejected")
    assert alone["findings"][0]["rule"] == "alternatives"
    assert ModelCall.objects.filter(ask="compare", recovery="strict_json").count() == 2
