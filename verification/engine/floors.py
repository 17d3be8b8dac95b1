"""What a submission may raise and never lower below its phase."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from processes.definition.model import Phase

BELOW_PHASE = "tier.below_phase"


@dataclass(frozen=True, slots=True)
class BelowPhase:
    """`field` is the path of the value in a submission."""

    field: tuple[str, ...]
    message: str


def values_below_phase(
    phase: Phase, *, tier: int | None, is_critical_path: bool | None
) -> Iterator[BelowPhase]:
    """Yield each value of a submission that is below its phase. None means the phase's own value.

    Source: docs/process-format.md, "Phases".
    """
    if phase.may_lower_tier:
        return
    if tier is not None and tier < phase.verification_tier:
        yield BelowPhase(
            ("tier",),
            f"The phase {phase.id} is verified at tier {phase.verification_tier}. "
            f"Leave the tier out, or ask for {phase.verification_tier} or more.",
        )
    if is_critical_path is False and phase.is_critical_path:
        yield BelowPhase(
            ("task", "is_critical_path"),
            f"The phase {phase.id} is on the critical path. Leave this field out.",
        )


def is_on_critical_path(phase: Phase, of_task: bool | None) -> bool:
    """Return whether work is on the critical path. `of_task` is the submission's; None: none."""
    if of_task is None or (phase.is_critical_path and not phase.may_lower_tier):
        return phase.is_critical_path
    return of_task


def tier_of(phase: Phase, tier: int | None) -> int:
    """Return the highest tier of a verification. `tier` is the submission's; None or 0: none."""
    if not tier:
        return phase.verification_tier
    return tier if phase.may_lower_tier else max(tier, phase.verification_tier)
