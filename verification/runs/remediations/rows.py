"""A remediation's row: found, locked, counted on and ended.

A run's row is locked before its remediations', always in this order.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from loomverify.accounts.access import Access
from loomverify.errors import InputError, Loc, NotFound
from verification.engine.outcome import Outcome, Verdict
from verification.runs import events
from verification.runs.models import Event, Remediation, Run
from verification.runs.models.followup import RemediationState

OPEN = (RemediationState.QUEUED, RemediationState.CLAIMED)
MAX_NOTE_CHARS = 500
ANSWERED, RESOLVED = "remediation_answered", "remediation_resolved"
_RELATIONS = ("run__project", "run__process", "run__task", "owner", "resolved_by")


def of_project(access: Access, remediation: UUID) -> Remediation:
    """Raises NotFound: the project has none of this name."""
    rows = Remediation.objects.select_related(*_RELATIONS)
    found = rows.filter(project=access.project, uuid=remediation).first()
    if found is None:
        raise NotFound("remediation.unknown", "This project has no such remediation.")
    return found


def locked(pk: int) -> Remediation:
    run_id = Remediation.objects.values_list("run_id", flat=True).get(pk=pk)
    Run.objects.select_for_update(no_key=True).only("pk").get(pk=run_id)
    rows = Remediation.objects.select_related(*_RELATIONS)
    return rows.select_for_update(of=("self",)).get(pk=pk)


def is_same_work(first: Run, *, process_id: int, phase_id: str, task: str) -> bool:
    """Whether work on this task, or in this phase, can answer what `first` left open."""
    if process_id != first.process_id:
        return False
    return phase_id == first.phase_id or task == first.task.external_id


def check_named(
    access: Access, name: str, *, process_id: int, phase_id: str, task: str, loc: Loc
) -> None:
    """Refuse a submission that says it answers what it cannot answer.

    Raises:
        InputError: `remediation.unknown`, `remediation.unrelated`.
    """
    try:
        asked = of_project(access, UUID(name))
    except (ValueError, NotFound):
        msg = "This project has no such remediation."
        raise InputError("remediation.unknown", msg, loc=loc) from None
    if not is_same_work(asked.run, process_id=process_id, phase_id=phase_id, task=task):
        raise InputError(
            "remediation.unrelated",
            f"This remediation is of the task {asked.run.task.external_id!r}, in the phase "
            f"{asked.run.phase_id} of {asked.run.process.slug}.",
            loc=loc,
        )


def settles(verdict: str, outcome: str | None) -> bool:
    """Partly verified again is no answer to what was not verified."""
    return verdict == Verdict.ACCEPT and outcome != Outcome.PARTIAL_VERIFIED


def was_counted(asked: Remediation, run: str) -> bool:
    """Whether this run, named by its uuid, counted as a rejected answer."""
    same = {"remediation": str(asked.uuid), "run": run}
    return Event.objects.filter(run_id=asked.run_id, kind=ANSWERED, data__contains=same).exists()


def count(asked: Remediation, run: Run, *, settles: bool, now: datetime) -> None:
    """Enter an answer. The caller holds the remediation and its run."""
    if settles:
        end(asked, RemediationState.RESOLVED, note="", now=now, run=run)
        return
    if was_counted(asked, str(run.uuid)):
        return
    asked.attempts += 1
    told = {"remediation": str(asked.uuid), "run": str(run.uuid), "attempt": asked.attempts}
    events.append(asked.run_id, [(ANSWERED, told)], at=now)
    if asked.attempts >= asked.max_attempts:
        end(asked, RemediationState.FAILED, note="Its attempts are used.", now=now)
        return
    asked.state, asked.owner, asked.lease_until = RemediationState.QUEUED, None, None
    asked.save(update_fields=["attempts", "state", "owner", "lease_until"])


def end(
    asked: Remediation,
    state: RemediationState,
    *,
    note: str,
    now: datetime,
    run: Run | None = None,
) -> None:
    asked.state, asked.ended_at, asked.lease_until = state, now, None
    asked.note = note.replace("\x00", "\ufffd")[:MAX_NOTE_CHARS]
    asked.resolved_by = run
    asked.save(
        update_fields=["state", "ended_at", "lease_until", "note", "resolved_by", "attempts"]
    )
    told: dict[str, Any] = {"remediation": str(asked.uuid), "mode": asked.mode, "state": state}
    if run is not None:
        told["run"] = str(run.uuid)
    events.append(asked.run_id, [(RESOLVED, told)], at=now)
