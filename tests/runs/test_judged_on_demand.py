"""Runs that somebody has verified again, while they are in doubt or when they are over."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

import pytest
from django.conf import LazySettings
from django.utils import timezone

from loomverify.accounts.access import SYSTEM
from loomverify.accounts.models import Project
from tests.builders import make_user, signed_in
from tests.model_server import ModelServer, model_server
from tests.runs.conftest import Caller
from tests.runs.judged import AWAY, PASSING, judged_by, make_due, pass_deadline, submit, work_on
from verification.engine.verifier import ENGINE_BUILD, VerifierSpec
from verification.runs import leases
from verification.runs.models import Evaluation, Review, Run
from verification.verifiers.models import VerifierVersion
from verification.verifiers.services import replace_active


@pytest.fixture(autouse=True)
def _nobody_waits_long(settings: LazySettings) -> None:
    settings.JUDGE_FIRST_WAIT_SECONDS = 0.01


@pytest.fixture
def server(project: Project) -> Iterator[ModelServer]:
    """A judge that is away."""
    with model_server(AWAY) as server:
        judged_by(project, server)
        yield server


def test_asking_for_it_brings_the_next_turn_forward(agent: Caller, server: ModelServer) -> None:
    run = work_on(submit(agent))
    server.script[:] = [PASSING]

    answer = agent.post(f"/runs/{run.uuid}/reverify")
    work_on(run)

    assert answer.status_code == 202
    assert (run.verdict, run.evaluations.count()) == ("accept", 2)


@pytest.mark.extended
def test_a_run_in_doubt_keeps_its_version_whatever_is_activated_meanwhile(
    agent: Caller, server: ModelServer, project: Project
) -> None:
    run = work_on(submit(agent))
    first = run.verifier_version
    activate_another(project)
    make_due(run)
    work_on(run)

    asked = agent.post(f"/runs/{run.uuid}/reverify").json()
    server.script[:] = [PASSING]
    run = work_on(run)

    assert (run.verdict, run.verifier_version, asked["verifier_version"]) == (
        "accept", first, first.number,
    )  # fmt: skip
    assert versions_of(run) == [first.number] * 3


@pytest.mark.extended
def test_a_run_that_is_over_is_verified_again_by_what_is_active_then_and_says_so(
    agent: Caller, server: ModelServer, project: Project
) -> None:
    run = work_on(submit(agent))
    pass_deadline(run)
    first = work_on(run).verifier_version.number
    second = activate_another(project).number

    asked = agent.post(f"/runs/{run.uuid}/reverify").json()
    in_doubt = work_on(run).verifier_version.number
    activate_another(project, votes=7)
    make_due(run)
    server.script[:] = [PASSING]
    run = work_on(run)

    assert (run.verdict, asked["verifier_version"], in_doubt) == ("accept", second, second)
    assert agent.get(f"/runs/{run.uuid}").json()["verifier_version"] == second
    told = agent.get(f"/runs/{run.uuid}/evaluations").json()
    assert [one["verifier_version"] for one in told["items"]] == versions_of(run)[::-1]
    assert versions_of(run) == [first, first, second, second]
    page = signed_in(make_user(project)).get(f"/p/{project.slug}/runs/{run.uuid}/")
    text = page.content.decode()
    assert f"verifier v{second}, " in text
    assert f">v{first} before</a>" in text


@pytest.mark.extended
def test_evaluations_name_the_build_that_ran_and_not_that_of_their_version(
    agent: Caller, server: ModelServer, project: Project
) -> None:
    older = VerifierSpec.from_json(project.verifiers.get(is_active=True).spec)
    replace_active(
        project=project, spec=replace(older, engine_build="0"), actor=SYSTEM, reason="test"
    )

    run = work_on(submit(agent))
    make_due(run)
    run.evaluations.update(engine_build="0")  # begun and judged before an upgrade
    pass_deadline(run)
    work_on(run)
    agent.post(f"/runs/{run.uuid}/reverify")

    assert run.verifier_version.engine_build == "0"
    assert builds_of(run) == ["0", ENGINE_BUILD, ENGINE_BUILD]

    run.evaluations.filter(finished_at=None).update(engine_build="0")  # begun before another
    work_on(run)

    assert builds_of(run) == ["0", ENGINE_BUILD, ENGINE_BUILD]


def builds_of(run: Run) -> list[str]:
    return list(run.evaluations.order_by("id").values_list("engine_build", flat=True))


def activate_another(project: Project, *, votes: int = 5) -> VerifierVersion:
    active = project.verifiers.get(is_active=True)
    spec = VerifierSpec.from_json(active.spec)
    other = replace(spec, flags=replace(spec.flags, tier3_vote_count=votes))
    return replace_active(project=project, spec=other, actor=SYSTEM, reason="test")


def versions_of(run: Run) -> list[int]:
    rows = run.evaluations.order_by("id")
    return list(rows.values_list("verifier_version__number", flat=True))


def test_a_finished_doubt_is_verified_again_on_demand_and_waits_like_a_first(
    agent: Caller, server: ModelServer
) -> None:
    run = work_on(submit(agent))
    pass_deadline(run)
    work_on(run)

    agent.post(f"/runs/{run.uuid}/reverify")
    work_on(run)

    assert (run.state, run.verdict) == ("queued", "")
    assert run.undecided_since is not None
    assert timezone.now() - run.undecided_since < timedelta(minutes=1)
    assert Review.objects.get().state == "pending"


@pytest.mark.extended
def test_the_pauses_of_a_doubt_that_was_asked_for_begin_anew(
    agent: Caller, server: ModelServer
) -> None:
    run = work_on(submit(agent))
    for _ in range(3):
        make_due(run)
        work_on(run)
    pass_deadline(run)
    work_on(run)

    agent.post(f"/runs/{run.uuid}/reverify")

    run = work_on(run)
    assert run.next_at is not None
    assert run.undecided_since is not None
    assert 12 <= (run.next_at - run.undecided_since).total_seconds() <= 18


@pytest.mark.extended
def test_an_evaluation_that_was_given_up_is_not_taken_up_after_a_later_one(
    agent: Caller, server: ModelServer
) -> None:
    run = submit(agent)
    Run.objects.filter(pk=run.pk).update(claims=leases.MAX_CLAIMS)
    assert work_on(run).state == "errored"
    given_up = Evaluation.objects.get(run=run)
    agent.post(f"/runs/{run.uuid}/reverify")
    run = work_on(run)
    server.script[:] = [PASSING]
    make_due(run)

    run = work_on(run)

    assert (run.verdict, run.reverifications) == ("accept", 1)
    assert run.live_evaluation is not None
    assert (run.live_evaluation.purpose, run.live_evaluation.seq) == ("reverify", 2)
    given_up.refresh_from_db()
    assert given_up.finished_at is None
