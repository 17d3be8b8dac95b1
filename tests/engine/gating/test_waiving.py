from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from processes.definition.model import Enforcement
from tests.engine.cases import case, finding, ports
from verification.engine.climb import Conclusion, climb, conclude
from verification.engine.finding import Finding, with_fingerprints
from verification.engine.gates import GateReport
from verification.engine.gating.findings import told
from verification.engine.gating.measuring import measured
from verification.engine.gating.waiving import is_waivable, waived
from verification.engine.golden.given import RecordedGates
from verification.engine.outcome import FindingVerdict, Source, Status, Verdict
from verification.engine.reports.model import Problem, ProblemSeverity, TestCounts

HIGH, LOW = ProblemSeverity.HIGH, ProblemSeverity.LOW
SHELL = Problem("`subprocess` call with `shell=True`", "tools/run.py", 8, 4, "S602", HIGH)
YAML = Problem("Probable use of unsafe `yaml.load`", "app.py", 3, 1, "S506", HIGH)
ASSERT = Problem("Use of `assert` detected", "app.py", 9, 1, "S101", LOW)
TESTED = GateReport("test", Status.PASSED, exit_code=0, tests=TestCounts(passed=2))
WORDS = "Waived by Ann until 2030-01-31: our own file, no input of others."


def looked(*problems: Problem, **fields: Any) -> GateReport:
    """What the security gate reports that found these."""
    fields = {"status": Status.FAILED, "exit_code": 1, "problem_count": len(problems), **fields}
    return GateReport("security", problems=problems, **fields)


def concluded(
    reports: Sequence[GateReport], waivers: Mapping[str, str] | None = None
) -> Conclusion:
    gates = dict.fromkeys(one.gate for one in reports)
    asked = case(gates=[*gates], of_case={"waivers": waivers or {}})
    reach = replace(ports(), gates=RecordedGates(reports))
    return conclude(asked, list(climb(asked, reach)))


def waivers_of(reports: Sequence[GateReport], *paths: str) -> dict[str, str]:
    """For all that is found in these files, in any file where none is named."""
    found = concluded(reports).findings
    return {one.fingerprint: WORDS for one in found if one.path in paths or not paths}


def test_what_is_waived_is_recorded_and_rejects_nothing() -> None:
    reports = [looked(SHELL), TESTED]
    before = concluded(reports)

    conclusion = concluded(reports, waivers_of(reports))

    assert (before.verdict, before.reason_code) == (Verdict.REJECT, "security_failed")
    assert (conclusion.verdict, conclusion.reason_code) == (Verdict.ACCEPT, "")
    assert conclusion.confidence_level == "HIGH"
    (told_of,) = conclusion.findings
    assert told_of.enforcement is Enforcement.OBSERVE
    assert told_of.message == f"S602: {SHELL.message} {WORDS}"
    assert told_of.place["waived"] == WORDS
    assert told_of.fingerprint == before.findings[0].fingerprint


def test_a_waiver_holds_when_lines_have_moved_and_not_in_another_file() -> None:
    waivers = waivers_of([looked(SHELL)])
    moved, elsewhere = replace(SHELL, line=80, column=1), replace(SHELL, path="tools/other.py")

    assert concluded([looked(moved)], waivers).verdict is Verdict.ACCEPT
    assert concluded([looked(elsewhere)], waivers).verdict is Verdict.REJECT


def test_a_second_problem_beside_a_waived_one_rejects() -> None:
    waivers = waivers_of([looked(SHELL)])

    for second in (YAML, replace(SHELL, line=90)):
        assert concluded([looked(SHELL, second)], waivers).verdict is Verdict.REJECT


def test_of_two_that_look_alike_the_second_can_be_waived_alone() -> None:
    reports = [looked(SHELL, replace(SHELL, line=90))]
    second = concluded(reports).findings[1]

    conclusion = concluded(reports, {second.fingerprint: WORDS})

    counted = [one for one in conclusion.findings if one.enforcement is Enforcement.HARD]
    assert [one.line for one in counted] == [8]
    assert len({one.fingerprint for one in conclusion.findings}) == 2


@pytest.mark.parametrize("count", [2, 51])
def test_problems_that_are_not_told_one_by_one_are_waived_by_nobody(count: int) -> None:
    reports = [looked(SHELL, problem_count=count)]

    conclusion = concluded(reports, waivers_of(reports))

    assert conclusion.verdict is Verdict.REJECT
    assert conclusion.leading is not None
    assert conclusion.leading.message.startswith(f"security found {count - 1} more")
    assert not is_waivable(conclusion.leading)


