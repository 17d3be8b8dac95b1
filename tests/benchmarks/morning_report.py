"""The morning report of a night with many runs and changes, compared with few."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.benchmarks.django_process import call_in_django
from tests.benchmarks.environments import DATABASE
from tests.benchmarks.framework import Benchmark, Figures, Metric, Unit
from tests.benchmarks.timing import median_seconds_in_turns
from tests.stack import Stack

if TYPE_CHECKING:
    from loomverify.accounts.models import Project
    from verification.actions.report.nights import Night


@dataclass(frozen=True, slots=True)
class Size:
    """Runs of a night. `others` are runs of another project, in other nights."""

    few: int
    usual: int
    many: int
    others: int
    rounds: int


def measure(stack: Stack, size: Size) -> Figures:
    few, usual, many = call_in_django(
        stack,
        __name__,
        "measure_seconds",
        [size.few, size.usual, size.many],
        size.others,
        size.rounds,
    )
    return {"usual": usual, "many": many, "ratio": many / few}


BENCHMARK = Benchmark(
    name="morning-report",
    summary="The figures of a night's report, each run with a change",
    environment=DATABASE,
    measure=measure,
    full=Size(few=1_000, usual=5_000, many=100_000, others=300_000, rounds=9),
    smoke=Size(few=20, usual=40, many=60, others=20, rounds=1),
    metrics=(
        Metric("usual", "report, {usual:,} runs and changes", Unit.SECONDS, at_most=0.1),
        Metric("many", "report, {many:,} runs and changes", Unit.SECONDS),
        Metric("ratio", "report, {many:,} / {few:,} runs and changes", Unit.RATIO, at_most=10),
    ),
)


def measure_seconds(counts: list[int], others: int, rounds: int) -> list[float]:
    """Return the median seconds for nights with so many runs. Needs Django.

    With the measured nights alone in the tables, PostgreSQL reads whole tables. An installation
    holds other nights, too: then it reads indexes.
    """
    from django.db import connection

    from tests.builders import generate_runs, make_project

    generate_runs(make_project("nights-others"), others, days=30)
    projects = [make_project(f"nights-{count}") for count in counts]
    for project, count in zip(projects, counts, strict=True):
        fill(project, count)
    with connection.cursor() as cursor:
        cursor.execute("vacuum analyze")
    return median_seconds_in_turns([_report_loader(project) for project in projects], rounds)


def fill(project: Project, count: int) -> None:
    """Make runs in the last night, each with a change and an action in one of its states."""
    from django.db import connection

    from tests.actions.report.builders import make_repository
    from tests.builders import generate_runs

    generate_runs(project, count, days=1)
    night = night_of(project)
    values: dict[str, Any] = {"project": project.pk, "start": night.start, "end": night.end}
    with connection.cursor() as cursor:
        cursor.execute(_MOVE_INTO_NIGHT, values)
        cursor.execute(_CHANGES, {**values, "repository": make_repository(project).pk})
        cursor.execute(_ACTIONS, values)


_MOVE_INTO_NIGHT = """
    update runs_run set created_at = %(start)s + random() * (%(end)s - %(start)s)
    where project_id = %(project)s
"""
_CHANGES = """
    insert into actions_change (project_id, submitted_at, run_id, repository_id, kind, base_sha,
      tree_sha, commit_sha, paths, standing, standing_kind, standing_reason, created_at)
    select project_id, created_at, id, %(repository)s, 'patch', repeat('a', 40), repeat('b', 40),
      '', '[{"path": "app.py", "status": "M"}]', 'nothing', '', '', created_at
    from runs_run where project_id = %(project)s
"""
_ACTIONS = """
    insert into actions_action (uuid, project_id, submitted_at, change_id, kind, turn, state, reason_code,
      detail, ref, expected_sha, new_sha, evidence, attempts, next_at, decided_by, created_at,
      finished_at)
    select gen_random_uuid(), project_id, submitted_at, id, chosen.kind, 1, chosen.state,
      case chosen.state when 'held' then 'base_moved' else '' end, '', 'refs/heads/main',
      repeat('a', 40), repeat('c', 40), '{}', 1, submitted_at, '', submitted_at,
      case chosen.state when 'done' then submitted_at end
    from actions_change, lateral (select
      (array['commit', 'commit', 'commit', 'review_branch', 'revert'])[1 + id %% 5] as kind,
      (array['done', 'done', 'done', 'held', 'proposed', 'done', 'declined'])[1 + id %% 7] as state
    ) as chosen
    where project_id = %(project)s
"""


def night_of(project: Project) -> Night:
    from django.utils import timezone

    from verification.actions.report.nights import Hours, last_night
    from verification.reviews.notices.times import zone_named

    return last_night(timezone.now(), Hours(), zone_named(project.time_zone))


def _report_loader(project: Project) -> Callable[[], None]:
    """Return a function that gathers the report of the last night."""
    from verification.actions.report.gathering import report

    night = night_of(project)

    def gather() -> None:
        night_report = report(project, night)
        assert night_report.runs == night_report.changes > 0

    return gather
