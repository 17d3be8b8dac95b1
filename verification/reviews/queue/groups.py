"""One group: reviews that wait and share their leading finding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import QuerySet

from loomverify.accounts.access import Access
from verification.engine.outcome import Verdict
from verification.reviews.disclosure import with_decisions
from verification.reviews.queue import selectors
from verification.reviews.queue.page import Row
from verification.reviews.queue.selectors import QueueFilters
from verification.runs.models import Finding, Review, ReviewState

MAX_SHOWN = 200
"""As many as can be decided together."""


@dataclass(frozen=True, slots=True)
class Alike:
    """One review of a group, with its own place of the finding they share."""

    row: Row
    finding: Finding | None

    @property
    def place(self) -> str:
        """Path and line."""
        found = self.finding
        return ":".join(str(part) for part in (found.path, found.line) if part) if found else ""

    @property
    def is_undecided(self) -> bool:
        return self.row.review.evaluation.verdict == Verdict.UNDECIDED

    @property
    def why_not(self) -> str:
        """Why it is not decided with the others; empty: it is."""
        row = self.row
        if row.was_answered:
            return "you have decided it"
        if row.review.is_adjudication:
            return "two people disagreed: it is decided alone"
        if row.review.reviewers > 1:
            return "two people decide it, each alone"
        if row.is_held and not row.is_mine:
            return f"{row.holder} has it now"
        return ""


@dataclass(frozen=True, slots=True)
class Shown:
    """A group's page. `hidden`: more than one page takes; `blind`: decided blind, one by one."""

    fingerprint: str
    alike: Sequence[Alike]
    hidden: int
    blind: int

    @property
    def leading(self) -> Finding | None:
        return next((one.finding for one in self.alike if one.finding), None)

    @property
    def undecided(self) -> int:
        """How many of those that can be decided the verifier came to no verdict about."""
        return sum(one.is_undecided for one in self.alike if not one.why_not)

    @property
    def decidable(self) -> int:
        return sum(not one.why_not for one in self.alike)


def waiting(access: Access, fingerprint: str) -> QuerySet[Review]:
    filters = QueueFilters(fingerprint=fingerprint)
    return selectors.reviews(access.project, filters, user=access.actor.user).filter(is_blind=False)


def shown(access: Access, fingerprint: str, now: datetime) -> Shown:
    """The group as it is now; of blind reviews only their number."""
    rows = waiting(access, fingerprint)
    found = list(with_decisions(rows)[:MAX_SHOWN])
    evaluations = [row.evaluation_id for row in found]
    findings = {
        finding.evaluation_id: finding
        for finding in Finding.objects.filter(evaluation__in=evaluations, fingerprint=fingerprint)
    }
    tab = ReviewState.PENDING
    return Shown(
        fingerprint=fingerprint,
        alike=[Alike(Row(row, access, tab, now), findings.get(row.evaluation_id)) for row in found],
        hidden=rows.count() - len(found) if len(found) == MAX_SHOWN else 0,
        blind=Review.objects.filter(
            project=access.project, state=tab, fingerprint=fingerprint, is_blind=True
        ).count(),
    )
