"""A night counted in the database: what leaves it are tables of counts, and few names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import (
    Case,
    CharField,
    Count,
    F,
    Func,
    IntegerField,
    Min,
    Q,
    QuerySet,
    Sum,
    Value,
    When,
)
from django.db.models.functions import Coalesce

from loomverify.accounts.models import Project
from processes.models import Process
from verification.actions.models import Action, ActionState
from verification.actions.report.nights import Night
from verification.actions.report.values import LISTED, Standing
from verification.runs.models import Remediation, Review, ReviewState, Run
from verification.runs.models.followup import RemediationState

BLIND = "blind"
"""Why a run is reviewed blind would tell its verdict."""


@dataclass(frozen=True, slots=True)
class Ended:
    """Runs of one process that stand alike, of one step of the night, counted from 1."""

    step: int
    slug: str
    title: str
    state: str
    verdict: str
    outcome: str | None
    reason_code: str
    count: int
    cost_usd: Decimal


@dataclass(frozen=True, slots=True)
class Named:
    """A run by name, and what is told of it."""

    run: UUID
    title: str
    process: str
    phase: str
    at: datetime
    kind: str
    reason: str
    repository: str = ""
    ref: str = ""
    sha: str = ""


@dataclass(frozen=True, slots=True)
class Stood:
    """Changes that stand alike."""

    standing: str
    kind: str
    reason: str
    count: int


@dataclass(frozen=True, slots=True)
class Waits:
    kind: str
    reason: str
    count: int
    oldest: datetime


def ended(project: Project, night: Night, steps: Sequence[Night]) -> list[Ended]:
    """Every run that was submitted in a night, which the steps divide.

    Counted from the index `run_newest` alone.
    """
    names = ("step", "process_id", "state", "verdict", "outcome", "reason_code")
    rows = Run.objects.filter(
        project=project, created_at__gte=night.start, created_at__lt=night.end
    ).annotate(step=_step_of("created_at", steps))
    counted = list(rows.order_by().values_list(*names).annotate(n=Count("pk"), usd=Sum("cost_usd")))
    processes = Process.objects.filter(project=project).in_bulk()
    return [
        Ended(step, processes[process].slug, processes[process].title, *row)
        for step, process, *row in counted
    ]


def _step_of(column: str, steps: Sequence[Night]) -> Func:
    return Func(
        F(column),
        Value([one.start for one in steps]),
        template="width_bucket(%(expressions)s::timestamptz[])",
        output_field=IntegerField(),
    )


STANDINGS = """
    with newest as (
      select first.* from unnest(%(standings)s::text[]) as each (standing), lateral (
          select * from actions_change change
          where change.project_id = %(project)s and change.standing = each.standing
            and change.submitted_at >= %(start)s and change.submitted_at < %(end)s
          order by change.submitted_at desc, change.id desc limit %(listed)s
        ) as first
    )
    select true, standing, standing_kind, standing_reason, count(*),
      null, null, null, null, null, null, null, null
    from actions_change
    where project_id = %(project)s and standing = any(%(standings)s)
      and submitted_at >= %(start)s and submitted_at < %(end)s
    group by 2, 3, 4
    union all
    select false, newest.standing, newest.standing_kind, newest.standing_reason, newest.id,
      run.uuid, coalesce(nullif(run.title, ''), task.external_id), process.slug, run.phase_id,
      run.created_at, repository.name, coalesce(action.ref, ''), coalesce(action.new_sha, '')
    from newest
    join runs_run run on run.id = newest.run_id
    join runs_task task on task.id = run.task_id
    join processes_process process on process.id = run.process_id
    join actions_repository repository on repository.id = newest.repository_id
    left join lateral (
        select ref, new_sha from actions_action
        where change_id = newest.id and kind = newest.standing_kind order by id desc limit 1
      ) action on true
    order by 1 desc, 2, 10 desc nulls first, 5 desc
