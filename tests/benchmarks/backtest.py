"""A rule on 10,000 past runs of 20 kB each, beside a loop that reads and searches them one by one."""

from __future__ import annotations

import hashlib
import json
import random
import subprocess
import sys
import time
from typing import Any

from tests.stack import Stack

RUNS, CHARS = 10_000, 20_000
SECONDS, FIRST_SECONDS = 2.0, 0.3
TARGET = 1.5
MEASURE = """
import json, django; django.setup()
from tests.benchmarks.backtest import measured
print(json.dumps(measured()))
"""
PATTERNS = {
    "one word": "unobtainable",
    "alternation": r"\[TBD\]|\bN/A\b|XX%|TODO|FIXME|lorem ipsum",
    "what most hold": r"quick\w+",
    "target: deliverables": "unobtainable|lorem ipsum",
}
Row = tuple[str, str, str, bool]


def rows(stack: Stack) -> list[Row]:
    answer = subprocess.run(
        [sys.executable, "-c", MEASURE], env=stack.environment, check=True, capture_output=True
    )
    told: list[Row] = []
    for what, (first, seconds, loop) in json.loads(answer.stdout).items():
        name = f"a rule on {RUNS:,} runs of 20 kB, {what}"
        ratio = seconds / loop
        told += [
            (name, f"{seconds:.2f} s", f"under {SECONDS:.0f} s", seconds < SECONDS),
            (f"{name}: first figures", f"{first * 1000:.0f} ms", "under 300 ms",
             first < FIRST_SECONDS),
            (f"{name}, to a loop over the same texts", f"{ratio:.2f}", f"at most {TARGET}",
             ratio <= TARGET),
        ]  # fmt: skip
    return told


def measured() -> dict[str, tuple[float, float, float]]:
    """Seconds to the first figures, to the last, and of the loop, by pattern. Beside Django."""
    from tests.builders import make_project

    project = make_project("backtest")
    generate(project)
    _measure(project, "opening the form", "unobtainable")  # its readers wait from then on
    return {what: _measure(project, what, check) for what, check in PATTERNS.items()}


def _measure(project: Any, what: str, check: str) -> tuple[float, float, float]:
    from verification.rules.backtest.running import Running
    from verification.rules.backtest.wish import wish_of, with_rule

    process = project.processes.get(slug="small-work")
    target = "deliverables" if "deliverables" in what else "output"
    said = {"name": "tried", "check": check, "type": "regex", "target": target,
            "enforcement": "hard", "applies_to_phases": ["*"]}  # fmt: skip
    started = time.perf_counter()
    wish = wish_of(process, *with_rule(process.published.source_text, said))
    running = iter(Running(wish))
    progress = next(running)
    first = time.perf_counter() - started
    for progress in running:  # noqa: B007 - the last one is wanted
        pass
    seconds = time.perf_counter() - started
    assert progress.evaluated == RUNS, progress
    return first, seconds, _loop_seconds(project, check, target)


def _loop_seconds(project: Any, check: str, target: str) -> float:
    """What one would write first: each run's text by the ORM, through the same matcher."""
    from processes.definition import patterns
    from verification.runs.evidence_store import read_blob
    from verification.runs.models import RunFile, Submission

    compiled = patterns.compiled(check)
    started = time.perf_counter()
    if target == "output":
        for body in Submission.objects.filter(run__project=project).values_list("body", flat=True):
            compiled.search(body["output"].encode())
    else:
        for file in RunFile.objects.filter(run__project=project).select_related("blob__project"):
            compiled.search(read_blob(file.blob))
    return time.perf_counter() - started


def generate(project: Any) -> None:
    """Runs with an evaluation, an output and a deliverable of 20 kB each, no two alike."""
    from django.db import connection

    from tests.builders import generate_runs
    from verification.runs.models import Run

    generate_runs(project, RUNS)
    Run.objects.filter(project=project).update(phase_id="build")
    with connection.cursor() as cursor:
        cursor.execute(
            """
            insert into runs_evaluation (uuid, run_id, purpose, seq, process_version_id,
                verifier_version_id, engine_build, outcome, verdict, reason_code, severity_class,
                confidence_level, action, retry_strategy, tier_achieved, rule_trace, feedback,
                claims, claim_list, cost_usd, duration_ms, started_at)
            select gen_random_uuid(), id, 'live', 1, process_version_id, verifier_version_id, '1',
                outcome, verdict, reason_code, '', '', '', '', tier_achieved, '[]', '{}', '{}',
                '[]', 0, 1, created_at
            from runs_run where project_id = %(project)s;
            update runs_run set live_evaluation_id = evaluation.id
            from runs_evaluation evaluation
            where evaluation.run_id = runs_run.id and runs_run.project_id = %(project)s
            """,
            {"project": project.pk},
        )
    _fill(project)
    with connection.cursor() as cursor:
        cursor.execute("analyze runs_run, runs_evaluation, runs_submission, runs_runfile")


def _fill(project: Any) -> None:
    from verification.runs.evidence_store import name_blobs, store_contents
    from verification.runs.models import Run, RunFile, Submission

    words = random.Random(7)  # noqa: S311 - texts for a benchmark
    runs = list(Run.objects.filter(project=project).values_list("pk", flat=True))
    for at in range(0, len(runs), 500):
        some = runs[at : at + 500]
        texts = {run: _text(words) for run in some}
        Submission.objects.bulk_create(
            Submission(run_id=run, body={"task": {"id": "t", "description": "d"}, "output": text})
            for run, text in texts.items()
        )
        store_contents(project, [text.encode() for text in texts.values()])
        digests = {run: hashlib.sha256(text.encode()).hexdigest() for run, text in texts.items()}
        blobs = name_blobs(project, {digests[run]: CHARS for run in some})
        RunFile.objects.bulk_create(
            RunFile(run_id=run, path="report.json", blob=blobs[digests[run]], size=CHARS)
            for run in some
        )


WORDS = ["quickly", "quickest", *(f"{stem}{end}" for stem in range(1_000) for end in "abc")]


def _text(words: random.Random) -> str:
    return " ".join(words.choices(WORDS, k=CHARS // 4))[:CHARS].ljust(CHARS, ".")
