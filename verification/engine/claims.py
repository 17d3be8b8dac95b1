"""Claims are counted here, never by whoever made them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import TypedDict

from verification.engine.evidence import Claim, Submission
from verification.engine.settlement import ClaimSource, ClaimState, CountedClaim

CONFIRMED, INFERRED, UNSUPPORTED = "confirmed", "inferred", "unsupported"
LABELS = (CONFIRMED, INFERRED, UNSUPPORTED)
RECOMMENDATIONS = ("recommendation", "recommendations")


class ClaimCounts(TypedDict):
    confirmed: int
    inferred: int
    unsupported: int
    recommendation_unconfirmed: int
    supporting_unconfirmed_ratio: float | None


def is_known_label(claim: Claim) -> bool:
    return _plain(claim.label) in LABELS


def label_of(claim: Claim, evidence_ids: Collection[str]) -> str:
    """The label that counts: nothing is confirmed without evidence that was submitted."""
    label = _plain(claim.label)
    if label not in LABELS:
        return UNSUPPORTED
    if label == CONFIRMED and not any(one in evidence_ids for one in claim.evidence):
        return INFERRED
    return label


def is_recommendation(claim: Claim | CountedClaim) -> bool:
    return _plain(claim.section) in RECOMMENDATIONS


def evidence_ids(submission: Submission) -> frozenset[str]:
    return frozenset(item.id for item in submission.evidence)


def counted_claims(
    claims: Sequence[Claim],
    evidence_ids: Collection[str] = (),
    source: ClaimSource = ClaimSource.SUBMISSION,
) -> tuple[CountedClaim, ...]:
    """Give each claim the label that holds, and say why where it is another than it came with."""
    return tuple(
        CountedClaim(
            text=claim.text,
            label=(label := label_of(claim, evidence_ids)),
            said=claim.label,
            section=claim.section,
            evidence=claim.evidence,
            source=source,
            note=_why_other(claim, label),
        )
        for claim in claims
    )


def totals_of(claims: Sequence[CountedClaim]) -> ClaimCounts:
    """Count claims by the label that holds; pruned ones do not count.

    `supporting_unconfirmed_ratio` is the unconfirmed share of all claims outside of
    recommendations, 0 to 1; `None` means there are none (not 0, not 1).
    """
    standing = [claim for claim in claims if claim.state is not ClaimState.PRUNED]
    by_label = Counter(claim.label for claim in standing)
    elsewhere = [claim.label for claim in standing if not is_recommendation(claim)]
    unconfirmed = sum(label != CONFIRMED for label in elsewhere)
    return ClaimCounts(
        confirmed=by_label[CONFIRMED],
        inferred=by_label[INFERRED],
        unsupported=by_label[UNSUPPORTED],
        recommendation_unconfirmed=sum(
            is_recommendation(claim) and claim.label != CONFIRMED for claim in standing
        ),
        supporting_unconfirmed_ratio=unconfirmed / len(elsewhere) if elsewhere else None,
    )


def _why_other(claim: Claim, label: str) -> str:
    if not is_known_label(claim):
        return "There is no such label."
    if label != _plain(claim.label):
        return "It names no evidence that was submitted."
    return ""


def _plain(word: str) -> str:
    return word.strip().lower()
