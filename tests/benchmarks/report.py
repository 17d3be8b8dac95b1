"""The morning report of a night with 100,000 runs and changes, beside one with 1,000."""

from __future__ import annotations

import statistics
import time
from typing import TYPE_CHECKING, Any

from tests.benchmarks.beside_django import called
from tests.stack import Stack

if TYPE_CHECKING:
    from loomverify.accounts.models import Project
    from verification.actions.report.nights import Night

FEW, USUAL, MANY = 1_000, 5_000, 100_000
REQUESTS = 9
TARGET, TARGET_SECONDS = 6.0, 0.1


def rows(stack: Stack) -> list[tuple[str, str, str, bool]]:
    few, usual, many = called(stack, __name__, "measured")
    ratio = many / few
    return [
        (f"the report of a night with {USUAL:,} runs and changes", f"{usual * 1000:.0f} ms",
         f"under {TARGET_SECONDS * 1000:.0f} ms", usual < TARGET_SECONDS),
        (f"the report of a night with {MANY:,} runs and changes", f"{many * 1000:.0f} ms", "", True),
        (f"the report of {MANY:,} runs and changes, to the same of {FEW:,}", f"{ratio:.1f}",
         f"at most {TARGET:.0f}", ratio <= TARGET),
    ]  # fmt: skip


def measured() -> tuple[float, float, float]:
    """Seconds for few, for as many as usual and for many. Runs beside Django."""
    from django.db import connection

    from tests.builders import make_project

    projects = [(make_project(f"nights-{count}"), count) for count in (FEW, USUAL, MANY)]
    for project, count in projects:
        fill(project, count)
    with connection.cursor() as cursor:
        cursor.execute("vacuum analyze")
    few, usual, many = (_seconds(project) for project, _count in projects)
    return few, usual, many


def fill(project: Project, count: int) -> None:
    """So many runs in the last night, each with a change that an action landed, held or put aside."""
    from django.db import connection

    from tests.actions.report.builders import make_repository
    from tests.builders import generate_runs

    generate_runs(project, count, days=1)
    night = night_of(project)
    named: dict[str, Any] = {"project": project.pk, "start": night.start, "end": night.end}
    with connection.cursor() as cursor:
        cursor.execute(_INTO_THE_NIGHT, named)
        cursor.execute(_CHANGES, {**named, "repository": make_repository(project).pk})
        cursor.execute(_ACTIONS, named)


_INTO_THE_NIGHT = """
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


def _seconds(project: Project) -> float:
    from verification.actions.report.gathering import report

    night, took = night_of(project), []
    for _ in range(REQUESTS):
        began = time.perf_counter()
        found = report(project, night)
        took.append(time.perf_counter() - began)
        assert found.runs == found.changes > 0
    return statistics.median(took)
