"""Remediations are queued as a run ends, answered by a later one, and swept."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from verification.engine.claims.settlement import RemediationDraft
from verification.engine.outcome import Outcome, Verdict
from verification.runs import events, outbox
from verification.runs.models import Remediation, Run
from verification.runs.models.followup import RemediationState
from verification.runs.remediations import rows
from verification.runs.work import Work

TIME_TO_LIVE = timedelta(hours=6)
SWEEP_BATCH = 100
QUEUED = "remediation_queued"


def queue(
    *, work: Work, drafts: Sequence[RemediationDraft], max_attempts: int, now: datetime
) -> list[Remediation]:
    """Queue the work that an evaluation asks for. The caller holds the run's row.

    What is open already is not queued twice. A run that itself answers an open remediation
    queues nothing: its end counts there, so that the chain of answers is bounded.
    """
    if not drafts or _is_answer(work):
        return []
    known = Remediation.objects.filter(run_id=work.run_id, state__in=rows.OPEN)
    asked = [(one.mode, one.request) for one in known]
    made = []
    for draft in drafts:
        if (draft.mode, draft.request) in asked:
            continue
        asked.append((draft.mode, dict(draft.request)))
        made.append(
            Remediation.objects.create(
                project_id=work.project_id,
                run_id=work.run_id,
                mode=draft.mode,
                request=dict(draft.request),
                max_attempts=max(1, max_attempts),
                created_at=now,
                expires_at=now + TIME_TO_LIVE,
            )
        )
    _tell_queued(work, made, now)
    return made


def _tell_queued(work: Work, made: Sequence[Remediation], now: datetime) -> None:
    if made:
        told = [(QUEUED, {"remediation": str(one.uuid), "mode": one.mode}) for one in made]
        events.append(work.run_id, told, at=now)
    for one in made:
        outbox.add(
            outbox.REMEDIATION_QUEUED,
            project_id=work.project_id,
            run_id=work.run_id,
            payload={
                "remediation": str(one.uuid),
                "mode": one.mode,
                "reason_code": str(one.request.get("reason_code", "")),
                "run": str(work.uuid),
                "process": work.process_slug,
                "phase": work.phase_id,
                "task": work.body["task"]["id"],
                "expires_at": one.expires_at.isoformat(),
            },
        )


def answer(*, work: Work, verdict: Verdict, outcome: Outcome, now: datetime) -> None:
    """Count the end of a run that was submitted as the answer to a remediation.

    The caller holds the run's row. Undecided counts nothing. A rejected answer counts no attempt
    of somebody else's claim.
    """
    found = _named_by(work) if verdict is not Verdict.UNDECIDED else None
    if found is None or found.state not in rows.OPEN:
        return
    run = Run.objects.only("uuid", "submitted_key_id").get(pk=work.run_id)
    asked = rows.locked(found.pk)
    is_theirs = asked.state == RemediationState.CLAIMED and asked.owner_id != run.submitted_key_id
    if asked.state in rows.OPEN and (not is_theirs or rows.settles(verdict, outcome)):
        rows.count(asked, run, settles=rows.settles(verdict, outcome), now=now)


def _is_answer(work: Work) -> bool:
    """Whether this run answers a remediation that is open, or that its own end has ended."""
    named = _named_by(work)
    return named is not None and (
        named.state in rows.OPEN or rows.was_counted(named, str(work.uuid))
    )


def _named_by(work: Work) -> Remediation | None:
    """The remediation that this run names as the one it answers."""
    try:
        name = UUID(str(work.body.get("remediation") or ""))
    except ValueError:
        return None
    asked = Remediation.objects.filter(project_id=work.project_id, uuid=name)
    return asked.exclude(run_id=work.run_id).first()


def sweep() -> int:
    """End what has outlived its time, and queue again what its owner left lying."""
    now = timezone.now()
    lapsed = Remediation.objects.filter(
        state=RemediationState.CLAIMED, lease_until__lte=now, expires_at__gt=now
    )
    some = lapsed.order_by("expires_at").values("pk")[:SWEEP_BATCH]
    returned = lapsed.filter(pk__in=some).update(
        state=RemediationState.QUEUED, owner=None, lease_until=None
    )
    return returned + _expire(now)


def _expire(now: datetime) -> int:
    due = Remediation.objects.filter(state__in=rows.OPEN, expires_at__lte=now)
    found = dict(due.order_by("expires_at").values_list("pk", "run_id")[:SWEEP_BATCH])
    if not found:
        return 0
    with transaction.atomic():
        # A run that is being finished is left for the next turn.
        runs = Run.objects.filter(pk__in=found.values()).order_by("pk")
        held = set(
            runs.select_for_update(skip_locked=True, no_key=True).values_list("pk", flat=True)
        )
        mine = [pk for pk, run in found.items() if run in held]
        ended = list(due.filter(pk__in=mine).select_for_update().order_by("pk"))
        for one in ended:
            rows.end(one, RemediationState.EXPIRED, note="Nobody answered it in time.", now=now)
    return len(ended)
