"""Trials while their workers die and the broker forgets: each comparison once, nothing paid twice."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.model_server import ModelServer, Said, model_server
from tests.runs.judged import PASSING
from tests.stack import Stack, wait_for

pytestmark = pytest.mark.faults
RUNS = 400
SLOW = Said(PASSING, seconds=20)
DO = """
import sys, django; django.setup()
from tests.faults import test_shadow
getattr(test_shadow, sys.argv[1])()
"""
COUNTED = "select md5(string_agg(run::text, '' order by id)) from runs_run run"

IN_HAND = "select id from trials_comparison where claims > 0 and compared_at is null limit 1"


@pytest.fixture(scope="module")
def judge() -> Iterator[ModelServer]:
    with model_server(PASSING) as server:
        yield server


@pytest.fixture(scope="module")
def stack(judge: ModelServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    stack = Stack(
        tmp_path_factory.mktemp("stack"),
        settings="tests.faults.judged_settings",
        variables={
            "LOOMVERIFY_JUDGE_MODEL": "openai/judge",
            "LOOMVERIFY_JUDGE_API_BASE": judge.url,
            "LOOMVERIFY_JUDGE_API_KEY": "none",
        },
    )
    try:
        stack.prepare()
        stack.migrate()
        stack.start("web", "worker", "worker-bulk", "relay")
        yield stack
    finally:
        stack.stop()


def test_each_run_is_compared_once_though_its_worker_is_killed_and_the_broker_forgets(
    stack: Stack,
) -> None:
    do(stack, "make_runs")
    before = stack.query(COUNTED)
    do(stack, "start_over_past")
    for share in (0.1, 0.4):
        wait_for(lambda share=share: done(stack) >= share * RUNS, "some comparisons")
        stack.kill_amid("worker-bulk", lambda: stack.query(IN_HAND), "a comparison in hand")
        for message in list((stack.folder / "broker" / "queue").iterdir()):
            message.unlink(missing_ok=True)
        assert done(stack) < RUNS
        stack.start("worker-bulk")

    wait_for(lambda: ended(stack), "the end of the replay", seconds=240)

    assert done(stack) == RUNS
    classes = "select diff_class, has_failed, count(*) from trials_comparison group by 1, 2"
    assert stack.query(classes) == [("old_fail_new_pass", False, RUNS)]
    made = "select count(*), count(distinct run_id), count(finished_at) from runs_evaluation"
    # What judged these runs is neither side.
    assert stack.query(f"{made} where purpose = 'shadow'") == [(2 * RUNS, RUNS, 2 * RUNS)]
    told = "select count(*), count(distinct run_id) from runs_event where kind = %s"
    assert stack.query(told, "verification_shadow_diff") == [(RUNS, RUNS)]
    [[claims]] = stack.query("select max(claims) from trials_comparison")
    assert 2 <= claims <= 3
    assert stack.query(COUNTED) == before


def test_a_worker_killed_while_a_judge_thinks_beside_a_run(
    stack: Stack, judge: ModelServer
) -> None:
    do(stack, "start_with_more_votes")
    judge.script[:] = [PASSING] * 5 + [SLOW, PASSING]
    judge.asked.clear()
    run = submit(stack)
    wait_for(lambda: len(judge.asked) == 6, "the questions to the two further judges")
    wait_for(lambda: len(calls(stack)) == 1, "the answer of one of them")

    stack.kill("worker-bulk")
    stack.start("worker-bulk")

    compared = "select old, new, diff_class, claims from trials_comparison where origin = 'live'"
    wait_for(lambda: stack.query(f"{compared} and compared_at is not null"), "the comparison")
    assert stack.query(compared) == [("pass", "pass", "no_diff", 2)]
    assert calls(stack) == ["vote", "vote"]
    assert len(judge.asked) == 7
    with stack.client() as client:
        found = client.get(f"/runs/{run}").json()
    assert [vote["passed"] for vote in found["votes"]] == [True] * 3


def test_a_live_run_is_verified_while_a_trial_waits_for_its_judge(
    stack: Stack, judge: ModelServer
) -> None:
    release = threading.Event()

    def hold(_request: dict[str, Any]) -> str:
        assert release.wait(timeout=120)
        return PASSING

    do(stack, "start_with_more_votes")
    judge.script[:] = [PASSING] * 5 + [hold]
    judge.asked.clear()
    with one_worker(stack):
        try:
            # In words of its own: nobody has answered them yet.
            compared_run = submit(stack, output="Nothing is held up.")
            wait_for(lambda: len(judge.asked) > 5, "the questions beside the run")

            live_run = submit(stack, tier=1)
            wait_for(lambda: state_of(stack, live_run) == "finished", "the live verdict")

            assert of_run(stack, compared_run) == [(1, False)]
            assert judge.at_once > 0
        finally:
            release.set()
        wait_for(lambda: of_run(stack, compared_run) == [(1, True)], "the comparison")


@contextmanager
def one_worker(stack: Stack) -> Iterator[None]:
    """In the place of the stack's workers one for all queues, as it comes, that works on one run."""
    for name in ("worker", "worker-bulk"):
        stack.kill(name)
    with (stack.folder / "all.log").open("ab") as log:
        stack.processes["all"] = subprocess.Popen(
            stack._command("worker", "--concurrency=1", "--name=all"),
            env=stack.environment, start_new_session=True, stdout=log, stderr=log,
        )  # fmt: skip
    try:
        yield
    finally:
        stack.kill("all", signal.SIGTERM)
        stack.start("worker", "worker-bulk")


