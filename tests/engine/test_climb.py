from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from processes.definition.model import Enforcement
from tests.engine.cases import (
    PASSING,
    case,
    evaluate,
    finding,
    judge_of,
    judged_case,
    llm,
    ports,
    regex,
    told,
)
from verification.engine.climb import TierReport, climb, conclude
from verification.engine.finding import Finding, with_fingerprints
from verification.engine.outcome import FindingVerdict, Source, Status
from verification.engine.verifier import LEGACY_FLAGS, Flags

HARD_X = regex("no-x", "x", enforcement=Enforcement.HARD)


def test_work_without_a_fault_passes_tier_one_and_is_not_overrated() -> None:
    conclusion = evaluate(output="fine", rules=[HARD_X])

    assert (conclusion.outcome, conclusion.verdict) == ("pass", "accept")
    assert conclusion.reason_code == ""
    assert (conclusion.tier_achieved, conclusion.confidence) == (1, None)
    assert conclusion.confidence_level == "MEDIUM"


@pytest.mark.parametrize("tier", [2, 3])
def test_without_a_judge_nothing_that_asks_for_one_is_accepted(tier: int) -> None:
    conclusion = evaluate(output="fine", tier=tier)

    assert (conclusion.outcome, conclusion.verdict) == ("partial_verified", "undecided")
    assert conclusion.reason_code == "verifier_unavailable"
    assert conclusion.review_reasons == ("verifier_unavailable",)
    assert (conclusion.tier_achieved, conclusion.confidence) == (1, None)
    assert conclusion.confidence_level == "MEDIUM"


def test_a_hard_failure_rejects_before_anyone_looks_for_a_judge() -> None:
    asked = case(rules=[HARD_X], output="x", tier=2)

    tiers = list(climb(asked, ports()))

    assert [(one.tier, one.status) for one in tiers] == [(1, "failed")]
    assert conclude(asked, tiers).verdict == "reject"


@pytest.mark.parametrize("switched_off", [Flags(tier2_enabled=False), Flags(tier3_enabled=False)])
def test_a_tier_that_is_switched_off_is_not_taken_for_passed(switched_off: Flags) -> None:
    on = judged_case(output="fine", tier=3)
    off = replace(on, verifier=replace(on.verifier, flags=switched_off))
    reach = ports(judge=judge_of(PASSING))

    with_all = conclude(on, list(climb(on, reach)))
    without = conclude(off, list(climb(off, reach)))

    assert (with_all.verdict, without.verdict) == ("accept", "undecided")


def test_a_judge_that_is_there_is_asked_once_per_tier() -> None:
    asked = judged_case(output="fine", tier=3)

    tiers = list(climb(asked, ports(judge=judge_of(PASSING))))
    conclusion = conclude(asked, tiers)

    assert [one.tier for one in tiers] == [1, 2, 3]
    assert (conclusion.tier_achieved, conclusion.confidence) == (3, 0.9)
    assert conclusion.confidence_level == "HIGH"


def test_another_worker_goes_on_from_what_was_saved() -> None:
    asked = case(output="fine", tier=2)
    whole = list(climb(asked, ports()))
    saved = [TierReport.from_json(json.loads(json.dumps(whole[0].to_json())))]

    rest = list(climb(asked, ports(), saved))

    assert [one.tier for one in rest] == [2]
    assert conclude(asked, [*saved, *rest]) == conclude(asked, whole)


def test_a_saved_hard_failure_is_not_climbed_over() -> None:
    asked = case(rules=[HARD_X], output="x", tier=2)
    [saved] = climb(asked, ports())

    assert list(climb(asked, ports(), [saved])) == []


def test_all_checks_look_even_after_one_has_failed() -> None:
    conclusion = evaluate(
        rules=[HARD_X], output="x", return_code=3, deliverables=["a.md"], expected_outputs=["b.md"]
    )

    assert told(conclusion) == [
        ("return-code", "hard", "nonzero_return_code"),
        ("deliverables-exist", "hard", "deliverable_missing"),
        ("deliverables-exist", "hard", "deliverable_missing"),
        ("no-x", "hard", "rule_violated"),
    ]


