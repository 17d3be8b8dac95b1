from __future__ import annotations

import pytest

from tests.engine.cases import evaluate
from verification.engine.claims import count_claims, label_of
from verification.engine.evidence import Claim, EvidenceItem


@pytest.mark.parametrize(
    ("label", "evidence", "counts_as"),
    [
        ("confirmed", ("e1",), "confirmed"),
        ("confirmed", ("e9",), "inferred"),
        ("confirmed", (), "inferred"),
        ("inferred", ("e1",), "inferred"),
        ("unsupported", ("e1",), "unsupported"),
        ("certain!", ("e1",), "unsupported"),
    ],
)
def test_nothing_is_confirmed_without_evidence_that_was_submitted(
    label: str, evidence: tuple[str, ...], counts_as: str
) -> None:
    assert label_of(Claim("It is so.", label, "other", evidence), {"e1"}) == counts_as


def test_claims_are_counted_by_the_engine() -> None:
    claims = (
        Claim("a", "confirmed", "supporting", ("e1",)),
        Claim("b", "inferred", "other"),
        Claim("c", "confirmed", "recommendation"),
    )

    conclusion = evaluate(claims=claims, evidence=(EvidenceItem("e1"),))

    assert conclusion.claims == {
        "confirmed": 1,
        "inferred": 2,
        "unsupported": 0,
        "recommendation_unconfirmed": 1,
        "supporting_unconfirmed_ratio": 0.5,
    }


def test_without_claims_there_is_no_share_of_them() -> None:
    assert count_claims(())["supporting_unconfirmed_ratio"] is None