def do(stack: Stack, name: str) -> None:
    subprocess.run([sys.executable, "-c", DO, name], env=stack.environment, check=True)


def done(stack: Stack) -> int:
    [[count]] = stack.query(
        "select count(*) from trials_comparison where compared_at is not null and origin = 'past'"
    )
    return int(count)


def ended(stack: Stack) -> bool:
    return bool(stack.query("select 1 from trials_trialreplay where finished_at is not null"))


def calls(stack: Stack) -> list[str]:
    """What was asked and answered beside runs, not taken from an answer of before."""
    rows = stack.query(
        "select ask from runs_modelcall call join runs_evaluation e on e.id = call.evaluation_id"
        " where e.purpose = 'shadow' and not call.cached and call.lost = '' order by call.id"
    )
    return [ask for (ask,) in rows]


def state_of(stack: Stack, run: str) -> str:
    [[state]] = stack.query("select state from runs_run where uuid = %s", run)
    return str(state)


def of_run(stack: Stack, run: str) -> list[tuple[int, bool]]:
    """How often its comparisons were taken, and which of them were made."""
    return stack.query(
        "select comparison.claims::int, compared_at is not null from trials_comparison comparison"
        " join runs_run run on run.id = run_id where run.uuid = %s order by comparison.id",
        run,
    )


def submit(stack: Stack, *, output: str = "Nothing is lost.", tier: int = 3) -> str:
    task = {"id": "task", "description": "Survive."}
    body = {"process": "general", "task": task, "output": output, "tier": tier}
    with stack.client() as client:
        answer = client.post("/runs", json=body)
    assert answer.status_code == 202, answer.text
    return str(answer.json()["id"])


# What follows runs in a process of the installation, beside Django.


def make_runs() -> None:
    from loomverify.accounts.models import Project
    from tests.builders import make_run
    from tests.trials.worked import PLACEHOLDER

    project = Project.objects.get(slug="default")
    process = project.processes.get(slug="general")
    for number in range(RUNS):
        make_run(project, process=process, phase="work", output=f"{PLACEHOLDER} {number}")


def start_over_past() -> None:
    from verification.trials.replays import services

    trial = _start("legacy")
    services.start_past(access=_access(), trial=trial, limit=RUNS)


def start_with_more_votes() -> None:
    from dataclasses import replace

    from verification.engine.verifier import VerifierSpec
    from verification.trials.models import Trial, TrialState
    from verification.verifiers.services import add_version

    Trial.objects.update(state=TrialState.ENDED)
    project = _access().project
    spec = VerifierSpec.from_json(project.verifiers.get(is_active=True).spec)
    more = replace(spec, flags=replace(spec.flags, tier3_vote_count=5))
    version = add_version(project=project, spec=more)
    _start("", candidate_verifier=version)


def _access() -> Any:
    from loomverify.accounts.access import SYSTEM, Access
    from loomverify.accounts.models import Project, Role

    return Access(Project.objects.get(slug="default"), Role.ADMIN, SYSTEM)


def _start(baseline: str, **sides: Any) -> Any:
    from verification.trials.services import starting

    access = _access()
    if baseline:
        sides["baseline_verifier"] = access.project.verifiers.filter(engine=baseline).latest(
            "number"
        )
    return starting.start(access=access, aa_rate=0, **sides)
