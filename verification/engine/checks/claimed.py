"""Claims as the work labels them: how much of it nothing confirms, and whether that may be."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from enum import StrEnum

from processes.definition.model import Enforcement, Target
from verification.engine import claims
from verification.engine.case import Case, Ports
from verification.engine.checks.drafts import violated
from verification.engine.checks.registry import Observation, check
from verification.engine.evidence import Claim
from verification.engine.finding import Finding

ID = "claims"
MAX_SHOWN = 20
MAX_LABEL_CHARS = 40
REMEDY = "Name the submitted evidence that confirms it, or take it out."

Numbered = tuple[int, Claim]


class Weight(StrEnum):
    """What unconfirmed content means for the phase at hand."""

    BLOCKS = "blocks"
    PARTLY = "partly"
    WARNS = "warns"


@check(ID)
def claimed(case: Case, _ports: Ports) -> Iterator[Observation]:
    yield from _unknown_labels(case.submission.claims)
    held = claims.evidence_ids(case.submission)
    told: dict[bool, list[Numbered]] = {True: [], False: []}
    unconfirmed: dict[bool, list[Numbered]] = {True: [], False: []}
    for number, claim in enumerate(case.submission.claims):
        recommends = claims.is_recommendation(claim)
        told[recommends].append((number, claim))
        if claims.label_of(claim, held) != claims.CONFIRMED:
            unconfirmed[recommends].append((number, claim))
    if unconfirmed[True]:
        yield _recommendations(case, unconfirmed[True], len(told[True]))
    limit = case.verifier.flags.unconfirmed_supporting_threshold
    if told[False] and len(unconfirmed[False]) / len(told[False]) > limit:
        yield _elsewhere(case, unconfirmed[False], len(told[False]))


def is_critical(case: Case) -> bool:
    """The task's word stands above the phase's."""
    of_task = case.submission.task.is_critical_path
    return case.phase.is_critical_path if of_task is None else of_task


def weight_of(case: Case, *, recommends: bool) -> Weight:
    """Source: docs/engine.md, "Claims"."""
    if is_critical(case) or (case.phase.is_synthesis and recommends):
        blocks = case.definition.remediation.get("critical_path_behavior", "block") == "block"
        return Weight.BLOCKS if blocks else Weight.PARTLY
    if case.phase.advisory and not case.phase.is_synthesis:
        return Weight.WARNS
    return Weight.PARTLY


def _recommendations(case: Case, unconfirmed: Sequence[Numbered], total: int) -> Finding:
    weight = weight_of(case, recommends=True)
    blocked = weight is Weight.BLOCKS
    return _finding(
        "recommendation_unconfirmed" if blocked else "unconfirmed_above_threshold",
        f"{len(unconfirmed)} of {total} recommendations are not confirmed; each should be.",
        weight,
        unconfirmed,
    )


def _elsewhere(case: Case, unconfirmed: Sequence[Numbered], total: int) -> Finding:
    weight = weight_of(case, recommends=False)
    limit = case.verifier.flags.unconfirmed_supporting_threshold
    return _finding(
        "unconfirmed_critical_path" if weight is Weight.BLOCKS else "unconfirmed_above_threshold",
        f"{len(unconfirmed)} of {total} claims outside of recommendations are not confirmed;"
        f" at most {limit:.0%} may be.",
        weight,
        unconfirmed,
    )


def _finding(
    reason_code: str, message: str, weight: Weight, unconfirmed: Sequence[Numbered]
) -> Finding:
    return violated(
        ID,
        reason_code,
        message,
        enforcement=Enforcement.ADVISORY if weight is Weight.WARNS else Enforcement.HARD,
        target=Target.EVIDENCE,
        place={"claims": [number for number, _ in unconfirmed[:MAX_SHOWN]]},
        suggestion=REMEDY,
    )


def _unknown_labels(submitted: Sequence[Claim]) -> Iterator[Finding]:
    """One finding for each label that does not exist, not for each claim that carries it."""
    by_label: defaultdict[str, list[int]] = defaultdict(list)
    for number, claim in enumerate(submitted):
        if not claims.is_known_label(claim):
            by_label[claim.label[:MAX_LABEL_CHARS]].append(number)
    for label, numbers in list(by_label.items())[:MAX_SHOWN]:
        yield violated(
            ID,
            "claim_label_invalid",
            f"There is no label {label!r}: what carries it counts as unsupported.",
            target=Target.EVIDENCE,
            place={"claims": numbers[:MAX_SHOWN]},
            suggestion=f"Use one of {', '.join(claims.LABELS)}.",
        )
