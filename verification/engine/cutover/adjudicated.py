"""Criteria that rest on what people said of pairs whose sides they could not tell apart."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from verification.engine.cutover.evidence import Criterion, Evidence, Pairs, People
from verification.engine.cutover.measured import (
    FAILS,
    HOLDS,
    MIN_DISCORDANT,
    NO_PAIRS,
    WAITING,
    more,
)
from verification.engine.statistics.intervals import (
    LEVEL,
    Interval,
    clopper_pearson,
    incomplete_beta,
    one_sided_upper,
)
from verification.engine.statistics.mcnemar import ALPHA, POWER, mcnemar, needed_discordant

MIN_REDUCTION = 0.5
MIN_FALSE_FAILS = 10
"""Fewer false fails of the old one say too little of how many are left."""
MIN_JUDGED = 20
"""Of each kind of pair that false fails are found among; all of them where there are fewer."""
MAX_UNSAFE = 0.01


def difference(evidence: Evidence) -> Criterion:
    """Exact McNemar over who was right where the sides differ: never significantly the old one.

    `value` is its p, `n` the discordant pairs of which people said that one side is right.
    """
    pairs, people = evidence.pairs, evidence.people
    for_new = people.false_fails_fixed + people.stricter_right
    for_old = people.laxer_unsafe + people.stricter_wrong
    n = for_new + for_old
    p = mcnemar(for_new, for_old)
    left = pairs.discordant - people.laxer_judged - people.stricter_judged
    lacking = min(left, MIN_DISCORDANT - n)
    state, missing = HOLDS, ""
    if p < ALPHA and for_old > for_new:
        state = FAILS
    elif not pairs.all:
        state, missing = WAITING, NO_PAIRS
    elif lacking > 0:
        state, missing = WAITING, f"judge {more(lacking, 'discordant pair')}"
    elif p >= ALPHA:
        missing = _for_power(for_new, n)
    return Criterion("difference", state, p if n else None, ALPHA, n, missing=missing)


def _for_power(for_new: int, n: int) -> str:
    needed = needed_discordant(for_new / n) if n else None
    if needed is None or needed <= n:
        return ""
    lacking = more(needed - n, "discordant pair")
    return f"{lacking} for {POWER * 100:.0f} % power at the effect seen"


def false_fails(evidence: Evidence) -> Criterion:
    """By how much the new one has fewer of them than the old one, 0 to 1; below 0 it has more.

    `n` is the old one's, as far as people found them. Held only if it is a half, and surely more
    than nothing.
    """
    people = evidence.people
    n = people.false_fails_fixed + people.false_fails_kept
    lacking = _to_judge(evidence.pairs, people)
    if not lacking and n < MIN_FALSE_FAILS:
        lacking = more(MIN_FALSE_FAILS - n, "false fail") + " of the old one"
    if lacking:
        return Criterion("false_fails", WAITING, None, MIN_REDUCTION, n, missing=lacking)
    reduction, found = _estimated(evidence.pairs, people).reduction
    state, missing = HOLDS, ""
    if reduction < MIN_REDUCTION:
        state = FAILS
    elif found.low <= 0:
        state, missing = WAITING, "more pairs: it may still be chance"
    return Criterion(
        "false_fails", state, reduction, MIN_REDUCTION, n, found.low, found.high, missing
    )


def _to_judge(pairs: Pairs, people: People) -> str:
    strata = (
        ("laxer move", pairs.laxer, people.laxer_judged),
        ("stricter move", pairs.stricter, people.stricter_judged),
        ("shared reject", pairs.both_reject, people.both_reject_judged),
    )
    lacking = [
        more(count, what)
        for what, there, judged in strata
        if (count := min(there, MIN_JUDGED) - judged) > 0
    ]
    return f"judge {_listed(lacking)}" if lacking else ""


def _listed(parts: list[str]) -> str:
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


@dataclass(frozen=True, slots=True)
class _Estimated:
    """False fails among all pairs, as those that people looked at tell them.

    `added` is the share of `differing` that the new one alone has.
    """

    kept: Interval
    kept_about: float
    differing: float
    added_about: float
    added: Interval

    @property
    def reduction(self) -> tuple[float, Interval]:
        about = self._at(self.added_about, self.kept_about)
        ends = [self._at(added, kept) for added in self._added_ends for kept in self._kept_ends]
        return about, Interval(min(ends), max(ends)).around(about)

    @property
    def _added_ends(self) -> tuple[float, float]:
        return self.added.low, self.added.high

    @property
    def _kept_ends(self) -> tuple[float, float]:
        return self.kept.low, self.kept.high

    def _at(self, added: float, kept: float) -> float:
        old, new = kept + (1 - added) * self.differing, kept + added * self.differing
        return 1 - new / old if old else 0.0


def _estimated(pairs: Pairs, people: People) -> _Estimated:
    """Each judged pair stands for those of its kind that nobody has judged.

    Where all are judged and none is kept, the interval is that of the exact test of McNemar.
    """
    for_laxer = pairs.laxer / people.laxer_judged if people.laxer_judged else 0.0
    for_stricter = pairs.stricter / people.stricter_judged if people.stricter_judged else 0.0
    fixed = people.false_fails_fixed * for_laxer
    added = people.false_fails_added * for_stricter
    differing = fixed + added
    share = added / differing if differing else 0.0
    weights = people.false_fails_fixed * for_laxer**2 + people.false_fails_added * for_stricter**2
    effective = differing**2 / weights if weights else 0.0
    left = pairs.both_reject - people.both_reject_judged
    unseen = clopper_pearson(people.false_fails_kept, people.both_reject_judged)
    seen = people.both_reject_judged
    about = people.false_fails_kept * (pairs.both_reject / seen if seen else 0.0)
    return _Estimated(
        kept=Interval(
            people.false_fails_kept + left * unseen.low,
            people.false_fails_kept + left * unseen.high,
        ),
        kept_about=about,
        differing=differing,
        added_about=share,
        added=clopper_pearson(share * effective, effective) if differing else Interval(0.0, 0.0),
    )


def unsafe_passes(evidence: Evidence) -> Criterion:
    """Passes of the new side alone that people would not have given, per decided pair.

    `high` is their one-sided upper bound at 95 %. `n` counts as many pairs as the judged part of
    those passes stands for.
    """
    pairs, people = evidence.pairs, evidence.people
    judged = people.laxer_judged + people.doubt_judged
    unsafe = people.laxer_unsafe + people.doubt_unsafe
    whole = pairs.decided + pairs.doubt_accepted
    n = whole * judged / pairs.new_passes if pairs.new_passes else float(whole)
    if not n:
        lacking = _for_bound(pairs.new_passes, 0, whole, 0) if whole else [NO_PAIRS]
        missing = " and ".join(lacking)
        return Criterion("unsafe_passes", WAITING, None, MAX_UNSAFE, 0, missing=missing)
    share, bound = unsafe / n, one_sided_upper(unsafe, n)
    state, missing = HOLDS, ""
    if share > MAX_UNSAFE:
        state = FAILS
    elif bound > MAX_UNSAFE:
        state, missing = WAITING, " and ".join(_for_bound(pairs.new_passes, judged, whole, unsafe))
    return Criterion("unsafe_passes", state, share, MAX_UNSAFE, int(n), high=bound, missing=missing)


def _for_bound(passes: int, judged: int, whole: int, unsafe: int) -> Iterator[str]:
    """What would bring the bound down, if nothing more is found unsafe."""
    needed = _needed_pairs(unsafe)
    to_judge = min(passes, math.ceil(needed * passes / whole)) - judged
    if to_judge > 0:
        yield f"judge {to_judge:,} more"
    if needed > whole:
        yield f"about {more(needed - whole, 'pair')}"


def _needed_pairs(unsafe: int) -> int:
    """The smallest number of pairs with so many unsafe passes that the bound allows."""
    low, high = unsafe, 2 * unsafe + 100
    while not _is_bound(unsafe, high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _is_bound(unsafe, middle) else (middle, high)
    return high


def _is_bound(unsafe: int, n: int) -> bool:
    return incomplete_beta(MAX_UNSAFE, unsafe + 1, n - unsafe) >= LEVEL
