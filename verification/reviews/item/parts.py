"""What the page of a review is made of, as plain values."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from loomverify.accounts.access import person
from loomverify.accounts.models import ApiKey, User
from verification.engine.outcome import Outcome
from verification.reviews.models import Decision
from verification.runs import wording
from verification.runs.models import ReviewState
from verification.runs.run_page import ListedFinding

CLOSED = {
    ReviewState.HELD: "Nobody is asked: as many as a day may bring were flagged before it.",
    ReviewState.EXPIRED: "Nobody decided it in time. The run stays as the verifier left it.",
    ReviewState.WITHDRAWN: "Nobody needs to decide any more: the run settled itself.",
}


@dataclass(frozen=True, slots=True)
class Answer:
    """An outcome as a button. `is_usual`: Enter decides so."""

    key: str
    outcome: Outcome
    is_usual: bool

    @property
    def badge(self) -> wording.Badge:
        return wording.OUTCOMES[self.outcome]


@dataclass(frozen=True, slots=True)
class Doubted:
    """A finding with what the looker said of it; None: nothing yet."""

    listed: ListedFinding
    is_right: bool | None


@dataclass(frozen=True, slots=True)
class AskedRule:
    name: str
    words: str


@dataclass(frozen=True, slots=True)
class ShownDecision:
    row: Decision
    name: str

    @property
    def badge(self) -> wording.Badge:
        return wording.OUTCOMES[Outcome(self.row.outcome)]

    @property
    def first(self) -> wording.Badge | None:
        """What was said before the verdict was revealed, where it was something else."""
        said = self.row.first_outcome
        return wording.OUTCOMES[Outcome(said)] if said and said != self.row.outcome else None


def name_of(user: User | None, key: ApiKey | None) -> str:
    if user is not None:
        return person(user).name
    return key.name if key is not None else ""


def seconds_until(until: datetime | None, now: datetime) -> int:
    return max(0, (until - now) // timedelta(seconds=1)) if until else 0
