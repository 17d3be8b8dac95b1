"""What a cutover rests on, and what it comes to."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum


class GateState(StrEnum):
    INSUFFICIENT_DATA = "insufficient_data"
    CLOSED = "closed"
    OPEN = "open"


class CriterionState(StrEnum):
    HOLDS = "holds"
    FAILS = "fails"
    WAITING = "waiting"


@dataclass(frozen=True, slots=True)
class Pairs:
    """Runs that both sides were compared on. Doubt on a side is apart.

    `doubt_accepted` are those of `old_undecided` that the new side accepts: passes that the old
    one would not have given.
    """

    both_accept: int = 0
    both_reject: int = 0
    laxer: int = 0
    stricter: int = 0
    old_undecided: int = 0
    new_undecided: int = 0
    both_undecided: int = 0
    doubt_accepted: int = 0

    @property
    def decided(self) -> int:
        return self.both_accept + self.both_reject + self.discordant

    @property
    def discordant(self) -> int:
        return self.laxer + self.stricter

    @property
    def new_passes(self) -> int:
        """Accepted by the new side alone."""
        return self.laxer + self.doubt_accepted

    @property
    def all(self) -> int:
        return self.decided + self.old_undecided + self.new_undecided + self.both_undecided


@dataclass(frozen=True, slots=True)
class People:
    """What people made of pairs that they could not tell apart.

    `laxer_unsafe`: accepted by the new side alone, and they found the reject right, or neither.
    `stricter_wrong`: rejected by the new side alone, and they found the accept right, or neither;
    `stricter_right`: they found the new side right. False fails are rejects of work that people
    would have accepted: `false_fails_fixed` by the new side, `false_fails_kept` by neither,
    `false_fails_added` by the new one. How many are kept is told by `both_reject_judged`, the
    pairs that both rejected and people looked at. `doubt_judged` and `doubt_unsafe`: of
    `Pairs.doubt_accepted`, as for laxer moves.
    """

    laxer_judged: int = 0
    laxer_unsafe: int = 0
    stricter_judged: int = 0
    stricter_wrong: int = 0
    stricter_right: int = 0
    false_fails_fixed: int = 0
    false_fails_kept: int = 0
    false_fails_added: int = 0
    both_reject_judged: int = 0
    doubt_judged: int = 0
    doubt_unsafe: int = 0


@dataclass(frozen=True, slots=True)
class Flips:
    """A/A pairs of one verifier that decided twice, and those of them that decided otherwise."""

    flips: int = 0
    n: int = 0


@dataclass(frozen=True, slots=True)
class Corpus:
    """The candidate's last replay of the golden corpus, canary cases included.

    `unknown` fail in it, and what judges now was never replayed over them.
    """

    replayed: int
    regressed: int
    not_judged: int
    unknown: int = 0


@dataclass(frozen=True, slots=True)
class Evidence:
    """All that a cutover rests on. Costs in USD and the 95th percentiles (ms) of both sides.

    `corpus` None: not replayed, or not as the corpus is now.
    """

    pairs: Pairs = field(default=Pairs())
    people: People = field(default=People())
    old_flips: Flips = field(default=Flips())
    new_flips: Flips = field(default=Flips())
    old_cost: Decimal = Decimal(0)
    new_cost: Decimal = Decimal(0)
    old_p95_ms: float = 0.0
    new_p95_ms: float = 0.0
    corpus: Corpus | None = None


@dataclass(frozen=True, slots=True)
class Criterion:
    """One of the conditions.

    `value`, `low` and `high` are shares (0 to 1), ratios or counts, `limit` is what the value is
    held against, `n` what it was counted over. `missing` says what would settle it, '' where
    nothing is missing.
    """

    name: str
    state: CriterionState
    value: float | None
    limit: float
    n: int
    low: float | None = None
    high: float | None = None
    missing: str = ""


@dataclass(frozen=True, slots=True)
class Shown:
    """A figure that stands beside and closes nothing: a share of `n`, 0 to 1, with its interval."""

    name: str
    value: float | None
    n: int
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Gate:
    """`p_value`: how surely the two sides decide otherwise at all, by laxer against stricter moves.

    It says nothing of who is right: that is the criterion `difference`. None: no pair differs.
    """

    state: GateState
    criteria: tuple[Criterion, ...]
    pairs: Pairs
    p_value: float | None
    shown: tuple[Shown, ...] = ()
