"""A rule on many past runs of 20 kB, compared with a loop that searches them one by one."""

from __future__ import annotations

import hashlib
import os
import random
import time
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import httpx

from loomverify.embedded import start_server, stop_server
from tests.benchmarks.django_process import call_in_django
from tests.benchmarks.environments import WITHOUT_REDIS
from tests.benchmarks.framework import Benchmark, Figures, Metric, Unit
from tests.session import FAST
from tests.stack import Stack

if TYPE_CHECKING:
    from loomverify.accounts.models import Project
    from verification.rules.backtest.wish import Wish

CHARS = 20_000
PROJECT = "backtest"
PANE = f"/p/{PROJECT}/processes/small-work/draft/rules/backtest/"
FIRST_DRAWING_END = b"<!--next-->"
DROP_CACHES = Path("/proc/sys/vm/drop_caches")


@dataclass(frozen=True, slots=True)
class Rule:
    name: str
    pattern: str
    target: str = "output"
    is_over_http: bool = False
    is_cold: bool = False


RULES = (
    Rule("one word", "unobtainable", is_over_http=True, is_cold=True),
    Rule("alternation", r"\[TBD\]|\bN/A\b|XX%|TODO|FIXME|lorem ipsum"),
    Rule("frequent word", r"quick\w+", is_over_http=True),
    Rule("deliverables", "unobtainable|lorem ipsum", target="deliverables", is_cold=True),
)


@dataclass(frozen=True, slots=True)
class Size:
    runs: int


def measure(stack: Stack, size: Size) -> Figures:
    figures: dict[str, float] = {}
    warm = call_in_django(stack, __name__, "measure_warm", size.runs)
    for rule in RULES:
        first, seconds, loop = warm[rule.name]
        figures |= {
            f"{rule.name}: seconds": seconds,
            f"{rule.name}: loop": seconds / loop,
            f"{rule.name}: first": first,
            f"{rule.name}: first share": first / seconds,
        }
    for name, (first, seconds) in _measure_over_http(stack, size).items():
        figures |= {
            f"{name}: first over HTTP": first,
            f"{name}: first share over HTTP": first / seconds,
        }
    _empty_caches(stack)
    cold = call_in_django(stack, __name__, "measure_cold", size.runs)
    for name, (first, seconds) in cold.items():
        figures |= {f"{name}: cold": seconds, f"{name}: first cold": first}
    return figures


def _metrics(rule: Rule) -> list[Metric]:
    name = rule.name
    metrics = [
        Metric(f"{name}: seconds", f"{name}, {{runs:,}} runs", Unit.SECONDS, at_most=2),
        Metric(f"{name}: loop", f"{name}, backtest / loop", Unit.RATIO, at_most=1.5),
        Metric(f"{name}: first", f"{name}, first figures", Unit.SECONDS, at_most=0.3),
        Metric(f"{name}: first share", f"{name}, first figures / all", Unit.RATIO, at_most=0.5),
    ]
    if rule.is_over_http:
        metrics += [
            Metric(
                f"{name}: first over HTTP",
                f"{name}, first figures over HTTP",
                Unit.SECONDS,
                at_most=0.3,
            ),
            Metric(
                f"{name}: first share over HTTP",
                f"{name}, first figures over HTTP / all",
                Unit.RATIO,
                at_most=0.5,
            ),
        ]
    if rule.is_cold:
        metrics += [
            Metric(f"{name}: cold", f"{name}, cold caches", Unit.SECONDS, at_most=2),
            Metric(
                f"{name}: first cold",
                f"{name}, first figures, cold caches",
                Unit.SECONDS,
                at_most=0.3,
            ),
        ]
    return metrics


BENCHMARK = Benchmark(
    name="backtest",
    summary="A rule on past runs with an output and a deliverable of 20 kB each",
    environment=WITHOUT_REDIS,
    measure=measure,
    full=Size(runs=10_000),
    smoke=Size(runs=50),
    metrics=tuple(metric for rule in RULES for metric in _metrics(rule)),
)


def _measure_over_http(stack: Stack, size: Size) -> dict[str, tuple[float, float]]:
    """Send the rule form as a browser does; return the seconds to the first and last drawing."""
    with closing(stack.browser()) as client:
        client.post(f"/p/{PROJECT}/processes/small-work/edit/", headers=_csrf_headers(client))
        _draw(client, Rule("warm-up", "nothing"), size.runs)
        return {rule.name: _draw(client, rule, size.runs) for rule in RULES if rule.is_over_http}


def _csrf_headers(client: httpx.Client) -> dict[str, str]:
    return {"X-CSRFToken": client.cookies["csrftoken"], "Referer": str(client.base_url)}


def _draw(client: httpx.Client, rule: Rule, runs: int) -> tuple[float, float]:
    form = {
        "name": "tried",
        "type": "regex",
        "check": rule.pattern,
        "expect": "no_match",
        "target": rule.target,
        "where": "every",
        "severity": "warning",
        "enforcement": "hard",
    }
    began, first, text = time.perf_counter(), 0.0, b""
    with client.stream("POST", PANE, data=form, headers=_csrf_headers(client)) as response:
        for chunk in response.iter_bytes():
            text += chunk
            if not first and FIRST_DRAWING_END in text:
                first = time.perf_counter() - began
    seconds = time.perf_counter() - began
    assert response.status_code == 200, text
    assert f"{runs:,} of {runs:,} runs".encode() in text, text[-2000:]
    return first, seconds


