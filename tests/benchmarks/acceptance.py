"""The targets of the rollout over 100,000 runs that are compared, beside the same over 1,000."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

from tests.benchmarks.beside_django import called
from tests.stack import Stack

FEW, MANY = 1_000, 100_000
ALIKE = 20
"""Runs that differ in their end, their claims and their judges; the others are their copies."""
RULES = 8
REQUESTS = 9
TARGET, TARGET_SECONDS = 4.0, 0.1


def rows(stack: Stack) -> list[tuple[str, str, str, bool]]:
    few, many = called(stack, __name__, "measured")
    ratio = many / few
    what = f"the targets over {MANY:,} runs and as many comparisons"
    return [
        (what, f"{many * 1000:.0f} ms", f"under {TARGET_SECONDS * 1000:.0f} ms",
         many < TARGET_SECONDS),
        (f"{what}, to the same over {FEW:,}", f"{ratio:.1f}", f"at most {TARGET:.0f}",
         ratio <= TARGET),
    ]  # fmt: skip


def measured() -> tuple[float, float]:
    """Seconds for few and for many. Runs beside Django."""
    from tests.builders import make_project
    from verification.runs.figures import refresh_dirty_hours
    from verification.trials.acceptance import hours
    from verification.trials.acceptance.scope import Scope
    from verification.trials.acceptance.selectors import targets

    few, many = (make_project(f"targets-{count}") for count in (FEW, MANY))
    for project, count in ((few, FEW), (many, MANY)):
        fill(project, count)
    while refresh_dirty_hours() or hours.sweep():
        pass
    return (
        _seconds(lambda: targets(Scope.of(few, {}))),
        _seconds(lambda: targets(Scope.of(many, {}))),
    )


def fill(project: Any, count: int) -> None:
    """So many finished runs over the last 29 days, each compared: every third failed for form."""
    from django.db import connection, transaction

    from tests.reviews.agreement_rows import copy_rows
    from tests.trials.builders import make_legacy, make_trial
    from verification.runs.models import Evaluation, Finding, Run, TierResult
    from verification.trials.models import Comparison

    policy = project.verifiers.get(is_active=True)
    trial = make_trial(project, baseline=make_legacy(project), candidate=policy, state="ended")
    _make(trial)
    Comparison.objects.filter(trial=trial).update(run_key=None)
    found = {
        Run: Run.objects.filter(project=project),
        Evaluation: Evaluation.objects.filter(run__project=project),
        Finding: Finding.objects.filter(project=project),
        TierResult: TierResult.objects.filter(evaluation__run__project=project),
        Comparison: Comparison.objects.filter(trial=trial),
    }
    with transaction.atomic():
        ids = {model: list(those.values_list("pk", flat=True)) for model, those in found.items()}
        for model, those in ids.items():
            copy_rows(model, those, count // ALIKE - 1)
    with connection.cursor() as cursor:
        cursor.execute(_SPREAD.format(table="runs_run", where="project_id"), [project.pk])
        cursor.execute(_SPREAD.format(table="trials_comparison", where="trial_id"), [trial.pk])
        own = "update trials_comparison set run_key = run_id where trial_id = %s"
        cursor.execute(own, [trial.pk])  # of copies, which are of a run each
        cursor.execute(
            "insert into runs_dirtyhour (project_id, hour)"
            " select distinct project_id, date_trunc('hour', created_at, 'UTC') from runs_run"
            " where project_id = %s on conflict do nothing",
            [project.pk],
        )
        # The trigger marks what counts otherwise, and does not look at when a row was made.
        cursor.execute(
            "insert into runs_targetmark (project_id, hour)"
            " select distinct %s::bigint, date_trunc('hour', created_at, 'UTC')"
            " from trials_comparison where trial_id = %s on conflict do nothing",
            [project.pk, trial.pk],
        )
        cursor.execute("analyze")


_SPREAD = """
    update {table} set created_at = now() - random() * interval '29 days' where {where} = %s
"""


def _make(trial: Any) -> None:
    from processes.models import PhaseRule
    from tests.builders import make_run
    from tests.judged import live_of, make_tier
    from tests.trials.builders import make_sides
    from verification.engine.outcome import Outcome
    from verification.trials.models import Comparison

    project = trial.project
    process = project.processes.get(slug="small-work")
    names = [f"rule-{number}" for number in range(RULES)]
    for position, name in enumerate(names):
        content = process.rules.create(name=name).versions.create(content_sha256="9" * 64, spec={})
        PhaseRule.objects.create(
            process_version=process.versions.get(),
            phase_id="build",
            rule_version=content,
            position=position,
        )
    told = {"phase": "build", "applied": True, "verdict": "satisfied", "reason": "every_phase"}
    trace = [{"rule": name, **told} for name in names]
    claims = {"confirmed": 2, "inferred": 0, "unsupported": 1, "recommendation_unconfirmed": 0}
    for number in range(ALIKE):
        is_bad = number % 4 == 0
        run = make_run(
            project,
            outcome=Outcome.FAIL if is_bad else Outcome.PASS,
            reason_code="rule_violated" if is_bad else "",
            findings=[{}] if is_bad else (),
            tier_achieved=2,
            asked_again=number % 5 == 0,
            evaluation={"rule_trace": trace, "claims": claims if number % 2 else {}},
        )
        make_tier(live_of(run), recovery="strict_json" if number else "unreadable")
        row = make_sides(trial, run, old="fail" if number % 3 == 0 else "pass", new="pass")
        if number == 3:
            Comparison.objects.filter(pk=row.pk).update(judged="new")


def _seconds(call: Callable[[], object]) -> float:
    took = []
    for _ in range(REQUESTS):
        began = time.perf_counter()
        call()
        took.append(time.perf_counter() - began)
    return statistics.median(took)
