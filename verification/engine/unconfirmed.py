"""What becomes of claims that nothing confirms: confirmed, taken out, left for people, or blamed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from verification.engine.case import Case, Ports
from verification.engine.claims import counted_claims, evidence_ids
from verification.engine.evidence import Claim
from verification.engine.finding import Finding
from verification.engine.judging import Conversation
from verification.engine.settlement import Artefact, CountedClaim

AssessAgain = Callable[[Case, Ports], tuple[Finding, ...]]
"""Semantic verification once more, of a case and files without what was taken out."""


@dataclass(frozen=True, slots=True)
class Settled:
    """`claims` as they count; `note` says what was left out of them, '' where nothing was."""

    findings: tuple[Finding, ...] = ()
    claims: tuple[CountedClaim, ...] = ()
    artefacts: tuple[Artefact, ...] = ()
    note: str = ""


def settle(
    case: Case,
    ports: Ports,
    judged: Sequence[Claim] = (),
    talk: Conversation | None = None,
    judge: str = "",
    assess_again: AssessAgain | None = None,
    *,
    is_rejected: bool = False,
) -> Settled:
    """Settle the claims once, at the end of the highest of tiers 1 and 2 that was asked for.

    `judged` are the judge's own claims. Without `talk` nothing can be confirmed. `is_rejected`:
    the work is at fault already, so that its claims are only counted.

    Source: docs/engine.md, "Claims".
    """
    return Settled(claims=counted_claims(case.submission.claims, evidence_ids(case.submission)))