"""
"""One statement, so that what is counted and what is named is of the same moment."""


def standings(project: Project, night: Night) -> tuple[list[Stood], Mapping[str, list[Named]]]:
    """How the changes of a night's runs stand now; the newest of each standing by name."""
    counted: list[Stood] = []
    named: dict[str, list[Named]] = {}
    given: dict[str, int | datetime | list[str]] = {
        "project": project.pk,
        "standings": [one.value for one in Standing],
        "start": night.start,
        "end": night.end,
        "listed": LISTED,
    }
    with connection.cursor() as cursor:
        cursor.execute(STANDINGS, given)
        for is_count, standing, kind, reason, number, *row in cursor.fetchall():
            if is_count:
                counted.append(Stood(standing, kind, reason, number))
                continue
            run, title, slug, phase, at, repository, ref, sha = row
            found = Named(run, title, slug, phase, at, kind, reason, repository, ref, sha)
            named.setdefault(standing, []).append(found)
    return counted, named


def done_earlier(project: Project, night: Night) -> list[tuple[str, int]]:
    """What was done in a night with changes from before it, by kind."""
    rows = Action.objects.filter(
        project=project,
        state=ActionState.DONE,
        finished_at__gte=night.start,
        finished_at__lt=night.end,
        submitted_at__lt=night.start,
    )
    counted = rows.order_by().values_list("kind").annotate(n=Count("pk"))
    return sorted((str(kind), int(n)) for kind, n in counted)


def _why() -> Case:
    return Case(
        When(is_blind=True, then=Value(BLIND)),
        default=Coalesce(F("reasons__0"), Value("")),
        output_field=CharField(),
    )


def reviews(project: Project, until: datetime) -> list[Waits]:
    """Open reviews that were there when the night ended, by the first of their reasons."""
    rows = _open_reviews(project, until).annotate(why=_why()).order_by().values_list("why")
    return [
        Waits("review", why, n, oldest)
        for why, n, oldest in rows.annotate(n=Count("pk"), oldest=Min("created_at"))
    ]


def first_reviews(project: Project, until: datetime) -> list[Named]:
    rows = _open_reviews(project, until).annotate(why=_why()).order_by("rank_at", "pk")
    return _named(rows.annotate(kind=Value("review")), "created_at", "kind", "why", prefix="run__")


def actions(project: Project, until: datetime) -> list[tuple[str, Waits]]:
    """Held and proposed actions that were there when the night ended, each with its state."""
    names = ("state", "kind", "reason_code")
    rows = _open_actions(project, until).order_by().values_list(*names)
    return [
        (state, Waits(kind, reason, n, oldest))
        for state, kind, reason, n, oldest in rows.annotate(n=Count("pk"), oldest=Min("created_at"))
    ]


def first_actions(project: Project, until: datetime) -> list[Named]:
    """The oldest. Of a proposed one, the reason is empty, unless it was stopped."""
    rows = _open_actions(project, until).order_by("created_at", "pk")
    return _named(rows, "created_at", "kind", "reason_code", prefix="change__run__")


def remediations(project: Project, until: datetime) -> list[Waits]:
    rows = Remediation.objects.filter(
        project=project, state=RemediationState.QUEUED, created_at__lt=until
    )
    counted = rows.order_by().values_list("mode")
    return [
        Waits("remediation", mode, n, oldest)
        for mode, n, oldest in counted.annotate(n=Count("pk"), oldest=Min("created_at"))
    ]


def _open_reviews(project: Project, until: datetime) -> QuerySet[Review]:
    return Review.objects.filter(project=project, state=ReviewState.PENDING, created_at__lt=until)


def _open_actions(project: Project, until: datetime) -> QuerySet[Action]:
    waits = Q(state__in=(ActionState.HELD, ActionState.PROPOSED))
    return Action.objects.filter(waits, project=project, created_at__lt=until)


def _named(rows: Any, at: str, kind: str, reason: str, *, prefix: str) -> list[Named]:
    run = ("uuid", "title", "process__slug", "phase_id", "task__external_id")
    names = [*(prefix + name for name in run), at, kind, reason]
    found: Sequence[Any] = rows.values_list(*names)[:LISTED]
    return [
        Named(uuid, title or task, process, phase, since, told, why)
        for uuid, title, process, phase, task, since, told, why in found
    ]