def test_rules_that_no_judge_came_to_are_traced_as_such() -> None:
    conclusion = evaluate(rules=[llm("why"), HARD_X], output="fine", tier=2)

    assert [(one.rule, one.applied, one.reason) for one in conclusion.trace] == [
        ("why", False, "tier_not_reached"),
        ("no-x", True, "every_phase"),
    ]


def test_two_rules_of_one_name_are_both_traced() -> None:
    twins = [regex("no", "x"), regex("no", "y")]

    conclusion = evaluate(rules=twins, output="x")

    assert [entry.verdict for entry in conclusion.trace] == ["violated", "satisfied"]


@pytest.mark.parametrize(
    ("about", "policy", "legacy"),
    [
        ({"rules": [regex("no-x", "x")], "output": "x"}, "pass_with_warnings", "fail"),
        (
            {"rules": [regex("no-x", "x", applies_to_phases=("plan",))], "output": "x"},
            "pass",
            "fail",
        ),
        ({"files": {"a.json": "{"}}, "pass_with_warnings", "fail"),
        ({"files": {"a.json": '{"a": NaN}'}}, "pass_with_warnings", "pass"),
        ({"files": {"a.png": "<html>"}}, "pass_with_warnings", "pass"),
        ({"rules": [regex("bad", "(?=x)")], "output": "x"}, "pass", "pass"),
        ({"return_code": 1}, "fail", "fail"),
        ({"output": "fine"}, "pass", "pass"),
    ],
)
def test_the_same_work_under_the_new_and_the_old_engine(
    about: dict[str, object], policy: str, legacy: str
) -> None:
    new = evaluate(**about)  # type: ignore[arg-type]
    old = evaluate(**about, flags=LEGACY_FLAGS)  # type: ignore[arg-type]

    assert (new.outcome, old.outcome) == (policy, legacy)


REPORTS = st.lists(
    st.builds(
        finding,
        rule=st.sampled_from(["no-x", "other"]),
        message=st.text(max_size=20),
        reason_code=st.sampled_from(["rule_violated", "infra_verifier_error", "odd_payload"]),
        enforcement=st.sampled_from(Enforcement),
        verdict=st.sampled_from(FindingVerdict),
        source=st.sampled_from(Source),
        line=st.none() | st.integers(1, 9),
        place=st.dictionaries(st.text(max_size=5), st.integers()),
    ),
    max_size=5,
).map(
    lambda findings: TierReport(
        1, Status.FAILED, with_fingerprints(findings), cost_usd="0.000012", confidence=1.0
    )
)


@given(REPORTS)
def test_a_saved_report_is_read_back_as_it_was(report: TierReport) -> None:
    assert TierReport.from_json(json.loads(json.dumps(report.to_json()))) == report


@given(REPORTS, st.randoms())
def test_a_conclusion_ignores_the_order_of_findings(report: TierReport, random: object) -> None:
    asked = case(rules=[HARD_X])
    shuffled = list(report.findings)
    random.shuffle(shuffled)  # type: ignore[attr-defined]

    conclusion = conclude(asked, [report])

    assert conclude(asked, [replace(report, findings=tuple(shuffled))]) == conclusion


def test_two_tiers_conclude_the_same_in_either_order() -> None:
    asked = case(output="fine", tier=2)
    tiers = list(climb(asked, ports()))

    assert conclude(asked, tiers) == conclude(asked, tiers[::-1])


def test_identical_findings_of_one_rule_have_names_of_their_own() -> None:
    conclusion = evaluate(rules=[regex("no-x", "x")], output="x\nx\nx")

    assert len({one.fingerprint for one in conclusion.findings}) == 3


def test_a_fingerprint_survives_moved_lines() -> None:
    def fingerprints(output: str) -> list[str]:
        findings: tuple[Finding, ...] = evaluate(rules=[HARD_X], output=output).findings
        return [one.fingerprint for one in findings]

    assert fingerprints("x") == fingerprints("\n\n\n  x")
