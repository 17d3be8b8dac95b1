from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from processes.definition.model import Enforcement
from tests.engine.cases import case, finding, ports
from tests.engine.strategies import gate_reports
from tests.tables import check_rows
from verification.engine import confidence
from verification.engine.climb import climb, conclude
from verification.engine.finding import Finding
from verification.engine.gates import GateReport, all_tests_passed
from verification.engine.gating.findings import findings_of
from verification.engine.golden.given import RecordedGates
from verification.engine.outcome import (
    Action,
    ConfidenceLevel,
    FindingVerdict,
    Source,
    Status,
    Verdict,
)
from verification.engine.reports.model import TestCounts

ACCEPT, REJECT, UNDECIDED = Verdict.ACCEPT, Verdict.REJECT, Verdict.UNDECIDED
LOW = finding(reason_code="low_confidence", enforcement=Enforcement.ADVISORY)
NO_TESTS = finding(reason_code="no_tests", enforcement=Enforcement.ADVISORY)
CONCERN = finding(source=Source.LLM, enforcement=Enforcement.ADVISORY)


@check_rows(
    ("verdict", "findings", "reached", "level"),
    [
        (ACCEPT, [], {}, "MEDIUM"),
        (ACCEPT, [], {"tests_passed": True}, "HIGH"),
        (ACCEPT, [], {"tier_requested": 2, "tier_achieved": 2}, "HIGH"),
        (ACCEPT, [], {"tier_requested": 3, "tier_achieved": 2}, "MEDIUM"),
        (ACCEPT, [CONCERN], {"tier_requested": 2, "tier_achieved": 2}, "MEDIUM"),
        (ACCEPT, [LOW], {"tier_requested": 2, "tier_achieved": 2}, "MEDIUM"),
        (UNDECIDED, [finding(reason_code="infra_verifier_error")], {}, "MEDIUM"),
        (REJECT, [finding()], {}, "FAILED"),
        (REJECT, [finding(source=Source.LLM, reason_code="llm_semantic_failed")], {}, "MEDIUM"),
        (REJECT, [finding(reason_code="build_failed"), CONCERN], {}, "FAILED"),
        (REJECT, [finding(reason_code="tests_failed"), CONCERN], {}, "FAILED"),
        (ACCEPT, [NO_TESTS], {}, "MEDIUM"),
        (REJECT, [finding(reason_code="gate_timed_out"), NO_TESTS], {}, "FAILED"),
        (REJECT, [finding(reason_code="gate_out_of_memory"), NO_TESTS], {}, "FAILED"),
        (REJECT, [finding(reason_code="gate_timed_out"), CONCERN], {}, "FAILED"),
        (
            ACCEPT,
            [finding(reason_code="gate_timed_out", enforcement=Enforcement.ADVISORY), NO_TESTS],
            {},
            "MEDIUM",
        ),
        (
            ACCEPT,
            [finding(reason_code="tests_failed", enforcement=Enforcement.OBSERVE)],
            {"tests_passed": True},
            "HIGH",
        ),
        (
            ACCEPT,
            [finding(reason_code="tests_failed", verdict=FindingVerdict.SATISFIED)],
            {"tests_passed": True},
            "HIGH",
        ),
    ],
)
def test_the_first_level_that_fits_holds(
    verdict: Verdict, findings: list[Finding], reached: dict[str, Any], level: str
) -> None:
    reached = {"tier_requested": 1, "tier_achieved": 1, **reached}

    assert confidence.level(verdict, findings, **reached) == level


@pytest.mark.parametrize(
    ("verdict", "level", "attempts_left", "terminal", "action"),
    [
        (REJECT, ConfidenceLevel.FAILED, 1, "", Action.RETRY),
        (REJECT, ConfidenceLevel.MEDIUM, 1, "", Action.RETRY),
        (REJECT, ConfidenceLevel.FAILED, 0, "", Action.REVERT),
        (REJECT, ConfidenceLevel.FAILED, 2, "repeated_candidate", Action.REVERT),
        (UNDECIDED, ConfidenceLevel.MEDIUM, 3, "", Action.REVIEW_BRANCH),
        (ACCEPT, ConfidenceLevel.MEDIUM, 3, "", Action.REVIEW_BRANCH),
        (ACCEPT, ConfidenceLevel.HIGH, 0, "", Action.AUTO_COMMIT),
    ],
)
def test_only_a_reject_with_attempts_left_runs_the_work_again(
    verdict: Verdict, level: ConfidenceLevel, attempts_left: int, terminal: str, action: Action
) -> None:
    chosen = confidence.action(verdict, level, attempts_left=attempts_left, terminal=terminal)

    assert chosen is action


PASSED = GateReport("test", Status.PASSED, "a", exit_code=0, tests=TestCounts(passed=3))


@pytest.mark.parametrize(
    ("others", "is_known"),
    [
        ([], True),
        ([replace(PASSED, component="b"), GateReport("build", Status.FAILED)], True),
        ([replace(PASSED, component="b", is_guess=True)], False),
        ([replace(PASSED, component="b", is_word=True)], False),
        ([replace(PASSED, component="b", tests=None)], False),
        ([replace(PASSED, component="b", status=Status.SKIPPED, tests=None)], False),
    ],
)
def test_tests_of_one_component_do_not_vouch_for_another(
    others: list[GateReport], is_known: bool
) -> None:
    assert all_tests_passed([PASSED, *others]) is is_known


@pytest.mark.parametrize(
    ("report", "level"),
    [
        (PASSED, ConfidenceLevel.HIGH),
        (replace(PASSED, is_guess=True), ConfidenceLevel.MEDIUM),
        (replace(PASSED, is_word=True), ConfidenceLevel.MEDIUM),
    ],
)
def test_words_about_tests_are_accepted_and_never_for_certain(
    report: GateReport, level: ConfidenceLevel
) -> None:
    asked = case(gates=["test"])

    tiers = list(climb(asked, replace(ports(), gates=RecordedGates([report]))))

    concluded = conclude(asked, tiers)
    assert (concluded.verdict, concluded.confidence_level) == (ACCEPT, level)


@given(st.lists(gate_reports(), max_size=4))
def test_no_word_of_the_works_own_makes_confidence_higher(reports: list[GateReport]) -> None:
    words = [replace(one, is_word=True) for one in reports]

    assert not all_tests_passed(words)
    for word, report in zip(words, reports, strict=True):
        assert list(findings_of(word)) == list(findings_of(report))
