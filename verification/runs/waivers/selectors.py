from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from functools import reduce
from operator import or_
from uuid import UUID

from django.db.models import Count, F, Q, QuerySet

from loomverify.accounts.models import Project
from loomverify.errors import NotFound
from loomverify.filters import AddressFilters
from verification.runs.models import Waiver

HEAVY_FIELDS = ("process__description", "run__search", "run__result")
MAX_NAME_CHARS, MAX_REASON_CHARS = 60, 200
MAX_SEARCHED_CHARS = 200


class WaiverState(StrEnum):
    ACTIVE = "active"
    EXPIRED = "expired"
    ENDED = "ended"


@dataclass(frozen=True, slots=True)
class WaiverFilters(AddressFilters):
    """`finding` is a fingerprint."""

    state: str = ""
    process: str = ""
    finding: str = ""
    q: str = ""


def waivers(project: Project, filters: WaiverFilters, now: datetime) -> QuerySet[Waiver]:
    """A project's waivers, with what is shown of them."""
    rows = Waiver.objects.filter(project=project).select_related("process", "run")
    if filters.state:
        rows = rows.filter(_of_state(WaiverState(filters.state), now))
    if filters.process:
        rows = rows.filter(process__slug=filters.process)
    if filters.finding:
        rows = rows.filter(fingerprint=filters.finding)
    if sought := filters.q[:MAX_SEARCHED_CHARS]:
        fields = ("message", "path", "reason", "created_name")
        rows = rows.filter(_any(Q(**{f"{name}__icontains": sought}) for name in fields))
    return rows.defer(*HEAVY_FIELDS)


def counts(project: Project, filters: WaiverFilters, now: datetime) -> dict[WaiverState, int]:
    """How many there are in each state, of those that the other filters leave."""
    rows = waivers(project, replace(filters, state=""), now).select_related(None).defer(None)
    asked = {state.value: Count("pk", filter=_of_state(state, now)) for state in WaiverState}
    found = rows.aggregate(**asked)
    return {state: found[state] for state in WaiverState}


def waiver_of(project: Project, uuid: UUID) -> Waiver:
    """Raises NotFound: the project has none of this name."""
    rows = Waiver.objects.select_related("process", "run").defer(*HEAVY_FIELDS)
    found = rows.filter(project=project, uuid=uuid).first()
    if found is None:
        raise NotFound("waiver.unknown", "This project has no such waiver.")
    return found


def in_force(now: datetime) -> QuerySet[Waiver]:
    return Waiver.objects.filter(_of_state(WaiverState.ACTIVE, now))


def words_of_waivers(process_id: int, now: datetime) -> Mapping[str, str]:
    """For the engine: by fingerprint, who accepts it until when, and why."""
    rows = in_force(now).filter(process=process_id)
    return {row.fingerprint: words(row) for row in rows}


def words(waiver: Waiver) -> str:
    """In short, as it stands behind what was found."""
    name, reason = waiver.created_name, " ".join(waiver.reason.split())
    return f"Waived by {_cut(name, MAX_NAME_CHARS)} until {waiver.until}: {_cut(reason, MAX_REASON_CHARS)}"


def state_of(waiver: Waiver, now: datetime) -> WaiverState:
    if waiver.ended_at is not None and waiver.ended_at < waiver.expires_at:
        return WaiverState.ENDED
    return WaiverState.ACTIVE if waiver.expires_at > now else WaiverState.EXPIRED


def _of_state(state: WaiverState, now: datetime) -> Q:
    ended = Q(ended_at__isnull=False, ended_at__lt=F("expires_at"))
    if state is WaiverState.ENDED:
        return ended
    if state is WaiverState.ACTIVE:
        return Q(ended_at__isnull=True, expires_at__gt=now)
    return ~ended & Q(expires_at__lte=now)


def _any(conditions: Iterable[Q]) -> Q:
    return reduce(or_, conditions)


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
