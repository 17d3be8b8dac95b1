"""Claims are counted here, never by whoever made them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import TypedDict

from verification.engine.evidence import Claim, Submission

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


def is_recommendation(claim: Claim) -> bool:
    return _plain(claim.section) in RECOMMENDATIONS


def evidence_ids(submission: Submission) -> frozenset[str]:
    return frozenset(item.id for item in submission.evidence)


def count_claims(claims: Sequence[Claim], evidence_ids: Collection[str] = ()) -> ClaimCounts:
    """Count claims by the label that holds.

    `supporting_unconfirmed_ratio` is the unconfirmed share of all claims outside of
    recommendations, 0 to 1; `None` means there are none (not 0, not 1).
    """
    labels = [(is_recommendation(claim), label_of(claim, evidence_ids)) for claim in claims]
    by_label = Counter(label for _, label in labels)
    elsewhere = [label for recommends, label in labels if not recommends]
    unconfirmed = sum(label != CONFIRMED for label in elsewhere)
    return ClaimCounts(
        confirmed=by_label[CONFIRMED],
        inferred=by_label[INFERRED],
        unsupported=by_label[UNSUPPORTED],
        recommendation_unconfirmed=sum(
            recommends and label != CONFIRMED for recommends, label in labels
        ),
        supporting_unconfirmed_ratio=unconfirmed / len(elsewhere) if elsewhere else None,
    )


def _plain(word: str) -> str:
    return word.strip().lower()
