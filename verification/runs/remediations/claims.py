"""Agents take remediations, give them back, answer them or give them up."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import F, Q
from django.db.models.functions import Least
from django.utils import timezone

from loomverify.accounts.access import Access
from loomverify.accounts.audit import record
from loomverify.errors import Conflict, Forbidden, InputError
from verification.engine.outcome import Verdict
from verification.runs.intake.redaction import redacted_text
from verification.runs.models import Remediation, Run, RunState
from verification.runs.models.followup import RemediationState
from verification.runs.remediations import rows

LEASE = timedelta(minutes=30)


def claim(*, access: Access, remediation: UUID) -> Remediation:
    """Take a remediation for a while; taken again by its owner, the while begins anew.

    Raises:
        NotFound: the project has none of this name.
        Conflict: `remediation.held` by somebody else, `remediation.over`.
    """
    now = timezone.now()
    key = access.actor.api_key
    asked = rows.of_project(access, remediation)
    free = Q(state=RemediationState.QUEUED) | Q(lease_until__lte=now) | Q(owner=key)
    with transaction.atomic():
        won = Remediation.objects.filter(
            free, pk=asked.pk, state__in=rows.OPEN, expires_at__gt=now
        ).update(
            state=RemediationState.CLAIMED,
            owner=key,
            lease_until=Least(now + LEASE, F("expires_at")),
        )
        if won and asked.owner_id != (key.pk if key else None):
            record(access.actor, "remediation.claimed", asked, project=access.project)
    asked.refresh_from_db()
    if not won:
        raise _refusal(asked)
    return asked


def release(*, access: Access, remediation: UUID) -> Remediation:
    """Give a claim back before its time. Of somebody else's: a reviewer may.

    Raises:
        NotFound: the project has none of this name.
        Forbidden: somebody else holds it.
        Conflict: `remediation.not_claimed`.
    """
    asked = rows.of_project(access, remediation)
    mine = _claims_of(access, asked)
    with transaction.atomic():
        won = mine.update(state=RemediationState.QUEUED, owner=None, lease_until=None)
        if won:
            record(access.actor, "remediation.released", asked, project=access.project)
    asked.refresh_from_db()
    if not won:
        raise Conflict("remediation.not_claimed", f"This remediation is {asked.state}.")
    return asked


def give_up(*, access: Access, remediation: UUID, reason: str) -> Remediation:
    """End a remediation that nobody will answer. Of one that is not claimed: a reviewer may.

    Raises:
        NotFound: the project has none of this name.
        Forbidden: the caller neither holds it nor is a reviewer.
        Conflict: `remediation.over`.
    """
    asked = rows.of_project(access, remediation)
    if not access.is_reviewer and not _is_held_by(access, asked):
        raise Forbidden("remediation.not_yours", "Claim it first, or have a reviewer give it up.")
    reason = redacted_text(access.project, reason)
    with transaction.atomic():
        asked = rows.locked(asked.pk)
        if asked.state not in rows.OPEN:
            raise _refusal(asked)
        rows.end(asked, RemediationState.FAILED, note=reason, now=timezone.now())
        record(access.actor, "remediation.given_up", asked, project=access.project, reason=reason)
    return asked


def resolve(*, access: Access, remediation: UUID, run: UUID) -> Remediation:
    """Answer with a run. A rejected run counts an attempt, once.

    Raises:
        NotFound: the project has no such remediation.
        InputError: `run.unknown`, `run.unrelated`: this run is no answer to it.
        Conflict: `run.not_finished`, `run.undecided`, `run.rejected`, `remediation.held`,
            `remediation.over`.
    """
    asked = rows.of_project(access, remediation)
    answering = _answering(access, asked, run)
    verdict, outcome = answering.verdict, answering.outcome
    settles = rows.settles(verdict, outcome)
    now = timezone.now()
    with transaction.atomic():
        asked = rows.locked(asked.pk)
        if asked.state == RemediationState.RESOLVED and asked.resolved_by_id == answering.pk:
            return asked
        is_counted = not settles and rows.was_counted(asked, str(answering.uuid))
        if not is_counted:
            _refuse_if_not_open_to(access, asked, now)
            rows.count(asked, answering, settles=settles, now=now)
            record(access.actor, "remediation.answered", asked, project=access.project)
    if not settles:
        raise Conflict(
            "run.rejected",
            f"This run is {verdict}, {outcome}: {asked.attempts} of {asked.max_attempts} "
            f"attempts are used, the remediation is {asked.state}.",
            loc=("body", "run"),
        )
    return asked


def _answering(access: Access, asked: Remediation, name: UUID) -> Run:
    loc = ("body", "run")
    run = Run.objects.filter(project=access.project, uuid=name).select_related("task").first()
    if run is None:
        raise InputError("run.unknown", "This project has no such run.", loc=loc)
    first = asked.run
    is_same_work = rows.is_same_work(
        first, process_id=run.process_id, phase_id=run.phase_id, task=run.task.external_id
    )
    if run.pk == first.pk or run.created_at < asked.created_at or not is_same_work:
        raise InputError(
            "run.unrelated",
            "A run answers a remediation when it was submitted after it, for the same task, or "
            f"for {first.process.slug} in the phase {first.phase_id}.",
            loc=loc,
        )
    if run.state != RunState.FINISHED:
        raise Conflict("run.not_finished", f"This run is {run.state}.", loc=loc)
    if run.verdict == Verdict.UNDECIDED:
        raise Conflict("run.undecided", "Nothing is decided about this run yet.", loc=loc)
    return run


def _is_held_by(access: Access, asked: Remediation) -> bool:
    key = access.actor.api_key
    return key is not None and asked.state == RemediationState.CLAIMED and asked.owner_id == key.pk


def _claims_of(access: Access, asked: Remediation) -> Any:
    if not access.is_reviewer and asked.state in rows.OPEN and not _is_held_by(access, asked):
        raise Forbidden("remediation.not_yours", "Somebody else holds this remediation.")
    held = Remediation.objects.filter(pk=asked.pk, state=RemediationState.CLAIMED)
    return held if access.is_reviewer else held.filter(owner=access.actor.api_key)


def _refuse_if_not_open_to(access: Access, asked: Remediation, now: datetime) -> None:
    is_over = asked.state not in rows.OPEN or asked.expires_at <= now
    is_held = asked.state == RemediationState.CLAIMED and not _is_held_by(access, asked)
    if is_over or (is_held and asked.lease_until is not None and asked.lease_until > now):
        raise _refusal(asked)


def _refusal(asked: Remediation) -> Conflict:
    if asked.state == RemediationState.CLAIMED and asked.lease_until is not None:
        until = asked.lease_until.isoformat(timespec="seconds")
        return Conflict("remediation.held", f"Somebody else holds this remediation until {until}.")
    if asked.state in rows.OPEN:
        return Conflict("remediation.over", "The time of this remediation is over.")
    return Conflict("remediation.over", f"This remediation is {asked.state}.")
