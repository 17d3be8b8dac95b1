"""The rollout's own targets: what each is held to, and whether its figures meet it.

Source: docs/acceptance.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from verification.engine.statistics.intervals import (
    Counted,
    Interval,
    clopper_pearson,
    newcombe,
    wilson,
)


class TargetState(StrEnum):
    MET = "met"
    MISSED = "missed"
    TOO_FEW = "too_few"


MET, MISSED, TOO_FEW = TargetState


@dataclass(frozen=True, slots=True)
class About:
    """What a target is. `limit` is what its value is held against; `counted` names its unit."""

    name: str
    title: str
    sentence: str
    bound: str
    limit: float
    needed: int
    counted: str


UNREADABLE = About(
    "unreadable",
    "Answers that cannot be read",
    "Of the runs that a judge answered: the answer could not be read in the end.",
    "under 1 %",
    0.01,
    100,
    "judged run",
)
RETRIES = About(
    "retries",
    "Asking again settles it",
    "Of the runs whose judge was asked again, the work not redone: decided by that.",
    "at least 90 %",
    0.90,
    20,
    "run asked again",
)
FALSE_FAILS = About(
    "false_fails",
    "Structural false fails halved",
    "Good work rejected for its form: by the policy engine, beside those by legacy.",
    "at least 50 % fewer",
    0.50,
    40,
    "case of known truth",
)
ESCAPED = About(
    "escaped",
    "Escaped defects do not rise",
    "Of the random sample accepted since a promotion: rejected by people; beside as long before.",
    "no significant rise",
    0.0,
    20,
    "decided sample",
)
NAMED = About(
    "named",
    "Every fail names its rule",
    "Of the rejected runs: each violation names its rule and how hard it counts.",
    "all",
    1.0,
    1,
    "rejected run",
)
TRACED = About(
    "traced",
    "Every rule says if it applied",
    "Of the runs of processes with rules: each rule is told of, as applied or skipped and why.",
    "all",
    1.0,
    1,
    "run with rules",
)
CROSS_PHASE = About(
    "cross_phase",
    "No failure across phases",
    "Of the golden cases judged last: rejected by a rule of another phase.",
    "none",
    0.0,
    1,
    "judged case",
)
COMPLETING = About(
    "completing",
    "Work held up by its form completes",
    "Of what the old side failed for structure or unconfirmed claims alone: accepted by the new.",
    "at least 90 %",
    0.90,
    20,
    "such comparison",
)
RECOMMENDATIONS = About(
    "recommendations",
    "Recommendations are confirmed",
    "Of the accepted runs with claims: passed as a whole with an unconfirmed recommendation.",
    "none",
    0.0,
    1,
    "accepted run with claims",
)
ABOUT: Mapping[str, About] = {
    one.name: one
    for one in (
        UNREADABLE,
        RETRIES,
        FALSE_FAILS,
        ESCAPED,
        NAMED,
        TRACED,
        CROSS_PHASE,
        COMPLETING,
        RECOMMENDATIONS,
    )
}


@dataclass(frozen=True, slots=True)
class Target:
    """One of them with its live figures.

    `value` is a share, 0 to 1, or for `false_fails` by how much there are fewer and for `escaped`
    by how much there are more; None: nothing to count. `low` and `high` bound it at 95 %. `n` is
    what the target rests on. `missing` says what would make a figure of too few.
    """

    about: About
    numerator: int
    denominator: int
    n: int
    value: float | None
    low: float | None
    high: float | None
    state: TargetState
    missing: str = ""
    note: str = ""

    @property
    def name(self) -> str:
        return self.about.name

    @property
    def rest(self) -> int:
        """Of the denominator, what was not counted."""
        return max(0, self.denominator - self.numerator)


def share_under(about: About, count: int, n: int) -> Target:
    """Met below the limit."""
    return _share(about, count, n, holds=bool(n) and count / n < about.limit)


def share_from(about: About, count: int, n: int) -> Target:
    """Met at the limit, and above."""
    return _share(about, count, n, holds=bool(n) and count / n >= about.limit)


def none_of(about: About, count: int, n: int, note: str = "") -> Target:
    """One is enough to miss it."""
    return _share(about, count, n, holds=not count, note=note)


def all_of(about: About, count: int, n: int) -> Target:
    """One that is missing is enough to miss it."""
    return _share(about, count, n, holds=count == n)


def _share(about: About, count: int, n: int, *, holds: bool, note: str = "") -> Target:
    if not n:
        return _nothing(about, note=note)
    found = wilson(count, n)
    surely_not = not found.low <= about.limit <= found.high and not holds
    state, missing = (MET if holds else MISSED), ""
    if n < about.needed and not surely_not:
        state, missing = TOO_FEW, more(about.needed - n, about.counted)
    return Target(about, count, n, n, count / n, found.low, found.high, state, missing, note)


@dataclass(frozen=True, slots=True)
class FalseFails:
    """Structural rejects of good work, among `known` cases whose truth is known.

    `fixed` are legacy's alone, `kept` both engines', `added` the policy engine's alone.
    """

    known: int = 0
    fixed: int = 0
    kept: int = 0
    added: int = 0

    @property
    def old(self) -> int:
        return self.fixed + self.kept

    @property
    def new(self) -> int:
        return self.added + self.kept

    def plus(self, other: FalseFails) -> FalseFails:
        return FalseFails(
            self.known + other.known,
            self.fixed + other.fixed,
            self.kept + other.kept,
            self.added + other.added,
        )

    @property
    def reduction(self) -> Interval:
        """The interval of by how much there are fewer: of those that differ, whose they are."""
        differing = self.fixed + self.added
        found = clopper_pearson(self.added, differing) if differing else Interval(0.0, 0.0)
        return Interval(self._with(found.high, differing), self._with(found.low, differing))

    def _with(self, share: float, differing: int) -> float:
        """The reduction, were this share of those that differ the policy engine's."""
        old = self.kept + (1 - share) * differing
        return 1 - (self.kept + share * differing) / old if old else -1.0


