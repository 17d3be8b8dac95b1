"""Known differences, which need not be looked at again for a while. They count all the same."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from loomverify.accounts.access import Access
from loomverify.accounts.audit import record
from loomverify.accounts.models import Role
from loomverify.errors import Conflict, InputError, NotFound
from verification.runs.storable import storable
from verification.trials.models import Acknowledgement, Comparison, Trial

MIN_DAYS, MAX_DAYS = 1, 180
USUAL_DAYS = (7, 14, 30, 90, 180)
MAX_REASON_CHARS = 1_000


def acknowledge(
    *, access: Access, trial: Trial, kind: str, reason: str, days: int
) -> Acknowledgement:
    """Name a difference of this trial as known, for 1 to 180 days.

    One that has run out makes room for the new one.

    Raises:
        InputError: `acknowledgement.no_reason`, `.reason_too_long`, `.days_invalid`.
        NotFound: `kind.unknown`.
        Conflict: `acknowledgement.exists`.
        Forbidden: below editor.
    """
    access.need(Role.EDITOR)
    now = timezone.now()
    why = _reason(reason)
    until = _until(days, now)
    with transaction.atomic():
        Trial.objects.select_for_update(no_key=True).get(pk=trial.pk)  # two at once: one waits
        summary = _summary(trial, kind)
        earlier = standing(trial).filter(kind=kind)
        if earlier.filter(until__gt=now).exists():
            raise Conflict(
                "acknowledgement.exists", "This difference is acknowledged already: end that first."
            )
        earlier.update(withdrawn_at=now)
        made = Acknowledgement.objects.create(
            trial=trial,
            kind=kind,
            summary=summary,
            reason=why,
            until=until,
            created_by=access.actor.name[:200],
        )
        record(
            access.actor, "acknowledgement.made", made, project=access.project,
            diff={"until": [None, until.isoformat(timespec="seconds")]}, reason=why,
        )  # fmt: skip
    return made


def withdraw(*, access: Access, trial: Trial, number: int) -> bool:
    """Have the difference looked at again. False: it had ended already.

    Raises:
        NotFound: `acknowledgement.unknown`.
        Forbidden: below editor.
    """
    access.need(Role.EDITOR)
    with transaction.atomic():
        row = Acknowledgement.objects.filter(trial=trial, pk=number).first()
        if row is None:
            raise NotFound("acknowledgement.unknown", "This trial has no such acknowledgement.")
        ended = Acknowledgement.objects.filter(pk=row.pk, withdrawn_at__isnull=True).update(
            withdrawn_at=timezone.now()
        )
        if ended:
            record(access.actor, "acknowledgement.withdrawn", row, project=access.project)
    return bool(ended)


def standing(trial: Trial) -> QuerySet[Acknowledgement]:
    """Not withdrawn; `until` may be over."""
    return Acknowledgement.objects.filter(trial=trial, withdrawn_at__isnull=True)


def in_force(trial: Trial, now: datetime | None = None) -> QuerySet[Acknowledgement]:
    return standing(trial).filter(until__gt=now or timezone.now())


def _until(days: int, now: datetime) -> datetime:
    if MIN_DAYS <= days <= MAX_DAYS:
        return now + timedelta(days=days)
    raise InputError(
        "acknowledgement.days_invalid",
        f"Say for how long: {MIN_DAYS} to {MAX_DAYS} days.",
        loc=("body", "days"),
    )


def _reason(given: str) -> str:
    reason: str = storable(given).strip()
    if not reason:
        raise InputError(
            "acknowledgement.no_reason",
            "Say why this difference need not be looked at again.",
            loc=("body", "reason"),
        )
    if len(reason) > MAX_REASON_CHARS:
        raise InputError(
            "acknowledgement.reason_too_long",
            f"A reason has at most {MAX_REASON_CHARS} characters.",
            loc=("body", "reason"),
        )
    return reason


def _summary(trial: Trial, kind: str) -> str:
    """What differs, in the words of the newest comparison of this kind."""
    if kind and storable(kind) == kind:
        rows = Comparison.objects.filter(trial=trial, kind=kind).order_by("-id")
        found = rows.values_list("summary", flat=True).first()
        if found is not None:
            return str(found)
    raise NotFound("kind.unknown", "No comparison of this trial shows such a difference.")
