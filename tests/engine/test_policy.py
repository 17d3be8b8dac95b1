from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from processes.definition.model import Enforcement
from tests.engine.cases import finding
from tests.tables import check_rows
from verification.engine import policy
from verification.engine.finding import Finding, with_fingerprints
from verification.engine.outcome import FindingVerdict, Outcome, SeverityClass, Source, Verdict
from verification.engine.reasons import REASONS
from verification.engine.verifier import LEGACY_FLAGS, Flags

HARD, ADVISORY, OBSERVE = Enforcement.HARD, Enforcement.ADVISORY, Enforcement.OBSERVE
UNKNOWN = FindingVerdict.UNKNOWN
INFRA = {"reason_code": "infra_verifier_error", "verdict": UNKNOWN}
UNAVAILABLE = {"reason_code": "verifier_unavailable", "verdict": UNKNOWN}

FINDINGS = st.lists(
    st.builds(
        finding,
        reason_code=st.sampled_from(sorted(REASONS)),
        enforcement=st.sampled_from(Enforcement),
        verdict=st.sampled_from(FindingVerdict),
        tier=st.integers(1, 3),
        rule=st.sampled_from("abc"),
        message=st.sampled_from(["one", "two"]),
    ),
    max_size=6,
)


def decide(*findings: Finding, flags: Flags = Flags()) -> policy.Decision:  # noqa: B008
    return policy.decide(policy.ordered(with_fingerprints(findings), {}), flags)


@check_rows(
    ("findings", "outcome", "verdict"),
    [
        ([], "pass", "accept"),
        ([finding(enforcement=OBSERVE)], "pass", "accept"),
        ([finding(enforcement=ADVISORY)], "pass_with_warnings", "accept"),
        ([finding()], "fail", "reject"),
        ([finding(), finding(enforcement=ADVISORY)], "fail", "reject"),
        ([finding(**INFRA)], "fail", "undecided"),
        ([finding(verdict=UNKNOWN)], "fail", "undecided"),
        # Lost on an advisory rule: told, and nothing else.
        ([finding(**INFRA, enforcement=ADVISORY)], "pass", "accept"),
        ([finding(**UNAVAILABLE)], "partial_verified", "undecided"),
        ([finding(**UNAVAILABLE), finding(**INFRA)], "fail", "undecided"),
        # Certain blame beats doubt.
        ([finding(**UNAVAILABLE), finding()], "fail", "reject"),
        (
            [finding(reason_code="unconfirmed_above_threshold")],
            "partial_verified",
            "accept",
        ),
        (
            [finding(reason_code="unconfirmed_above_threshold"), finding(**UNAVAILABLE)],
            "partial_verified",
            "undecided",
        ),
        # A reason that alone would only warn rejects where a check calls it hard.
        ([finding(reason_code="changed_file_missing")], "fail", "reject"),
        ([finding(reason_code="no_tests", enforcement=ADVISORY)], "pass", "accept"),
    ],
)
def test_the_first_outcome_that_fits_holds(
    findings: list[Finding], outcome: str, verdict: str
) -> None:
    decision = decide(*findings)

    assert (decision.outcome, decision.verdict) == (outcome, verdict)


def test_the_reason_is_that_of_the_most_severe_finding() -> None:
    decision = decide(
        finding(reason_code="tool_failed", enforcement=ADVISORY),
        finding(reason_code="rule_violated"),
        finding(reason_code="deliverable_missing"),
        finding(**INFRA),
    )

    assert decision.reason_code == "deliverable_missing"
    assert decision.severity_class is SeverityClass.HARD_INVARIANT
    assert decision.review_reasons == ()


def test_findings_of_one_check_stand_in_the_order_of_the_calls() -> None:
    failed = [finding(message=str(number), place={"tool_call": number}) for number in range(12)]

    ordered = policy.ordered(with_fingerprints(failed[::-1]), {})

    assert [one.message for one in ordered] == [str(number) for number in range(12)]


def test_partly_verified_can_be_forbidden() -> None:
    strict = Flags(allow_partial_verified=False)

    unconfirmed = decide(finding(reason_code="recommendation_pruned"), flags=strict)
    unavailable = decide(finding(**UNAVAILABLE), flags=strict)

    assert (unconfirmed.outcome, unconfirmed.verdict) == (Outcome.FAIL, Verdict.REJECT)
    assert (unavailable.outcome, unavailable.verdict) == (Outcome.FAIL, Verdict.UNDECIDED)


@given(FINDINGS)
def test_an_accept_never_stands_beside_a_hard_finding_that_counts(findings: list[Finding]) -> None:
    decision = decide(*findings)

    counted = [
        one
        for one in findings
        if one.enforcement is HARD
        and one.verdict is not FindingVerdict.SATISFIED
        and (one.verdict is UNKNOWN or REASONS[one.reason_code].effect != "note")
        and REASONS[one.reason_code].effect != "accept_partly"
    ]
    assert (decision.verdict is Verdict.ACCEPT) <= (not counted)


@given(FINDINGS)
def test_only_a_violated_hard_finding_blames_the_work(findings: list[Finding]) -> None:
    decision = decide(*findings)

    blamed = any(
        one.enforcement is HARD and one.verdict is FindingVerdict.VIOLATED for one in findings
    )
    assert (decision.verdict is Verdict.REJECT) <= blamed


@given(FINDINGS)
def test_severity_class_and_verdict_agree(findings: list[Finding]) -> None:
    decision = decide(*findings)

    assert (decision.verdict is Verdict.UNDECIDED) == (
        decision.severity_class in (SeverityClass.INCONCLUSIVE, SeverityClass.INFRA)
    )
    assert (decision.verdict is Verdict.UNDECIDED) <= bool(decision.review_reasons)


@given(FINDINGS)
def test_the_old_engine_knows_two_outcomes(findings: list[Finding]) -> None:
    assert decide(*findings, flags=LEGACY_FLAGS).outcome in (Outcome.PASS, Outcome.FAIL)


@given(FINDINGS, st.randoms())
def test_the_order_of_findings_plays_no_part(findings: list[Finding], random: object) -> None:
    named = list(with_fingerprints(findings))
    shuffled = named.copy()
    random.shuffle(shuffled)  # type: ignore[attr-defined]

    assert policy.ordered(named, {}) == policy.ordered(shuffled, {})


LOST = {"verdict": UNKNOWN, "tier": 2, "source": Source.LLM}


@pytest.mark.parametrize(
    ("findings", "may_pass"),
    [
        ([finding(reason_code="infra_verifier_error", **LOST)], True),
        ([finding(reason_code="rate_limited", **LOST)], True),
        ([finding(reason_code="parse_inconclusive", **LOST)], True),
        ([finding(reason_code="budget_exhausted", **LOST)], False),
        ([finding(reason_code="verifier_unavailable", **LOST)], False),
        ([finding(reason_code="low_confidence", **LOST)], False),
        # One cause that stays is enough.
        (
            [
                finding(reason_code="rate_limited", **LOST),
                finding(reason_code="budget_exhausted", **LOST),
            ],
            False,
        ),
        # A check that could not look would not see more the next time.
        ([finding(**INFRA)], False),
        # Beside blame no doubt is left.
        ([finding(reason_code="rate_limited", **LOST), finding()], False),
        ([finding(enforcement=ADVISORY)], False),
        ([], False),
    ],
)
def test_doubt_may_pass_where_all_its_causes_may(findings: list[Finding], may_pass: bool) -> None:
    assert decide(*findings).may_pass is may_pass
