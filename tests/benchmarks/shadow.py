"""A trial over 10,000 past runs by two worker processes, beside one that knows no database."""

from __future__ import annotations

import subprocess
import time
from typing import Any

from tests.benchmarks.beside_django import called
from tests.benchmarks.latency import submission
from tests.stack import Stack, wait_for

RUNS = 10_000
ALIKE = 100
"""Runs that were submitted and verified; the others are their copies."""
WARM_UP = 200
TARGET_SECONDS = 30.0
TARGET = 0.25
FILE_EVERY, DIFFERS_EVERY = 5, 10
"""Every so many of them have a small file, and every so many hold a placeholder."""


def rows(stack: Stack) -> list[tuple[str, str, str, bool]]:
    _submit(stack)
    called(stack, __name__, "copy_runs")
    seconds = _replayed(stack)
    alone = _alone(stack)
    ratio = alone * RUNS / seconds
    what = f"a trial over {RUNS:,} past runs, two worker processes"
    return [
        (what, f"{seconds:.1f} s", f"under {TARGET_SECONDS:.0f} s", seconds < TARGET_SECONDS),
        ("past runs a second there, to one process without a database", f"{ratio:.2f}",
         f"at least {TARGET}", ratio >= TARGET),
    ]  # fmt: skip


def body_of(number: int) -> dict[str, Any]:
    """Small work of which every tenth is a false fail of the legacy engine."""
    body = submission(number, task={"id": f"shadow-{number}", "description": "Sum up."})
    if number % FILE_EVERY == 0:
        body["files"] = {"notes.json": '{"quarters": 4}'}
    if number % DIFFERS_EVERY == 0:
        body["output"] += "Budget: [TBD]"
    return body


def copy_runs() -> None:
    """Copy what was submitted and verified, in the database, and mix it. Runs beside Django."""
    from django.db import connection, transaction

    from tests.reviews.agreement_rows import copy_rows
    from verification.runs.models import (
        Evaluation,
        Finding,
        Run,
        RunFile,
        Submission,
        TierResult,
    )

    runs = list(
        Run.objects.filter(task__external_id__startswith="shadow-").values_list("pk", flat=True)
    )
    evaluations = Evaluation.objects.filter(run__in=runs)
    found = {
        Run: Run.objects.filter(pk__in=runs),
        Submission: Submission.objects.filter(pk__in=runs),
        RunFile: RunFile.objects.filter(run__in=runs),
        Evaluation: evaluations,
        Finding: Finding.objects.filter(evaluation__in=evaluations),
        TierResult: TierResult.objects.filter(evaluation__in=evaluations),
    }
    with transaction.atomic():
        for model, those in found.items():
            copy_rows(model, list(those.values_list("pk", flat=True)), RUNS // ALIKE - 1)
    with connection.cursor() as cursor:
        cursor.execute("update runs_run set finished_at = finished_at - random() * interval '1 h'")
        cursor.execute("analyze")


def start(limit: int) -> None:
    """A trial of the policy engine beside the legacy one, over the newest runs."""
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
    services.start_past(access=access, trial=trial, limit=limit)


def seconds_a_side() -> float:
    """The legacy engine alone, in one process. Runs beside Django."""
    from verification.adapters.probe import ChildProbe
    from verification.engine.fakes import MemoryWorkspace
    from verification.engine.golden.given import Given
    from verification.engine.golden.replay import World, replay
    from verification.golden.replaying import LEGACY
    from verification.golden.shipped import builtin_definitions
    from verification.runs.evidence_store import digest_of
    from verification.runs.submission import submission_of

    probe, definition = ChildProbe(), builtin_definitions()["general"]
    phase = definition.phases[0].id
    works = []
    for number in range(ALIKE):
        body = body_of(number)
        files = {path: text.encode() for path, text in body.pop("files", {}).items()}
        digests = {path: digest_of(content) for path, content in files.items()}
        given = Given(phase, submission_of(body, digests))
        works.append((given, World(MemoryWorkspace(files), probe)))
    began = 0.0
    for _ in range(3):  # the first turns warm up
        began = time.perf_counter()
        for given, world in works:
            replay(given, definition, LEGACY, world)
    return (time.perf_counter() - began) / len(works)


def _submit(stack: Stack) -> None:
    with stack.client() as client:
        for number in range(ALIKE):
            assert client.post("/runs", json=body_of(number)).status_code == 202
    verified = (
        "select count(*) from runs_run join runs_task task on task.id = task_id"
        " where external_id like 'shadow-%%' and state = 'finished'"
    )
    wait_for(lambda: stack.query(verified) == [(ALIKE,)], "the verification of all runs")


def _replayed(stack: Stack) -> float:
    """From the request to the end, by workers that are up."""
    stack.kill("worker")
    stack.kill("worker-bulk")
    command = stack._command("worker", "--queues=shadow", "--concurrency=2", "--name=trials")
    with (stack.folder / "trials.log").open("ab") as log:
        stack.processes["trials"] = subprocess.Popen(
            command, env=stack.environment, start_new_session=True, stdout=log, stderr=log
        )
    try:
        _replay(stack, WARM_UP)
        seconds = _replay(stack, RUNS)
        _check(stack)
    finally:
        stack.kill("trials")
        stack.start("worker", "worker-bulk")
    return seconds


def _replay(stack: Stack, limit: int) -> float:
    """A trial over so many runs."""
    called(stack, __name__, "start", limit)
    newest = "select max(id) from trials_trialreplay"
    [[replay]] = stack.query(newest)
    ended = "select finished_at is not null from trials_trialreplay where id = %s"
    wait_for(lambda: stack.query(ended, replay) == [(True,)], "the end of the replay", seconds=300)
    [[seconds]] = stack.query(
        "select extract(epoch from finished_at - created_at)::float from trials_trialreplay"
        " where id = %s", replay,
    )  # fmt: skip
    return float(seconds)


def _check(stack: Stack) -> None:
    """Of the last replay: every tenth run was failed by the legacy engine alone."""
    counted = stack.query(
        "select diff_class, count(*)::int from trials_comparison"
        " where replay_id = (select max(id) from trials_trialreplay) group by diff_class"
    )
    share = RUNS // DIFFERS_EVERY
    assert dict(counted) == {"no_diff": RUNS - share, "old_fail_new_pass": share}, counted


def _alone(stack: Stack) -> float:
    return float(called(stack, __name__, "seconds_a_side"))
