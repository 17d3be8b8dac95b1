from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from processes.definition.model import Enforcement
from tests.engine.cases import evaluate, finding, regex
from tests.tables import check_rows
from verification.engine.climb import Conclusion
from verification.engine.finding import Finding, with_fingerprints
from verification.engine.gates import GateReport
from verification.engine.gating.findings import findings_of
from verification.engine.outcome import FindingVerdict, Source, Status
from verification.engine.progress import EarlierFindings, SinceLast, compare, summarize
from verification.engine.reports.model import CaseStatus, TestCase, TestCounts

NEW, REMAINS, BACK = SinceLast.NEW, SinceLast.REMAINS, SinceLast.BACK
CLEAN = evaluate(output="fine")


def fingerprinted(*findings: Finding) -> tuple[Finding, ...]:
    return with_fingerprints(findings)


def conclusion(*findings: Finding, **changes: Any) -> Conclusion:
    return replace(CLEAN, findings=fingerprinted(*findings), **changes)


def problem(rule: str, **fields: Any) -> Finding:
    return fingerprinted(finding(rule=rule, message=f"{rule} is violated.", **fields))[0]


def rules(findings: Sequence[Finding]) -> list[str]:
    return [one.rule for one in findings]


A, B, C, D = (problem(rule) for rule in "abcd")


def test_each_finding_is_new_remains_or_is_back() -> None:
    progress = compare(conclusion(A, B, C), EarlierFindings(open=(A, D), gone=(C,)))

    assert progress.since_last == {
        A.fingerprint: REMAINS,
        B.fingerprint: NEW,
        C.fingerprint: BACK,
    }
    assert (rules(progress.resolved), progress.not_checked) == (["d"], ())
    assert summarize(progress) == "1 resolved, 1 new, 1 back, 1 remaining"


def test_a_first_attempt_has_nothing_to_be_compared_with() -> None:
    progress = compare(conclusion(A), None)

    assert (progress.since_last, summarize(progress)) == ({}, "")


def test_after_an_attempt_without_problems_everything_is_new() -> None:
    assert compare(conclusion(A), EarlierFindings()).since_last == {A.fingerprint: NEW}


def test_a_problem_on_another_line_remains() -> None:
    rule = regex("no-x", "x", enforcement=Enforcement.HARD)
    first = evaluate(rules=[rule], output="x")
    second = evaluate(rules=[rule], output="fine\nso far\nx")

    progress = compare(second, EarlierFindings(open=first.findings))

    assert list(progress.since_last.values()) == [REMAINS]
    assert progress.resolved == ()


def test_one_of_three_equal_problems_is_resolved() -> None:
    rule = regex("no-x", "x", enforcement=Enforcement.HARD)
    three, two = (evaluate(rules=[rule], output=text) for text in ("x x x", "x x"))

    assert (
        summarize(compare(two, EarlierFindings(open=three.findings))) == "1 resolved, 2 remaining"
    )


def test_what_a_judge_says_in_other_words_remains() -> None:
    first = problem("cites-sources", source=Source.LLM, tier=2)
    second = fingerprinted(replace(first, message="No source is given.", quote="Sales rose."))[0]

    progress = compare(conclusion(second, tier_achieved=2), EarlierFindings(open=(first,)))

    assert progress.since_last == {second.fingerprint: REMAINS}


def report(*failures: tuple[str, str], **changes: Any) -> GateReport:
    cases = tuple(TestCase(name, CaseStatus.FAILED, message=message) for name, message in failures)
    status = Status.FAILED if failures else Status.PASSED
    counts = TestCounts(passed=1, failed=len(failures))
    usual: dict[str, Any] = {
        "status": status,
        "exit_code": len(failures),
        "tests": counts,
        "failures": cases,
    }
    return GateReport("test", **{**usual, **changes})


def conclusion_of(gate: GateReport) -> Conclusion:
    return conclusion(*findings_of(gate), gates=(gate,))


def test_a_test_that_fails_with_another_value_remains() -> None:
    first = conclusion_of(report(("test_sum", "assert 3 == 4"), ("test_max", "assert 1 == 2")))
    second = conclusion_of(report(("test_sum", "assert 5 == 4")))

    progress = compare(second, EarlierFindings(open=first.findings))

    assert summarize(progress) == "1 resolved, 1 remaining"
    assert "test_max" in progress.resolved[0].message


@check_rows(
    "gate",
    [
        report(status=Status.SKIPPED, tests=None),
        report(status=Status.TIMED_OUT, tests=None),
        report(status=Status.FAILED, exit_code=137),
        report(tests=TestCounts(skipped=3)),
        report(is_lost=True, status=Status.ERROR),
        report(exit_code=1),  # a contradiction
        GateReport("lint", Status.PASSED),
    ],
)
def test_a_gate_that_did_not_run_to_its_end_resolves_nothing(gate: GateReport) -> None:
    before = conclusion_of(report(("test_sum", "assert 3 == 4")))

    progress = compare(conclusion_of(gate), EarlierFindings(open=before.findings))

    assert (progress.resolved, len(progress.not_checked)) == ((), 1)


LOST = finding(rule="a", verdict=FindingVerdict.UNKNOWN, reason_code="infra_verifier_error")
MANY = tuple(finding(rule="a", message=f"Number {n}.", path=f"{n}.md") for n in range(50))


@check_rows(
    ("before", "now"),
    [
        # No judge was asked again.
        (problem("a", source=Source.LLM, tier=2), conclusion(B)),
        (problem("a", source=Source.LLM, tier=3), conclusion(B, tier_achieved=2)),
        # The rule could not be looked into.
        (A, conclusion(LOST)),
        # Only the first violations of a rule are listed.
        (A, conclusion(*MANY)),
        # The check is called only when nothing else rejects the work.
        (problem("custom-verifier", source=Source.CUSTOM), conclusion(B)),
        (problem("claims"), conclusion(B)),
    ],
)
def test_a_problem_that_was_not_checked_again_is_not_resolved(
    before: Finding, now: Conclusion
) -> None:
    progress = compare(now, EarlierFindings(open=(before,)))

    assert (progress.resolved, progress.not_checked) == ((), (before,))


@check_rows(
    ("before", "now"),
    [
        (problem("a", source=Source.LLM, tier=2), conclusion(tier_achieved=2)),
        (problem("custom-verifier", source=Source.CUSTOM), conclusion()),
        (problem("custom-verifier"), conclusion(finding(enforcement=Enforcement.ADVISORY))),
        (problem("claims"), conclusion()),
    ],
)
def test_a_problem_that_was_checked_and_is_gone_is_resolved(
    before: Finding, now: Conclusion
) -> None:
    assert compare(now, EarlierFindings(open=(before,))).resolved == (before,)


def test_a_waived_problem_is_neither_new_nor_resolved() -> None:
    waived = replace(A, enforcement=Enforcement.OBSERVE)

    assert summarize(compare(conclusion(waived), EarlierFindings(open=(A,)))) == ""


def test_doubt_is_neither_new_nor_back() -> None:
    assert compare(conclusion(LOST), EarlierFindings()).since_last == {}


SETS = st.sets(st.sampled_from([A, B, C, D]))


@given(SETS, SETS, SETS)
def test_each_problem_is_counted_once(
    now: set[Finding], last: set[Finding], gone: set[Finding]
) -> None:
    earlier = EarlierFindings(tuple(last), tuple(gone - last))

    progress = compare(conclusion(*now), earlier)

    assert len(progress.since_last) == len(now)
    assert {*progress.resolved, *progress.not_checked} == last - now
