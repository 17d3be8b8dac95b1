from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.cases import PASSING, evaluate, judge_of, judged_case, llm, ports, told
from tests.tables import check_rows
from verification.engine.claims.labels import label_of, totals_of
from verification.engine.claims.support import Support
from verification.engine.climb import climb, conclude
from verification.engine.evidence import Claim, EvidenceItem
from verification.engine.verifier import LEGACY_FLAGS, Flags

EVIDENCE = (EvidenceItem("e1", text="It is so: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9."),)
CRITICAL, SYNTHESIS = {"is_critical_path": True}, {"is_synthesis": True}
MAY_LOWER, OFF_CRITICAL = {"may_lower_tier": True}, {"is_critical_path": False}
QUEUE = {"critical_path_behavior": "queue_follow_up"}
BLOCKED_ADVICE = ("fail", "reject", "recommendation_unconfirmed")
BLOCKED = ("fail", "reject", "unconfirmed_critical_path")
PARTLY = ("partial_verified", "accept", "unconfirmed_above_threshold")
WARNED = ("pass_with_warnings", "accept", "unconfirmed_above_threshold")
FINE = ("pass", "accept", "")


def made(section: str, *labels: str) -> tuple[Claim, ...]:
    return tuple(
        Claim(f"{section} {number} is so", label, section, ("e1",))
        for number, label in enumerate(labels)
    )


ADVICE = made("recommendation", "confirmed", "inferred")
A_THIRD = made("supporting", "confirmed", "confirmed", "inferred")
THREE_OF_TEN = made("other", *["confirmed"] * 7, *["unsupported"] * 3)


@pytest.mark.parametrize(
    ("label", "evidence", "counts_as"),
    [
        ("confirmed", ("e1",), "confirmed"),
        ("confirmed", ("e9", "e1"), "confirmed"),
        (" Confirmed ", ("e1",), "confirmed"),
        ("confirmed", ("e9",), "inferred"),
        ("confirmed", (), "inferred"),
        ("inferred", ("e1",), "inferred"),
        ("unsupported", ("e1",), "unsupported"),
        ("certain!", ("e1",), "unsupported"),
        ("", ("e1",), "unsupported"),
    ],
)
def test_nothing_is_confirmed_without_evidence_that_was_submitted(
    label: str, evidence: tuple[str, ...], counts_as: str
) -> None:
    assert label_of(Claim("It is so.", label, "other", evidence), Support(EVIDENCE)) == counts_as


def test_claims_are_counted_by_the_engine() -> None:
    claims = (
        Claim("It is so.", "confirmed", "supporting", ("e1",)),
        Claim("b", "inferred", "other"),
        Claim("c", "confirmed", "Recommendation"),
    )

    conclusion = evaluate(claims=claims, evidence=EVIDENCE)

    assert conclusion.claims == {
        "confirmed": 1,
        "inferred": 2,
        "unsupported": 0,
        "recommendation_unconfirmed": 1,
        "supporting_unconfirmed_ratio": 0.5,
    }


def test_without_claims_there_is_no_share_of_them() -> None:
    assert totals_of(())["supporting_unconfirmed_ratio"] is None


@check_rows(
    ("claims", "about", "expected"),
    [
        ((), {}, FINE),
        (made("recommendation", "confirmed"), {"of_phase": CRITICAL}, FINE),
        (THREE_OF_TEN, {"of_phase": CRITICAL}, FINE),
        (ADVICE, {"of_phase": CRITICAL}, BLOCKED_ADVICE),
        (A_THIRD, {"of_phase": CRITICAL}, BLOCKED),
        (ADVICE, {"of_phase": CRITICAL, "remediation": QUEUE}, PARTLY),
        (A_THIRD, {"of_phase": CRITICAL, "remediation": QUEUE}, PARTLY),
        (ADVICE, {"of_phase": SYNTHESIS}, BLOCKED_ADVICE),
        (A_THIRD, {"of_phase": SYNTHESIS}, PARTLY),
        (ADVICE, {}, PARTLY),
        (A_THIRD, {}, PARTLY),
        (ADVICE, {"of_phase": {"advisory": True}}, PARTLY),
        (A_THIRD, {"of_phase": {"advisory": True}}, WARNED),
        # The strictest that a phase says of itself.
        (A_THIRD, {"of_phase": {"advisory": True, **CRITICAL}}, BLOCKED),
        # A task raises its phase, and lowers it where the phase allows that.
        (A_THIRD, {"of_task": CRITICAL}, BLOCKED),
        (A_THIRD, {"of_phase": CRITICAL | MAY_LOWER, "of_task": OFF_CRITICAL}, PARTLY),
        (A_THIRD, {"of_phase": CRITICAL, "of_task": OFF_CRITICAL}, BLOCKED),
        (ADVICE, {"flags": Flags(allow_partial_verified=False)}, ("fail", "reject", PARTLY[2])),
        (A_THIRD, {"flags": Flags(unconfirmed_supporting_threshold=0.5)}, FINE),
        # The old engine did not look at claims.
        ((*ADVICE, *A_THIRD), {"of_phase": CRITICAL, "flags": LEGACY_FLAGS}, FINE),
    ],
)
def test_what_unconfirmed_claims_mean_for_a_phase(
    claims: tuple[Claim, ...], about: dict[str, Any], expected: tuple[str, str, str]
) -> None:
    conclusion = evaluate(claims=claims, evidence=EVIDENCE, **about)

    assert (conclusion.outcome, conclusion.verdict, conclusion.reason_code) == expected


def test_advice_and_the_rest_are_two_problems_that_name_their_claims() -> None:
    conclusion = evaluate(claims=(*ADVICE, *A_THIRD), evidence=EVIDENCE, of_phase=CRITICAL)

    assert told(conclusion) == [
        ("claims", "hard", "recommendation_unconfirmed"),
        ("claims", "hard", "unconfirmed_critical_path"),
    ]
    assert [one.place for one in conclusion.findings] == [{"claims": [1]}, {"claims": [4]}]
    assert conclusion.retry_strategy == "unconfirmed_data"


def test_an_unknown_label_is_noted_once_however_many_carry_it() -> None:
    claims = made("other", "certain!", "certain!", "sure")

    conclusion = evaluate(claims=claims, evidence=EVIDENCE, of_phase={"advisory": True})

    assert told(conclusion) == [
        ("claims", "advisory", "unconfirmed_above_threshold"),
        ("claims", "advisory", "claim_label_invalid"),
        ("claims", "advisory", "claim_label_invalid"),
    ]
    assert [one.place for one in conclusion.findings[1:]] == [{"claims": [0, 1]}, {"claims": [2]}]


def test_partly_confirmed_work_is_still_looked_at_by_the_judge() -> None:
    asked = judged_case(claims=A_THIRD, tier=2, rules=[llm("why")])

    tiers = list(climb(asked, ports(judge=judge_of(PASSING))))

    assert [(one.tier, one.status) for one in tiers] == [(1, "passed"), (2, "passed")]
    assert conclude(asked, tiers).outcome == "partial_verified"


@given(st.lists(st.builds(Claim, st.text(max_size=5), st.text(max_size=12), st.text(max_size=12))))
def test_no_label_or_section_is_too_odd_to_be_counted(claims: list[Claim]) -> None:
    counts = evaluate(claims=tuple(claims)).claims

    assert counts["confirmed"] + counts["inferred"] + counts["unsupported"] == len(claims)
    assert 0 <= (counts["supporting_unconfirmed_ratio"] or 0) <= 1
