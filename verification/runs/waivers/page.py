"""What pages show of waivers: a list of them, and what stands beside a finding of a run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from loomverify.accounts.models import Project
from verification.engine.finding import WAIVED
from verification.engine.gating.waiving import is_waivable
from verification.runs import wording
from verification.runs.models import Finding, Run, Waiver
from verification.runs.waivers.selectors import WaiverState, state_of
from verification.runs.waivers.services import UNDO

FEW_DAYS = 7


@dataclass(frozen=True, slots=True)
class Row:
    row: Waiver
    now: datetime

    @property
    def state(self) -> WaiverState:
        return state_of(self.row, self.now)

    @property
    def badge(self) -> wording.Badge:
        return wording.WAIVER_STATES[self.state]

    @property
    def is_active(self) -> bool:
        return self.state is WaiverState.ACTIVE

    @property
    def is_ended(self) -> bool:
        return self.state is WaiverState.ENDED

    @property
    def may_be_undone(self) -> bool:
        at = self.row.ended_at
        is_recent = at is not None and at > self.now - UNDO
        return is_recent and self.is_ended and self.row.expires_at > self.now

    @property
    def is_nearly_over(self) -> bool:
        return self.is_active and (self.row.until - self.now.date()).days < FEW_DAYS

    @property
    def time_left(self) -> str:
        days = (self.row.until - self.now.date()).days
        return {0: "its last day", 1: "1 day left"}.get(days, f"{days} days left")


@dataclass(frozen=True, slots=True)
class Beside:
    """A finding that is waived, has been since, or can be.

    `is_counted_so`: the evaluation that is shown took it as waived.
    """

    waiver: Row | None
    is_counted_so: bool

    @property
    def is_since(self) -> bool:
        return not self.is_counted_so and self.waiver is not None and self.waiver.is_active

    @property
    def is_offered(self) -> bool:
        return self.waiver is None or not self.waiver.is_active


def beside(run: Run, found: Iterable[Finding], now: datetime) -> Mapping[str, Beside]:
    """By fingerprint, for each finding that can be waived."""
    waivable = {one.fingerprint: one for one in found if is_waivable(one)}
    if not waivable:
        return {}
    rows = Waiver.objects.filter(process=run.process_id, fingerprint__in=waivable)
    newest = rows.order_by("fingerprint", "-pk").distinct("fingerprint")
    known = {row.fingerprint: Row(row, now) for row in newest}
    return {name: Beside(known.get(name), WAIVED in one.place) for name, one in waivable.items()}


def remark(found: Iterable[Finding]) -> str:
    """Beside a verdict: how much is not counted."""
    count = sum(WAIVED in one.place for one in found)
    return f"{count} finding{' is' if count == 1 else 's are'} waived." if count else ""


def just_ended(project: Project, name: str, now: datetime) -> Row | None:
    """The waiver of this name, while its ending can be taken back."""
    try:
        rows = Waiver.objects.filter(project=project, uuid=UUID(name))
    except ValueError:
        return None
    found = [Row(row, now) for row in rows]
    return found[0] if found and found[0].may_be_undone else None
