"""All criteria together. Any that fails closes the gate; too little of anything does so too."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from verification.engine.cutover.adjudicated import difference, false_fails, unsafe_passes
from verification.engine.cutover.evidence import (
    Criterion,
    CriterionState,
    Evidence,
    Gate,
    GateState,
    Shown,
)
from verification.engine.cutover.measured import (
    corpus,
    cost,
    discordant_pairs,
    latency,
    new_flips,
    old_flips,
    undecided,
)
from verification.engine.statistics.intervals import wilson
from verification.engine.statistics.mcnemar import mcnemar

CRITERIA: Sequence[Callable[[Evidence], Criterion]] = (
    discordant_pairs,
    difference,
    false_fails,
    unsafe_passes,
    old_flips,
    new_flips,
    undecided,
    cost,
    latency,
    corpus,
)


def gate(evidence: Evidence) -> Gate:
    """Hold the evidence against all criteria. Source: docs/engine.md, "Cutover"."""
    criteria = tuple(criterion(evidence) for criterion in CRITERIA)
    pairs = evidence.pairs
    return Gate(
        state=_state({one.state for one in criteria}),
        criteria=criteria,
        pairs=pairs,
        p_value=mcnemar(pairs.laxer, pairs.stricter) if pairs.discordant else None,
        shown=tuple(_shown(evidence)),
    )


def _state(states: set[CriterionState]) -> GateState:
    if CriterionState.FAILS in states:
        return GateState.CLOSED
    if CriterionState.WAITING in states:
        return GateState.INSUFFICIENT_DATA
    return GateState.OPEN


def _shown(evidence: Evidence) -> Sequence[Shown]:
    pairs, people = evidence.pairs, evidence.people
    return (
        _share("laxer_unsafe", people.laxer_unsafe, people.laxer_judged),
        _share("stricter_wrong", people.stricter_wrong, people.stricter_judged),
        _share("old_undecided", pairs.old_undecided + pairs.both_undecided, pairs.all),
    )


def _share(name: str, count: int, n: int) -> Shown:
    if not n:
        return Shown(name, None, 0)
    found = wilson(count, n)
    return Shown(name, count / n, n, found.low, found.high)
