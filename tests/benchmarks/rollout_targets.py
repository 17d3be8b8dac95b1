"""The rollout targets over many runs, compared with few."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from tests.benchmarks.django_process import call_in_django
from tests.benchmarks.environments import DATABASE
from tests.benchmarks.framework import Benchmark, Figures, Metric, Unit
from tests.benchmarks.timing import median_seconds_in_turns
from tests.stack import Stack

if TYPE_CHECKING:
    from loomverify.accounts.models import Project
    from verification.trials.models import Trial

PATTERN_RUNS = 20
"""Runs that differ in outcome, claims and judges; the others are copies of them."""
RULES = 8


@dataclass(frozen=True, slots=True)
class Size:
    few: int
    many: int
    hours: int
    rounds: int


def measure(stack: Stack, size: Size) -> Figures:
    few, many = call_in_django(
        stack, __name__, "measure_seconds", size.few, size.many, size.hours, size.rounds
    )
    return {"many": many, "ratio": many / few}


BENCHMARK = Benchmark(
    name="rollout-targets",
    summary="All rollout targets over runs with a comparison each",
    environment=DATABASE,
    measure=measure,
    full=Size(few=1_000, many=100_000, hours=29 * 24, rounds=9),
    smoke=Size(few=20, many=60, hours=3, rounds=1),
    metrics=(
        Metric("many", "rollout targets, {many:,} runs", Unit.SECONDS, at_most=0.1),
        Metric("ratio", "rollout targets, {many:,} / {few:,} runs", Unit.RATIO, at_most=4),
    ),
)


def measure_seconds(few: int, many: int, hours: int, rounds: int) -> list[float]:
    """Return the median seconds for few and for many. Needs Django."""
    from tests.builders import make_project
    from verification.runs.figures import refresh_dirty_hours
    from verification.trials.acceptance.hours import sweep
    from verification.trials.acceptance.scope import Scope
    from verification.trials.acceptance.selectors import targets

    projects = []
    for count in (few, many):
        project = make_project(f"targets-{count}")
        fill(project, count, hours)
        projects.append(project)
    while refresh_dirty_hours() or sweep():
        pass
    calls = [partial(targets, Scope.of(project, {})) for project in projects]
    return median_seconds_in_turns(calls, rounds)


def fill(project: Project, count: int, hours: int) -> None:
    """Make finished runs over the last hours, each with a comparison of a shadow trial."""
    from django.db import connection, transaction

    from tests.reviews.agreement_rows import copy_rows
    from tests.trials.builders import make_legacy, make_trial
    from verification.runs.models import Evaluation, Finding, Run, TierResult
    from verification.trials.models import Comparison

    policy = project.verifiers.get(is_active=True)
    trial = make_trial(project, baseline=make_legacy(project), candidate=policy, state="ended")
    _make_pattern(trial)
    Comparison.objects.filter(trial=trial).update(run_key=None)
    pattern = {
        Run: Run.objects.filter(project=project),
        Evaluation: Evaluation.objects.filter(run__project=project),
        Finding: Finding.objects.filter(project=project),
        TierResult: TierResult.objects.filter(evaluation__run__project=project),
        Comparison: Comparison.objects.filter(trial=trial),
    }
    with transaction.atomic():
        ids = {model: list(rows.values_list("pk", flat=True)) for model, rows in pattern.items()}
        for model, keys in ids.items():
            copy_rows(model, keys, count // PATTERN_RUNS - 1)
    values = {"project": project.pk, "trial": trial.pk, "hours": hours}
    with connection.cursor() as cursor:
        for statement in (_SPREAD_RUNS, _SPREAD_COMPARISONS, _MARK_RUNS, _MARK_COMPARISONS):
            cursor.execute(statement, values)
        cursor.execute("analyze")


_SPREAD_RUNS = """
    update runs_run set created_at = now() - random() * %(hours)s * interval '1 hour'
    where project_id = %(project)s
"""
_SPREAD_COMPARISONS = """
    update trials_comparison
    set created_at = now() - random() * %(hours)s * interval '1 hour', run_key = run_id
    where trial_id = %(trial)s
"""
_MARK_RUNS = """
    insert into runs_dirtyhour (project_id, hour)
    select distinct project_id, date_trunc('hour', created_at, 'UTC') from runs_run
    where project_id = %(project)s on conflict do nothing
"""
# The product's trigger does not react to a changed time of creation.
_MARK_COMPARISONS = """
    insert into runs_targetmark (project_id, hour)
    select distinct %(project)s::bigint, date_trunc('hour', created_at, 'UTC')
    from trials_comparison where trial_id = %(trial)s on conflict do nothing
"""


def _make_pattern(trial: Trial) -> None:
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
        rule = process.rules.create(name=name)
        PhaseRule.objects.create(
            process_version=process.versions.get(),
            phase_id="build",
            rule_version=rule.versions.create(content_sha256="9" * 64, spec={}),
            position=position,
        )
    entry = {"phase": "build", "applied": True, "verdict": "satisfied", "reason": "every_phase"}
    trace = [{"rule": name, **entry} for name in names]
    claims = {"confirmed": 2, "inferred": 0, "unsupported": 1, "recommendation_unconfirmed": 0}
    for number in range(PATTERN_RUNS):
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
        comparison = make_sides(trial, run, old="fail" if number % 3 == 0 else "pass", new="pass")
        if number == 3:
            Comparison.objects.filter(pk=comparison.pk).update(judged="new")
