"""Live runs beside a trial: what the one costs the other, taken in turns in one run."""

from __future__ import annotations

import statistics
import time

from tests.benchmarks.beside_django import called
from tests.benchmarks.latency import submission
from tests.stack import Stack, wait_for

RUNS = 10_000
ROUNDS, TURNS = 40, 3
"""So many runs in each of so many turns, alone and beside."""
TARGET = 2.0
MADE = "select count(*) from trials_comparison where compared_at is not null"
OPEN = "select 1 from trials_trialreplay where finished_at is null"


def rows(stack: Stack) -> list[tuple[str, str, str, bool]]:
    """Of an installation that has verified `RUNS` runs and more."""
    alone, beside = [], []
    for turn in range(TURNS):
        alone += _measure(stack, f"alone-{turn}")
        called(stack, __name__, "start")
        [[before]] = stack.query(MADE)
        wait_for(lambda before=before: stack.query(MADE) > [(before,)], "the first comparisons")
        beside += _measure(stack, f"beside-{turn}")
        assert stack.query(OPEN), "the trial went on all the time"
        called(stack, __name__, "stop")
    ratio = statistics.median(beside) / statistics.median(alone)
    what = "submit to outcome beside a trial at work, p50, to the same without"
    return [(what, f"{ratio:.2f}", f"at most {TARGET}", ratio <= TARGET)]


def _measure(stack: Stack, label: str) -> list[float]:
    took = []
    with stack.client() as client:
        for number in range(ROUNDS):
            body = submission(number, task={"id": f"{label}-{number}", "description": "Sum up."})
            began = time.perf_counter()
            answer = client.post("/runs?wait=30", json=body)
            took.append(time.perf_counter() - began)
            assert answer.json()["verdict"] == "accept", answer.text
    return took


# What follows runs in a process of the installation, beside Django.


def start() -> None:
    """The policy engine beside the legacy one, over the newest runs."""
    from loomverify.accounts.access import SYSTEM, Access
    from loomverify.accounts.models import Project, Role
    from verification.engine.verifier import LEGACY_FLAGS, VerifierSpec
    from verification.trials.replays import services
    from verification.trials.services import starting
    from verification.verifiers.services import add_version

    project = Project.objects.get(slug="default")
    access = Access(project, Role.ADMIN, SYSTEM)
    legacy = add_version(project=project, spec=VerifierSpec(LEGACY_FLAGS))
    trial = starting.start(access=access, baseline_verifier=legacy, aa_rate=0)
    services.start_past(access=access, trial=trial, limit=RUNS)


def stop() -> None:
    """The trial and what it replays."""
    from loomverify.accounts.access import SYSTEM, Access
    from loomverify.accounts.models import Role
    from verification.trials.models import Trial, TrialState
    from verification.trials.services import stopping

    for trial in Trial.objects.filter(state=TrialState.RUNNING).select_related("project"):
        access = Access(trial.project, Role.ADMIN, SYSTEM)
        stopping.stop(access=access, trial=trial, reason="Measured.")
