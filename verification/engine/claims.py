"""Claims are counted here, never by whoever made them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import TypedDict

from verification.engine.evidence import Claim

CONFIRMED, INFERRED, UNSUPPORTED = "confirmed", "inferred", "unsupported"
LABELS = (CONFIRMED, INFERRED, UNSUPPORTED)
RECOMMENDATION = "recommendation"


class ClaimCounts(TypedDict):
    confirmed: int
    inferred: int
    unsupported: int
    recommendation_unconfirmed: int
    supporting_unconfirmed_ratio: float | None


def label_of(claim: Claim, evidence_ids: Collection[str]) -> str:
    """The label that counts: nothing is confirmed without evidence that was submitted."""
    if claim.label not in LABELS:
        return UNSUPPORTED
    if claim.label == CONFIRMED and not any(one in evidence_ids for one in claim.evidence):
        return INFERRED
    return claim.label


def count_claims(claims: Sequence[Claim], evidence_ids: Collection[str] = ()) -> ClaimCounts:
    """Count claims by the label that holds.

    `supporting_unconfirmed_ratio` is the unconfirmed share of all claims outside of
    recommendations, 0 to 1; `None` means there are none (not 0, not 1).
    """
    labels = [(claim.section, label_of(claim, evidence_ids)) for claim in claims]
    by_label = Counter(label for _, label in labels)
    elsewhere = [label for section, label in labels if section != RECOMMENDATION]
    unconfirmed = sum(label != CONFIRMED for label in elsewhere)
    return ClaimCounts(
        confirmed=by_label[CONFIRMED],
        inferred=by_label[INFERRED],
        unsupported=by_label[UNSUPPORTED],
        recommendation_unconfirmed=sum(
            section == RECOMMENDATION and label != CONFIRMED for section, label in labels
        ),
        supporting_unconfirmed_ratio=unconfirmed / len(elsewhere) if elsewhere else None,
    )