def test_mild_problems_that_are_not_told_do_not_outweigh_what_is_waived() -> None:
    reports = [looked(SHELL, ASSERT, problem_count=60)]

    conclusion = concluded(reports, waivers_of(reports, SHELL.path))

    assert (conclusion.outcome, conclusion.verdict) == ("pass_with_warnings", "accept")


@pytest.mark.parametrize(
    "report",
    [
        looked(SHELL, status=Status.ERROR),
        looked(SHELL, is_lost=True),
        looked(SHELL, contradiction="ended well, with nothing to show for it"),
        looked(SHELL, exit_code=0),
        looked(SHELL, status=Status.TIMED_OUT),
        looked(SHELL, exit_code=137),
        looked(problem_count=None),
        looked(replace(SHELL, path="")),
        GateReport("types", Status.FAILED, exit_code=1, problems=(SHELL,), problem_count=1),
        GateReport("test", Status.FAILED, exit_code=1, tests=TestCounts(failed=1)),
        GateReport("build", Status.FAILED, exit_code=1),
    ],
)
def test_nothing_else_of_a_gate_can_be_waived(report: GateReport) -> None:
    before = concluded([report])

    after = concluded([report], {**waivers_of([report]), **waivers_of([looked(SHELL)])})

    assert before.verdict is not Verdict.ACCEPT
    assert after == before


@pytest.mark.parametrize(
    "fields",
    [
        {"verdict": FindingVerdict.UNKNOWN},
        {"source": Source.CUSTOM},
        {"rule": "no-shell"},
        {"reason_code": "lint_failed"},
        {"path": ""},
    ],
)
def test_only_a_certain_problem_of_the_security_gate_can_be_waived(fields: dict[str, Any]) -> None:
    right = finding(reason_code="security_failed", rule="security", source=Source.GATE, path="a.py")

    assert is_waivable(right)
    assert not is_waivable(replace(right, **fields))


def test_the_score_does_not_count_what_is_waived_and_a_judge_is_told_of_it() -> None:
    reports = [looked(SHELL, YAML)]
    (report,) = concluded(reports, waivers_of(reports, SHELL.path)).gates

    assert (measured(reports).high_security, measured([report]).high_security) == (2, 1)
    assert f"tools/run.py:8 S602 {SHELL.message} {WORDS}" in told(report)
    assert report.status is Status.FAILED


def test_what_was_waived_when_it_was_recorded_stays_so_beside_the_run() -> None:
    reports = [looked(SHELL)]
    counted = concluded(reports, waivers_of(reports))

    beside = concluded([GateReport.from_json(one.to_json()) for one in counted.gates])

    assert beside.findings == counted.findings
    assert beside.verdict is Verdict.ACCEPT


@given(
    message=st.text(max_size=40), words=st.text(max_size=40), paths=st.lists(st.text(max_size=5))
)
def test_words_of_a_waiver_never_change_a_name(message: str, words: str, paths: list[str]) -> None:
    found: list[Finding] = [
        finding(reason_code="security_failed", rule="security", message=message, path=path)
        for path in paths
    ]

    marked = with_fingerprints(waived(one, words) for one in found)

    assert [one.fingerprint for one in marked] == [
        one.fingerprint for one in with_fingerprints(found)
    ]


def test_what_is_waived_is_one_line_wherever_it_moves_and_none_like_it() -> None:
    def found(content: str, line: int, waivers: Mapping[str, str]) -> Conclusion:
        files = {"tools/run.py": content}
        asked = case(gates=["security"], files=files, of_case={"waivers": waivers})
        report = looked(replace(SHELL, line=line))
        reach = replace(ports(files), gates=RecordedGates([report]))
        return conclude(asked, list(climb(asked, reach)))

    own = "run(line, shell=True)\n"
    first = found(own, 1, {})
    waivers = {first.findings[0].fingerprint: WORDS}

    assert first.verdict is Verdict.REJECT
    assert found(f"import os\n\n  {own}", 3, waivers).verdict is not Verdict.REJECT
    assert found("run(other, shell=True)\n", 1, waivers).verdict is Verdict.REJECT
    assert found(own, 7, waivers).verdict is Verdict.REJECT, "of a line that is not there"
