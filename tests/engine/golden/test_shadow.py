from __future__ import annotations

from dataclasses import dataclass

from tests.tables import check_rows
from verification.engine.outcome import Outcome, Verdict
from verification.engine.shadow import DiffClass, diff_class


@dataclass(frozen=True, slots=True)
class Side:
    outcome: Outcome
    verdict: Verdict
    reason_code: str = ""


PASSED = Side(Outcome.PASS, Verdict.ACCEPT)
WARNED = Side(Outcome.PASS_WITH_WARNINGS, Verdict.ACCEPT, "odd_payload")
PARTIAL = Side(Outcome.PARTIAL_VERIFIED, Verdict.ACCEPT, "recommendation_pruned")
FAILED = Side(Outcome.FAIL, Verdict.REJECT, "syntax_invalid")
ELSE_FAILED = Side(Outcome.FAIL, Verdict.REJECT, "rule_violated")
LOST = Side(Outcome.FAIL, Verdict.UNDECIDED, "rate_limited")
ELSE_LOST = Side(Outcome.FAIL, Verdict.UNDECIDED, "parse_inconclusive")
NOBODY = Side(Outcome.PARTIAL_VERIFIED, Verdict.UNDECIDED, "verifier_unavailable")


@check_rows(
    ("old", "new", "told"),
    [
        (PASSED, PASSED, "no_diff"),
        (PASSED, WARNED, "warnings_diff"),
        (WARNED, PASSED, "warnings_diff"),
        (WARNED, PARTIAL, "warnings_diff"),
        (FAILED, PASSED, "old_fail_new_pass"),
        (FAILED, PARTIAL, "old_fail_new_pass"),
        (PASSED, FAILED, "old_pass_new_fail"),
        (WARNED, FAILED, "old_pass_new_fail"),
        (FAILED, FAILED, "no_diff"),
        (FAILED, ELSE_FAILED, "both_fail_reason_diff"),
        (PASSED, LOST, "new_undecided"),
        (FAILED, LOST, "new_undecided"),
        (LOST, PASSED, "old_undecided"),
        (LOST, FAILED, "old_undecided"),
        (LOST, LOST, "no_diff"),
        (LOST, ELSE_LOST, "both_fail_reason_diff"),
        (LOST, NOBODY, "both_fail_reason_diff"),
    ],
)
def test_a_difference_falls_in_one_class(old: Side, new: Side, told: str) -> None:
    assert diff_class(old, new) is DiffClass(told)


def test_doubt_is_never_told_as_a_pass_or_a_fail() -> None:
    sides = (PASSED, WARNED, PARTIAL, FAILED, ELSE_FAILED)

    told = {diff_class(old, LOST) for old in sides} | {diff_class(LOST, new) for new in sides}

    assert told == {DiffClass.NEW_UNDECIDED, DiffClass.OLD_UNDECIDED}


def test_every_class_is_come_to() -> None:
    sides = (PASSED, WARNED, FAILED, ELSE_FAILED, LOST)

    assert {diff_class(old, new) for old in sides for new in sides} == set(DiffClass)
