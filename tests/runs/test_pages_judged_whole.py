"""From a judge's answer over real HTTP to the pages and figures that tell of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.conf import LazySettings
from django.urls import reverse

from loomverify.accounts.models import Project
from tests.builders import make_user, signed_in
from tests.model_server import ModelServer, Said, model_server
from tests.runs.conftest import Caller
from tests.runs.judged import FAILING, PASSING, judged_by, submit, work_on
from verification.runs.models import Run


@pytest.fixture(autouse=True)
def _nobody_waits_long(settings: LazySettings) -> None:
    settings.JUDGE_FIRST_WAIT_SECONDS = 0.01


@pytest.fixture
def server(project: Project) -> Iterator[ModelServer]:
    with model_server(PASSING) as server:
        judged_by(project, server)
        yield server


def shown(project: Project, path: str) -> Any:
    answer = signed_in(make_user(project)).get(path)
    assert answer.status_code == 200
    return answer


def path_of(run: Run) -> str:
    return reverse("run_detail", args=[run.project.slug, run.uuid])


def test_what_was_sent_is_shown_part_by_part_and_what_came_with_its_reading(
    project: Project, agent: Caller, server: ModelServer
) -> None:
    server.script[:] = [Said("busy", status=429), f"I looked at it.\n\n{FAILING}\n\nThat is all."]
    run = work_on(submit(agent))
    second = run.evaluations.get().model_calls.get(seq=2)

    page = shown(project, path_of(run)).content.decode()
    call = shown(project, f"{path_of(run)}calls/{second.evaluation.uuid}/2/2/")

    assert "the judge was too busy" in page
    assert "found inside prose" in page
    exchange = call.context["exchange"]
    titles = [(part.title, part.is_material) for part in exchange.prompt]
    assert ("task", True) in titles
    assert ("output", True) in titles
    assert ("Instructions", False) in titles
    marked = [
        piece.text for line in exchange.reply.text.lines for piece in line.pieces if piece.is_marked
    ]
    assert "".join(marked) == FAILING.replace("\n", "")


def test_the_figures_tell_of_it_at_once(
    project: Project, agent: Caller, server: ModelServer
) -> None:
    server.script[:] = [Said("busy", status=429), f"So:\n{PASSING}"]
    run = work_on(submit(agent))

    measured = agent.get("/metrics/verification").json()
    overview = shown(project, reverse("overview", args=[project.slug])).context["figures"]

    assert measured["recovery"]["embedded_json"] == 1
    assert (measured["calls"]["calls"], measured["calls"]["lost"]) == (2, 1)
    assert (measured["retry_resolved_rate"], measured["n"]["retried"]) == (1.0, 1)
    assert measured["cost_usd"]["total"] == f"{run.cost_usd:.6f}"
    assert measured["cost_usd"]["by_model"] == {"openai/first": f"{run.cost_usd:.6f}"}
    assert overview.judging.retry_resolved.count == 1
    assert [one["id"] for one in agent.get("/runs?recovery=embedded_json").json()["items"]] == [
        str(run.uuid)
    ]


def test_a_run_whose_judge_is_away_is_not_decided_yet(
    project: Project, agent: Caller, server: ModelServer
) -> None:
    server.script[:] = [Said("away", status=503)]
    run = work_on(submit(agent))

    page = shown(project, path_of(run)).content.decode()
    told = agent.get(f"/runs/{run.uuid}").json()

    assert "Not decided yet: the verifier could not be reached, or failed itself." in page
    assert 'id="waiting"' in page
    assert told["state"] == "queued"
    assert (told["undecided"]["reason_code"], told["undecided"]["tries"]) == (
        "infra_verifier_error",
        1,
    )
