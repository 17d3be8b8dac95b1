"""Criteria that are counted without anyone's judgement."""

from __future__ import annotations

from decimal import Decimal

from verification.engine.cutover.evidence import Criterion, CriterionState, Evidence, Flips
from verification.engine.statistics.intervals import wilson

HOLDS, FAILS, WAITING = CriterionState.HOLDS, CriterionState.FAILS, CriterionState.WAITING
MIN_DISCORDANT = 25
MAX_FLIPS = 0.05
MIN_AA_PAIRS = 20
MAX_UNDECIDED = 0.01
MIN_PAIRS = 100
MAX_COST_RATIO = 1.5
MAX_LATENCY_RATIO = 2.0
UNNOTICED_MS = 250.0
"""Nobody waits for this long: a p95 below it holds whatever the old one's was."""
NO_PAIRS = "no pairs yet"


def more(count: int, what: str) -> str:
    """How much is missing: '1 more pair', '1,200 more pairs'."""
    return f"{count:,} more {what}{'' if count == 1 else 's'}"


def discordant_pairs(evidence: Evidence) -> Criterion:
    n = evidence.pairs.discordant
    lacking = max(0, MIN_DISCORDANT - n)
    return Criterion(
        "discordant_pairs", WAITING if lacking else HOLDS, n, MIN_DISCORDANT, n,
        missing=more(lacking, "discordant pair") if lacking else "",
    )  # fmt: skip


def old_flips(evidence: Evidence) -> Criterion:
    return _flips("old_flips", evidence.old_flips)


def new_flips(evidence: Evidence) -> Criterion:
    return _flips("new_flips", evidence.new_flips)


def undecided(evidence: Evidence) -> Criterion:
    pairs = evidence.pairs
    doubt = pairs.new_undecided + pairs.both_undecided
    return _at_most("undecided", doubt, pairs.all, MAX_UNDECIDED, (MIN_PAIRS, "pair"))


def cost(evidence: Evidence) -> Criterion:
    """A ratio of new to old. What was free and is not any more has none, and fails."""
    old, new, n = evidence.old_cost, evidence.new_cost, evidence.pairs.all
    if not n:
        return Criterion("cost", WAITING, None, MAX_COST_RATIO, 0, missing=NO_PAIRS)
    if not old and new > 0:
        told = "the old one costs nothing"
        return Criterion("cost", FAILS, None, MAX_COST_RATIO, n, missing=told)
    ratio = new / old if old else Decimal(1)
    state = HOLDS if ratio <= Decimal(str(MAX_COST_RATIO)) else FAILS
    return Criterion("cost", state, float(ratio), MAX_COST_RATIO, n)


def latency(evidence: Evidence) -> Criterion:
    """A ratio of new to old 95th percentile; None where the old one took no time at all."""
    old, new, n = evidence.old_p95_ms, evidence.new_p95_ms, evidence.pairs.all
    if not n:
        return Criterion("latency", WAITING, None, MAX_LATENCY_RATIO, 0, missing=NO_PAIRS)
    is_fine = new < UNNOTICED_MS or new <= MAX_LATENCY_RATIO * old
    ratio = new / old if old else None
    return Criterion("latency", HOLDS if is_fine else FAILS, ratio, MAX_LATENCY_RATIO, n)


def corpus(evidence: Evidence) -> Criterion:
    """Cases of the golden corpus that held before and do not hold with the new one: none."""
    found = evidence.corpus
    if found is None or not found.replayed:
        return Criterion("corpus", WAITING, None, 0, 0, missing="replay the golden corpus")
    state, missing = HOLDS, ""
    if found.regressed:
        state = FAILS
    elif found.not_judged:
        state, missing = WAITING, _not_judged(found.not_judged)
    elif found.unknown:
        state, missing = WAITING, _unknown(found.unknown)
    return Criterion("corpus", state, found.regressed, 0, found.replayed, missing=missing)


def _not_judged(count: int) -> str:
    return f"{count:,} {'case' if count == 1 else 'cases'} could not be judged"


def _unknown(count: int) -> str:
    fail = f"{count:,} {'case fails' if count == 1 else 'cases fail'}"
    return f"{fail} that what judges now was never replayed over: replay it, the held set too"


def _flips(name: str, found: Flips) -> Criterion:
    return _at_most(name, found.flips, found.n, MAX_FLIPS, (MIN_AA_PAIRS, "A/A pair"))


def _at_most(name: str, count: int, n: int, limit: float, needed: tuple[int, str]) -> Criterion:
    """A share that may not exceed its limit, once there are enough to tell."""
    minimum, what = needed
    found = wilson(count, n)
    share = count / n if n else None
    state, missing = HOLDS, ""
    if share is None or n < minimum:
        state, missing = WAITING, more(minimum - n, what)
    elif share > limit:
        state = FAILS
    return Criterion(name, state, share, limit, n, found.low, found.high, missing)
