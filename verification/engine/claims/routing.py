"""Where unconfirmed claims lead, by phase and by section. Source: docs/engine.md, "Claims"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from processes.definition.model import Enforcement, Severity, Target
from verification.engine.case import Case
from verification.engine.claims.labels import CONFIRMED, is_recommendation
from verification.engine.claims.settlement import ClaimState, CountedClaim
from verification.engine.claims.support import Support
from verification.engine.finding import Finding
from verification.engine.floors import is_on_critical_path
from verification.engine.outcome import Source

ID = "claims"
MAX_SHOWN = 20
MAX_NAMED = 5
MAX_NAMED_CHARS = 160
REMEDY = "Name the submitted evidence that confirms it, or take it out."
BLOCK, QUEUE_FOLLOW_UP = "block", "queue_follow_up"


class Weight(StrEnum):
    """What unconfirmed content means for the phase at hand."""

    BLOCKS = "blocks"
    PARTLY = "partly"
    WARNS = "warns"


@dataclass(frozen=True, slots=True)
class Route:
    """`is_tried`: confirm-or-prune comes first, and `weight` is that of what it leaves."""

    weight: Weight
    is_tried: bool = False


@dataclass(frozen=True, slots=True)
class Shortfall:
    """More is unconfirmed than may be. `numbers` are the places of these claims among all."""

    recommends: bool
    numbers: tuple[int, ...]
    total: int


def is_critical(case: Case) -> bool:
    """Return whether the work is on the critical path: a task may put it there."""
    return is_on_critical_path(case.phase, case.submission.task.is_critical_path)


def first_support(case: Case) -> Support:
    """The evidence as tier 1 reads it: where a judge is asked later, the judge reads the texts."""
    return Support(case.submission.evidence, reads_texts=case.tier == 1 or case.is_legacy)


def route_of(case: Case, *, recommends: bool) -> Route:
    if is_critical(case) or (case.phase.is_synthesis and recommends):
        behaviour = case.definition.remediation.get("critical_path_behavior", BLOCK)
        by_itself = case.verifier.flags.auto_confirm_prune_critical_path and not case.is_legacy
        return Route(
            Weight.BLOCKS if behaviour == BLOCK else Weight.PARTLY,
            is_tried=by_itself and behaviour != QUEUE_FOLLOW_UP,
        )
    if case.phase.advisory and not case.phase.is_synthesis and not recommends:
        return Route(Weight.WARNS)
    return Route(Weight.PARTLY)


def shortfalls(case: Case, claims: Sequence[CountedClaim]) -> tuple[Shortfall, ...]:
    """Recommendations have no limit to spare, the rest has that of the flags. Pruned do not count."""
    standing = [
        (number, claim)
        for number, claim in enumerate(claims)
        if claim.state is not ClaimState.PRUNED
    ]
    found = []
    for recommends in (True, False):
        of_side = [one for one in standing if is_recommendation(one[1]) is recommends]
        numbers = tuple(number for number, claim in of_side if claim.label != CONFIRMED)
        limit = 0.0 if recommends else case.verifier.flags.unconfirmed_supporting_threshold
        if numbers and len(numbers) / len(of_side) > limit:
            found.append(Shortfall(recommends, numbers, len(of_side)))
    return tuple(found)


def finding_of(
    case: Case, short: Shortfall, claims: Sequence[CountedClaim], *, tier: int = 1, tried: str = ""
) -> Finding:
    """Tell a shortfall as it weighs. `tried`: what confirm-or-prune could not do, a sentence."""
    weight = route_of(case, recommends=short.recommends).weight
    return Finding(
        rule=ID,
        reason_code=_reason_code(short, weight),
        message=" ".join(filter(None, (_counts(case, short), tried, named(claims, short.numbers)))),
        enforcement=Enforcement.ADVISORY if weight is Weight.WARNS else Enforcement.HARD,
        source=Source.LLM if tier > 1 else Source.DETERMINISTIC,
        tier=tier,
        target=Target.EVIDENCE,
        severity=Severity.WARNING if weight is Weight.WARNS else Severity.ERROR,
        place={"claims": list(short.numbers[:MAX_SHOWN])},
        suggestion=REMEDY,
    )


def named(claims: Sequence[CountedClaim], numbers: Sequence[int]) -> str:
    """Say which claims are meant, in a sentence of bounded length."""
    texts = [" ".join(claims[number].text.split()) for number in numbers[:MAX_NAMED]]
    told = "; ".join(f'"{_shortened(text)}"' for text in texts)
    more = len(numbers) - len(texts)
    return f"Unconfirmed: {told}; and {more} more." if more else f"Unconfirmed: {told}."


def _shortened(text: str) -> str:
    return text if len(text) <= MAX_NAMED_CHARS else f"{text[: MAX_NAMED_CHARS - 1]}…"


def _reason_code(short: Shortfall, weight: Weight) -> str:
    if weight is not Weight.BLOCKS:
        return "unconfirmed_above_threshold"
    return "recommendation_unconfirmed" if short.recommends else "unconfirmed_critical_path"


def _counts(case: Case, short: Shortfall) -> str:
    count = f"{len(short.numbers)} of {short.total}"
    if short.recommends:
        return f"{count} recommendations are not confirmed; each should be."
    limit = case.verifier.flags.unconfirmed_supporting_threshold
    return (
        f"{count} claims outside of recommendations are not confirmed; at most {limit:.0%} may be."
    )
