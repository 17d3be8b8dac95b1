from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loomverify.accounts.models import Project
from loomverify.errors import InputError
from verification.engine.gates import GateReport
from verification.engine.gating.judging import Judged
from verification.engine.outcome import Status
from verification.engine.reports.model import (
    CaseStatus,
    Problem,
    ProblemReport,
    TestCase,
    TestCounts,
    TestReport,
)
from verification.runs.gating.redacting import NOT_KEPT, Redacting
from verification.runs.intake.redaction import Redaction

TOKEN = Redacting((r"sk-[a-z0-9]+",))
FAILED = TestCase(
    "test_it[sk-a1]", CaseStatus.FAILED, "suite sk-b2", "got sk-c3", "test_sk-d4.py", 7
)
STYLE = Problem("sk-e5 is no name", "sk-f6.py", 3, 1, "E501")
TOLD = Judged(
    GateReport(
        "test", Status.FAILED, exit_code=1, tests=TestCounts(passed=2, failed=1),
        detail="sk-g7 failed", contradiction="sk-h8", failures=(FAILED,), problems=(STYLE,),
        unrun=(("a.py", 1, 2),), coverage=(1, 2),
    ),
    TestReport(TestCounts(passed=2, failed=1), (FAILED,)),
    ProblemReport(1, (STYLE,)),
)  # fmt: skip


def test_what_a_tool_says_is_redacted_and_its_places_and_counts_stay() -> None:
    found = TOKEN.judged(TOLD)

    [case], [problem] = found.report.failures, found.report.problems
    assert (case.name, case.suite, case.message) == (
        "test_it[[redacted]]", "suite [redacted]", "got [redacted]",
    )  # fmt: skip
    assert (case.path, case.line, case.status) == ("test_sk-d4.py", 7, CaseStatus.FAILED)
    assert (problem.message, problem.path, problem.rule) == (
        "[redacted] is no name",
        "sk-f6.py",
        "E501",
    )
    assert (found.report.detail, found.report.contradiction) == ("[redacted] failed", "[redacted]")
    assert found.report.status is Status.FAILED
    assert (found.report.tests, found.report.unrun) == (TOLD.report.tests, TOLD.report.unrun)
    assert found.tests is not None
    assert found.problems is not None
    assert (found.tests.cases, found.problems.problems) == ((case,), (problem,))
    assert b"sk-c3" not in found.record.to_json()


def test_a_log_is_redacted_whatever_bytes_it_holds() -> None:
    assert TOKEN.log(b"\xff got sk-c3\n") == "\ufffd got [redacted]\n".encode()


def test_without_patterns_nothing_is_touched() -> None:
    assert Redacting().judged(TOLD) is TOLD
    assert Redacting().log(b"\xffsk-a1") == b"\xffsk-a1"


@given(st.sampled_from(["[a-z]+", ".", "[0-9]", "failed|passed", r"\W"]))
@settings(deadline=None)
def test_no_pattern_changes_what_follows_from_a_report(pattern: str) -> None:
    found = Redacting((pattern,)).judged(TOLD).report

    assert (found.gate, found.status, found.tests) == ("test", Status.FAILED, TOLD.report.tests)
    assert [one.status for one in found.failures] == [CaseStatus.FAILED]
    assert [(one.path, one.severity) for one in found.problems] == [(STYLE.path, STYLE.severity)]


def test_what_cannot_be_searched_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    def too_slow(self: Redaction, node: object) -> object:
        raise InputError("redaction.too_slow", "It takes too long.")

    monkeypatch.setattr(Redaction, "json", too_slow)

    found = TOKEN.judged(TOLD).report

    assert found.failures[0].message == found.detail == NOT_KEPT
    assert found.status is Status.FAILED
    assert TOKEN.log(b"got sk-c3") == NOT_KEPT.encode()


def test_other_patterns_are_another_name_and_none_are_none() -> None:
    names = {Redacting(patterns).name for patterns in ((), ("a",), ("b",), ("a", "b"))}

    assert len(names) == 4
    assert Redacting().name == ""


def test_a_projects_own_patterns_are_taken(project: Project) -> None:
    Project.objects.filter(pk=project.pk).update(redaction_patterns=["a+"])

    assert Redacting.of(project.pk) == Redacting(("a+",))
