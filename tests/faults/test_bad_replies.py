"""Judged runs while one call in six goes wrong: almost all of them need no person."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings
from django.db import connection
from django.utils import timezone

from loomverify.accounts.models import Role
from tests.faults.mixed_replies import AWAY, MALFORMED, PROCESS, SHARES, MixedJudge, is_good, output
from tests.model_server import model_server
from tests.runs.conftest import Caller, new_process, new_project
from tests.runs.judged import judged_by, make_due, pass_deadline, submit
from verification.engine.judges.asking import MAX_CALLS
from verification.runs import worker
from verification.runs.models import Event, ModelCall, Run, Task

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.faults,
]

RUNS = 300
HARD_RUNS = 40
THREADS = 4
ROUNDS = 6
DOUBTS = {"parse_inconclusive", "infra_verifier_error", "rate_limited", "low_confidence"}


@pytest.fixture(autouse=True)
def _nobody_waits_long(settings: LazySettings, tmp_path: Path) -> None:
    settings.JUDGE_FIRST_WAIT_SECONDS = 0.01
    storages: dict[str, Any] = dict(settings.STORAGES)
    storages["evidence"] = {**storages["evidence"], "OPTIONS": {"location": tmp_path}}
    settings.STORAGES = storages


def test_bad_moments_of_a_judge_are_no_persons_business(
    transactional_db: None, capsys: pytest.CaptureFixture[str]
) -> None:
    judge = MixedJudge(seed=4)

    runs = _verified(judge, RUNS)

    touched = {number: faults for number, faults in judge.faults.items() if faults}
    by_themselves = [number for number in touched if _needs_nobody(runs[number])]
    with capsys.disabled():
        sys.stdout.write(_told(runs, touched, by_themselves))
    assert len(touched) > RUNS * sum(SHARES.values()) / 2
    assert len(by_themselves) >= 0.9 * len(touched)
    assert [number for number, run in runs.items() if _is_wrong(number, run)] == []
    _assert_books_are_kept(runs.values())


def test_a_judge_that_is_hardly_ever_well_blames_nobody_and_accepts_nothing_bad(
    transactional_db: None, capsys: pytest.CaptureFixture[str]
) -> None:
    judge = MixedJudge(seed=5, shares={MALFORMED: 0.45, AWAY: 0.5})

    runs = _verified(judge, HARD_RUNS)

    doubtful = [run for run in runs.values() if run.verdict == "undecided"]
    with capsys.disabled():
        sys.stdout.write(_told(runs, judge.faults, []))
    assert [number for number, run in runs.items() if _is_wrong(number, run)] == []
    assert {run.reason_code for run in doubtful} <= DOUBTS
    assert {run.review_state for run in doubtful} <= {"pending"}
    _assert_books_are_kept(runs.values())


def _verified(judge: MixedJudge, number_of_runs: int) -> dict[int, Run]:
    """Submit all, and let workers have them until nobody waits any more."""
    project = new_project("ours")
    new_process(project, PROCESS)
    with model_server(judge) as server:
        judged_by(project, server, server, timeout_seconds=1)
        return _worked_off(Caller(project, Role.AGENT), number_of_runs)


def _worked_off(agent: Caller, number_of_runs: int) -> dict[int, Run]:
    runs = {
        number: submit(
            agent, process="mixed", tier=None, task={"id": f"task-{number}"}, output=output(number)
        )
        for number in range(number_of_runs)
    }
    _work(runs.values())
    for last in range(ROUNDS):
        waiting = list(Run.objects.filter(state="queued", undecided_since__isnull=False))
        for run in waiting:
            (pass_deadline if last == ROUNDS - 1 else make_due)(run)
        _work(waiting)
    for run in runs.values():
        run.refresh_from_db()
    return runs


def _work(runs: Iterable[Run]) -> None:
    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(_work_on, [run.pk for run in runs]))


def _work_on(run_id: int) -> None:
    try:
        worker.work_on(run_id)
    finally:
        connection.close()


def _needs_nobody(run: Run) -> bool:
    return run.verdict in ("accept", "reject") and run.review_state == "not_required"


def _is_wrong(number: int, run: Run) -> bool:
    return run.verdict == ("reject" if is_good(number) else "accept")


def _told(runs: dict[int, Run], touched: dict[int, list[str]], by_themselves: list[int]) -> str:
    faults = Counter(fault for faults in touched.values() for fault in faults)
    verdicts = Counter(f"{run.verdict} {run.reason_code}".strip() for run in runs.values())
    again = sum(run.reverifications > 0 for run in runs.values())
    return (
        f"\n{len(runs)} runs, {ModelCall.objects.count()} calls, faults {dict(faults)}\n"
        f"n = {len(touched)} runs touched by a fault, {len(by_themselves)} "
        f"({len(by_themselves) / len(touched):.1%}) resolved without a person, "
        f"{again} by verifying themselves again\n{dict(verdicts)}\n"
    )


def _assert_books_are_kept(runs: Iterable[Run]) -> None:
    """Each run ended once, within its bounds, and only decided ones were counted."""
    ended = Event.objects.filter(kind__in=("verification_passed", "verification_rejected"))
    decided = [run for run in runs if run.verdict != "undecided"]
    assert ended.count() == len(decided)
    assert sum(Task.objects.values_list("submissions", flat=True)) == len(decided)
    attempts = Task.objects.values_list("attempts_used", flat=True)
    assert sum(attempts) == sum(run.verdict == "reject" for run in runs)
    made = Counter(ModelCall.objects.filter(cached=False).values_list("evaluation_id", flat=True))
    assert max(made.values()) <= MAX_CALLS
    assert not Run.objects.filter(next_at__lt=timezone.now()).exists()
