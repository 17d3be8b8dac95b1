"""A security finding is waived, a waiver is ended, and an ending is taken back."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from uuid import UUID

from django.db import IntegrityError, transaction
from django.utils import timezone

from loomverify.accounts.access import Access
from loomverify.accounts.audit import record
from loomverify.errors import Conflict, InputError, NotFound
from verification.engine.finding import WAIVED, cleaned
from verification.engine.gating.waiving import is_waivable
from verification.runs import events
from verification.runs.intake.redaction import redacted_text
from verification.runs.models import Finding, Run, Waiver
from verification.runs.models.waiver import MAX_REASON_CHARS
from verification.runs.waivers import selectors

MIN_REASON_CHARS = 10
MAX_DAYS = 365
MAX_IN_FORCE = 1_000
"""Of one process: every evaluation reads them all."""
UNDO = timedelta(minutes=10)


def waive(*, access: Access, run: UUID, fingerprint: str, reason: str, until: date) -> Waiver:
    """Accept a finding of a run in all later work of its process, through the last day in UTC.

    Raises:
        NotFound: the project has no such run.
        InputError: `finding.unknown`, `finding.not_waivable`, `waiver.reason`, `waiver.until`.
        Conflict: `waiver.in_force`, `waiver.too_many`.
    """
    found = finding_of(access, run, fingerprint)
    now = timezone.now()
    waiver = Waiver(
        project=access.project,
        process_id=found.evaluation.run.process_id,
        run=found.evaluation.run,
        fingerprint=found.fingerprint,
        rule=found.rule,
        path=found.path,
        message=said_of(found),
        reason=redacted_text(access.project, _reason(reason))[:MAX_REASON_CHARS],
        created_by=access.actor.user,
        created_key=access.actor.api_key,
        created_name=access.actor.name[:200],
        created_at=now,
        expires_at=_end_of(until, now),
    )
    try:
        with transaction.atomic():
            _keep(access, waiver, now)
    except IntegrityError:
        raise _in_force() from None
    return waiver


def end(*, access: Access, waiver: UUID) -> Waiver:
    """From now on the finding counts again.

    Raises:
        NotFound: the project has none of this name.
        Conflict: `waiver.over`.
    """
    asked = selectors.waiver_of(access.project, waiver)
    now = timezone.now()
    with transaction.atomic():
        won = selectors.in_force(now).filter(pk=asked.pk).update(
            ended_at=now, ended_by=access.actor.user, ended_name=access.actor.name[:200]
        )  # fmt: skip
        if won:
            _tell(access, asked, "waiver_ended", now)
    asked.refresh_from_db()
    if not won:
        raise Conflict("waiver.over", "This waiver is over already.")
    return asked


def undo_end(*, access: Access, waiver: UUID) -> Waiver:
    """Take an ending back, a few minutes after it at most.

    Raises:
        NotFound: the project has none of this name.
        Conflict: `waiver.not_undoable`, `waiver.in_force`: the finding was waived anew.
    """
    asked = selectors.waiver_of(access.project, waiver)
    now = timezone.now()
    recent = Waiver.objects.filter(pk=asked.pk, ended_at__gt=now - UNDO, expires_at__gt=now)
    try:
        with transaction.atomic():
            won = recent.update(ended_at=None, ended_by=None, ended_name="")
            if won:
                _tell(access, asked, "waiver_resumed", now)
    except IntegrityError:
        raise _in_force() from None
    asked.refresh_from_db()
    if not won:
        raise Conflict("waiver.not_undoable", "This ending cannot be taken back any more.")
    return asked


def finding_of(access: Access, run: UUID, fingerprint: str) -> Finding:
    """The newest of this name that an evaluation of the run found.

    Raises:
        NotFound: the project has no such run.
        InputError: `finding.unknown`, `finding.not_waivable`.
    """
    if not Run.objects.filter(project=access.project, uuid=run).exists():
        raise NotFound("run.unknown", "This project has no such run.")
    loc = ("body", "fingerprint")
    rows = Finding.objects.filter(project=access.project, evaluation__run__uuid=run)
    found = (
        rows.filter(fingerprint=fingerprint.replace("\x00", ""))
        .select_related("evaluation__run__process")
        .defer("evaluation__run__search", "evaluation__run__result")
        .order_by("-evaluation", "position")
        .first()
    )
    if found is None:
        raise InputError("finding.unknown", "This run has no such finding.", loc=loc)
    if not is_waivable(found):
        msg = "Only a certain problem of the security gate, in a named file, can be waived."
        raise InputError("finding.not_waivable", msg, loc=loc)
    return found


def said_of(found: Finding) -> str:
    """What was found, without what was said of an earlier waiver."""
    return found.message.removesuffix(str(found.place.get(WAIVED, ""))).rstrip()


def _keep(access: Access, waiver: Waiver, now: datetime) -> None:
    same = Waiver.objects.filter(process=waiver.process_id, ended_at__isnull=True)
    expired = same.filter(fingerprint=waiver.fingerprint, expires_at__lte=now)
    for row in expired.select_for_update():
        Waiver.objects.filter(pk=row.pk).update(ended_at=row.expires_at)
    if same.filter(expires_at__gt=now).count() >= MAX_IN_FORCE:
        msg = f"{MAX_IN_FORCE:,} waivers are in force in this process: end some of them."
        raise Conflict("waiver.too_many", msg)
    waiver.save(force_insert=True)
    _tell(access, waiver, "finding_waived", now, waiver.reason)


def _tell(access: Access, waiver: Waiver, kind: str, now: datetime, reason: str = "") -> None:
    verb = {"finding_waived": "waiver.made", "waiver_ended": "waiver.ended"}
    named = verb.get(kind, "waiver.resumed")
    record(access.actor, named, waiver, project=access.project, reason=reason)
    if waiver.run_id is None:
        return
    Run.objects.select_for_update(no_key=True).only("pk").filter(pk=waiver.run_id).first()
    told = {"waiver": str(waiver.uuid), "by": access.actor.name, "until": str(waiver.until)}
    events.append(waiver.run_id, [(kind, told)], at=now)


def _reason(text: str) -> str:
    said = cleaned(text.replace("\r\n", "\n")).strip()
    if not MIN_REASON_CHARS <= len(said) <= MAX_REASON_CHARS:
        msg = f"Say why in {MIN_REASON_CHARS} to {MAX_REASON_CHARS:,} characters."
        raise InputError("waiver.reason", msg, loc=("body", "reason"))
    return said


def _end_of(until: date, now: datetime) -> datetime:
    today = now.astimezone(UTC).date()
    if not 1 <= (until - today).days <= MAX_DAYS:
        msg = f"Name a day from tomorrow to {today + timedelta(days=MAX_DAYS)}."
        raise InputError("waiver.until", msg, loc=("body", "until"))
    return datetime.combine(until + timedelta(days=1), time.min, UTC)


def _in_force() -> Conflict:
    return Conflict("waiver.in_force", "This finding is waived already.")