def halved(found: FalseFails) -> Target:
    """Met by half as many, surely more than none, over enough cases of known truth."""
    about = FALSE_FAILS
    if not found.old and not found.new:
        lacking = max(0, about.needed - found.known)
        missing = more(lacking, about.counted) if lacking else "legacy failed none of them falsely"
        return _nothing(about, n=found.known, missing=missing)
    value = 1 - found.new / found.old if found.old else -1.0
    ends = found.reduction.around(value)
    state, missing = (MET if value >= about.limit else MISSED), ""
    if found.known < about.needed:
        state, missing = TOO_FEW, more(about.needed - found.known, about.counted)
    elif state is MET and ends.low <= 0:
        state, missing = TOO_FEW, "more false fails of legacy: it may still be chance"
    return Target(
        about,
        found.new,
        found.old,
        found.known,
        value,
        max(-1.0, ends.low),
        ends.high,
        state,
        missing,
    )


def no_rise(before: Counted, after: Counted, note: str) -> Target:
    """Missed where the whole interval of the difference lies above nought."""
    about = ESCAPED
    lacking = [
        f"{more(about.needed - n, about.counted)} {when}"
        for n, when in ((before[1], "before"), (after[1], "since"))
        if n < about.needed
    ]
    if not before[1] or not after[1]:
        return Target(
            about, *after, after[1], None, None, None, TOO_FEW, " and ".join(lacking), note
        )
    rise = after[0] / after[1] - before[0] / before[1]
    found = newcombe(before, after)
    state = MISSED if found.low > 0 else TOO_FEW if lacking else MET
    missing = " and ".join(lacking) if state is TOO_FEW else ""
    return Target(about, *after, after[1], rise, found.low, found.high, state, missing, note)


def _nothing(about: About, *, n: int = 0, missing: str = "", note: str = "") -> Target:
    missing = missing or more(about.needed, about.counted)
    return Target(about, 0, 0, n, None, None, None, TOO_FEW, missing, note)


def more(count: int, what: str) -> str:
    """Of many words the first noun is the one that counts: "3 more runs asked again"."""
    if count == 1:
        return f"1 more {what}"
    for noun in ("run", "case", "sample", "comparison"):
        words = what.split(" ")
        if noun in words:
            words[words.index(noun)] += "s"
            return f"{count:,} more {' '.join(words)}"
    return f"{count:,} more {what}s"


def by_state(targets: Sequence[Target]) -> dict[TargetState, int]:
    return {state: sum(one.state is state for one in targets) for state in TargetState}