def _empty_caches(stack: Stack) -> None:
    """Restart PostgreSQL; as root on Linux, empty the system's file cache too."""
    folder = stack.folder / "postgres"
    stop_server(folder)
    os.sync()
    with suppress(OSError):
        DROP_CACHES.write_text("3")
    assert start_server(folder, extra_settings=FAST) == stack.database_url


def measure_warm(runs: int) -> dict[str, tuple[float, float, float]]:
    """Make the runs; return by rule the seconds to the first and last figures, and of a loop.

    Needs Django. The admin becomes a member of the project.
    """
    from loomverify.accounts.models import Member, Role, User
    from tests.builders import make_project

    project = make_project(PROJECT)
    Member.objects.create(project=project, user=User.objects.get(), role=Role.ADMIN)
    generate(project, runs)
    _backtest_seconds(project, Rule("warm-up", "unobtainable"), runs)  # starts the readers
    return {
        rule.name: (*_backtest_seconds(project, rule, runs), _loop_seconds(project, rule))
        for rule in RULES
    }


def measure_cold(runs: int) -> dict[str, tuple[float, float]]:
    """Return by rule the seconds to the first and last figures. Needs Django.

    The readers run and have read nothing. The rules read different texts.
    """
    from loomverify.accounts.models import Project
    from verification.rules.backtest.readers import READERS, SIDE_BY_SIDE
    from verification.rules.backtest.running import Running

    project = Project.objects.get(slug=PROJECT)
    nothing = _wish(project, Rule("warm-up", "nothing"))
    for reader in [READERS.take() for _ in range(SIDE_BY_SIDE)]:
        reader.begin(Running(nothing).answers.job)
        reader.ask([])
        assert reader.answer() == []
        READERS.give_back(reader, owes=False)
    return {rule.name: _backtest_seconds(project, rule, runs) for rule in RULES if rule.is_cold}


def _backtest_seconds(project: Project, rule: Rule, runs: int) -> tuple[float, float]:
    from verification.rules.backtest.running import Running

    began = time.perf_counter()
    figures = iter(Running(_wish(project, rule)))
    progress = next(figures)
    first = time.perf_counter() - began
    for progress in figures:  # noqa: B007 - the last one is checked
        pass
    seconds = time.perf_counter() - began
    assert progress.evaluated == runs, progress
    return first, seconds


def _wish(project: Project, rule: Rule) -> Wish:
    from verification.rules.backtest.wish import wish_of, with_rule

    process = project.processes.get(slug="small-work")
    assert process.published is not None
    document = {
        "name": "tried",
        "check": rule.pattern,
        "type": "regex",
        "target": rule.target,
        "enforcement": "hard",
        "applies_to_phases": ["*"],
    }
    return wish_of(process, *with_rule(process.published.source_text, document))


def _loop_seconds(project: Project, rule: Rule) -> float:
    """Return the seconds of a plain loop: each text by the ORM, through the same matcher."""
    from processes.definition import patterns
    from verification.runs.evidence_store import read_blob
    from verification.runs.models import RunFile, Submission

    pattern = patterns.compiled(rule.pattern)
    began = time.perf_counter()
    if rule.target == "output":
        for body in Submission.objects.filter(run__project=project).values_list("body", flat=True):
            pattern.search(body["output"].encode())
    else:
        for file in RunFile.objects.filter(run__project=project).select_related("blob__project"):
            pattern.search(read_blob(file.blob))
    return time.perf_counter() - began


def generate(project: Project, count: int) -> None:
    """Make runs with an evaluation, an output and a deliverable of 20 kB each, all different."""
    from django.db import connection

    from tests.builders import generate_runs
    from verification.runs.models import Run

    generate_runs(project, count)
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
    _add_texts(project)
    with connection.cursor() as cursor:
        cursor.execute("analyze runs_run, runs_evaluation, runs_submission, runs_runfile")


def _add_texts(project: Project) -> None:
    from verification.runs.evidence_store import name_blobs, store_contents
    from verification.runs.models import Run, RunFile, Submission
    from verification.runs.submission import named_paths

    task = {"task": {"id": "t", "description": "d"}}
    random_numbers = random.Random(7)  # noqa: S311 - texts of a benchmark
    runs = list(Run.objects.filter(project=project).values_list("pk", flat=True))
    for start in range(0, len(runs), 500):
        batch = runs[start : start + 500]
        texts = {run: _text(random_numbers) for run in batch}
        Submission.objects.bulk_create(
            Submission(run_id=run, body=task | {"output": text}, named_paths=named_paths(task))
            for run, text in texts.items()
        )
        store_contents(project, [text.encode() for text in texts.values()])
        digests = {run: hashlib.sha256(text.encode()).hexdigest() for run, text in texts.items()}
        blobs = name_blobs(project, {digests[run]: CHARS for run in batch})
        RunFile.objects.bulk_create(
            RunFile(run_id=run, path="report.json", blob=blobs[digests[run]], size=CHARS)
            for run in batch
        )


WORDS = ["quickly", "quickest", *(f"{stem}{end}" for stem in range(1_000) for end in "abc")]


def _text(random_numbers: random.Random) -> str:
    return " ".join(random_numbers.choices(WORDS, k=CHARS // 4))[:CHARS].ljust(CHARS, ".")
