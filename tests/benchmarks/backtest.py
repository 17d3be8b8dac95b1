"""A rule on 10,000 past runs of 20 kB each, beside a loop that reads and searches them one by one."""

from __future__ import annotations

import hashlib
import os
import random
import time
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import httpx

from loomverify.embedded import start_server, stop_server
from tests.benchmarks.beside_django import called
from tests.session import FAST
from tests.stack import Stack

RUNS, CHARS = 10_000, 20_000
SECONDS, FIRST_SECONDS = 2.0, 0.3
TARGET = 1.5
PROJECT = "backtest"
PATTERNS = {
    "one word": "unobtainable",
    "alternation": r"\[TBD\]|\bN/A\b|XX%|TODO|FIXME|lorem ipsum",
    "what most hold": r"quick\w+",
    "target: deliverables": "unobtainable|lorem ipsum",
}
COLD = ("one word", "alternation", "target: deliverables")
NEXT = b"<!--next-->"
DROP_CACHES = Path("/proc/sys/vm/drop_caches")
Row = tuple[str, str, str, bool]


def rows(stack: Stack) -> list[Row]:
    called(stack, __name__, "prepared")
    told: list[Row] = []
    for what in PATTERNS:
        first, seconds, loop = called(stack, __name__, "measured", what)
        name = f"a rule on {RUNS:,} runs of 20 kB, {what}"
        ratio = seconds / loop
        told += [
            (name, f"{seconds:.2f} s", f"under {SECONDS:.0f} s", seconds < SECONDS),
            _first_row(name, first),
            (f"{name}, to a loop over the same texts", f"{ratio:.2f}", f"at most {TARGET}",
             ratio <= TARGET),
        ]  # fmt: skip
    return told + _over_http(stack) + _cold_rows(stack)


def _first_row(name: str, first: float) -> Row:
    met = first < FIRST_SECONDS
    return f"{name}: first figures", f"{first * 1000:.0f} ms", "under 300 ms", met


def _over_http(stack: Stack) -> list[Row]:
    """As the browser asks: the form's fields are sent, and the pane's first drawing is awaited."""
    with closing(stack.browser()) as client:
        pane = f"/p/{PROJECT}/processes/small-work/draft/rules/backtest/"
        client.post(f"/p/{PROJECT}/processes/small-work/edit/", headers=_token(client))
        _drawn(client, pane, "opening the form")
        firsts = {what: _drawn(client, pane, what) for what in PATTERNS}
    return [
        _first_row(f"a rule on {RUNS:,} runs of 20 kB over HTTP, {what}", first)
        for what, first in firsts.items()
    ]


def _token(client: httpx.Client) -> dict[str, str]:
    return {"X-CSRFToken": client.cookies["csrftoken"], "Referer": str(client.base_url)}


def _drawn(client: httpx.Client, path: str, what: str) -> float:
    """Seconds from the request to the first drawing; the others are read, too."""
    sent = {
        "name": "tried", "type": "regex", "check": PATTERNS.get(what, "nothing"),
        "expect": "no_match", "target": _target(what), "where": "every", "severity": "warning",
        "enforcement": "hard",
    }  # fmt: skip
    started, first, text = time.perf_counter(), 0.0, b""
    with client.stream("POST", path, data=sent, headers=_token(client)) as answer:
        for chunk in answer.iter_bytes():
            text += chunk
            if not first and NEXT in text:
                first = time.perf_counter() - started
    assert answer.status_code == 200, text
    assert f"{RUNS:,} of {RUNS:,} runs".encode() in text, text[-2000:]
    return first


def _cold_rows(stack: Stack) -> list[Row]:
    """PostgreSQL begins anew before each, and the system's cache is emptied where that is allowed."""
    told: list[Row] = []
    for what in COLD:
        caches = _cool(stack)
        first, seconds, _ = called(stack, __name__, "measured", what, "cold")
        name = f"a rule on {RUNS:,} runs of 20 kB, {what}, {caches}"
        told += [
            (name, f"{seconds:.2f} s", f"under {SECONDS:.0f} s", seconds < SECONDS),
            _first_row(name, first),
        ]
    return told


def _cool(stack: Stack) -> str:
    """Return what is cold from now on."""
    folder = stack.folder / "postgres"
    stop_server(folder)
    caches = "PostgreSQL's cache cold"
    with suppress(OSError):
        os.sync()
        DROP_CACHES.write_text("3")
        caches = "PostgreSQL's and the system's cache cold"
    assert start_server(folder, extra_settings=FAST) == stack.database_url
    return caches


def prepared() -> None:
    """Beside Django: the project and its runs. Whoever signs in as the admin sees it."""
    from loomverify.accounts.models import Member, Role, User
    from tests.builders import make_project

    project = make_project(PROJECT)
    Member.objects.create(project=project, user=User.objects.get(), role=Role.ADMIN)
    generate(project)


def measured(what: str, caches: str = "warm") -> tuple[float, float, float]:
    """Seconds to the first figures, to the last, and of the loop. Beside Django."""
    from loomverify.accounts.models import Project
    from verification.rules.backtest.readers import READERS, SIDE_BY_SIDE
    from verification.rules.backtest.running import Running

    project = Project.objects.get(slug=PROJECT)
    if caches == "warm":
        _measure(project, "opening the form", "unobtainable")  # its readers wait from then on
        first, seconds = _measure(project, what, PATTERNS[what])
        return first, seconds, _loop_seconds(project, PATTERNS[what], _target(what))
    readers = [READERS.take() for _ in range(SIDE_BY_SIDE)]
    for reader in readers:  # they have begun, and read nothing
        reader.begin(Running(_wish(project, what, "nothing")).answers.job)
        reader.ask([])
        assert reader.answer() == []
        READERS.give_back(reader, owes=False)
    return *_measure(project, what, PATTERNS[what]), 0.0


def _target(what: str) -> str:
    return "deliverables" if "deliverables" in what else "output"


def _measure(project: Any, what: str, check: str) -> tuple[float, float]:
    from verification.rules.backtest.running import Running

    started = time.perf_counter()
    running = iter(Running(_wish(project, what, check)))
    progress = next(running)
    first = time.perf_counter() - started
    for progress in running:  # noqa: B007 - the last one is wanted
        pass
    seconds = time.perf_counter() - started
    assert progress.evaluated == RUNS, progress
    return first, seconds


def _wish(project: Any, what: str, check: str) -> Any:
    from verification.rules.backtest.wish import wish_of, with_rule

    process = project.processes.get(slug="small-work")
    said = {"name": "tried", "check": check, "type": "regex", "target": _target(what),
            "enforcement": "hard", "applies_to_phases": ["*"]}  # fmt: skip
    return wish_of(process, *with_rule(process.published.source_text, said))


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
    from verification.runs.submission import named_paths

    task = {"task": {"id": "t", "description": "d"}}
    words = random.Random(7)  # noqa: S311 - texts for a benchmark
    runs = list(Run.objects.filter(project=project).values_list("pk", flat=True))
    for at in range(0, len(runs), 500):
        some = runs[at : at + 500]
        texts = {run: _text(words) for run in some}
        Submission.objects.bulk_create(
            Submission(run_id=run, body=task | {"output": text}, named_paths=named_paths(task))
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
