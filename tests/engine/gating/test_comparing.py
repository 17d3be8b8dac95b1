from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from processes.definition.model import Enforcement
from tests.tables import check_rows
from verification.engine.gates import GateReport
from verification.engine.gating.comparing import anchored, compared, joined, wants_base
from verification.engine.gating.findings import findings_of
from verification.engine.gating.judging import Judged
from verification.engine.gating.measuring import measured
from verification.engine.gating.recipe_python_types import MYPY
from verification.engine.outcome import FindingVerdict, Status
from verification.engine.reports.model import (
    CaseStatus,
    Problem,
    ProblemSeverity,
    TestCase,
    counted,
    gathered,
)

LEFT_OUT = GateReport("test", Status.SKIPPED, command="pytest", detail="The install failed.")


def failing(
    *names: str, passed: int = 1, exit_code: int = 1, suite: str = "tests.test_a"
) -> Judged:
    """A test gate in which these failed."""
    cases = [TestCase(name, CaseStatus.FAILED, suite, f"{name} said no") for name in names]
    cases += [TestCase(f"good_{n}", CaseStatus.PASSED, suite) for n in range(passed)]
    found = counted(cases)
    status = Status.FAILED if exit_code else Status.PASSED
    bad = tuple(one for one in found.cases if one.status.is_bad)
    report = GateReport("test", status, exit_code=exit_code, tests=found.counts, failures=bad[:50])
    return Judged(report, tests=found)


def looked(*messages: str, gate: str = "lint", exit_code: int = 1) -> Judged:
    found = gathered(
        Problem(message, "a.py", line, rule="F401", severity=ProblemSeverity.HIGH)
        for line, message in enumerate(messages, 1)
    )
    status = Status.FAILED if exit_code else Status.PASSED
    report = GateReport(
        gate, status, exit_code=exit_code, problems=found.problems, problem_count=found.total
    )
    return Judged(report, problems=found)


def ended(gate: str, status: Status, exit_code: int | None, detail: str = "") -> Judged:
    return Judged(GateReport(gate, status, exit_code=exit_code, detail=detail))


def codes(report: GateReport) -> list[tuple[str, Enforcement]]:
    return [(one.reason_code, one.enforcement) for one in findings_of(report)]


def test_only_a_new_failure_counts_and_the_old_one_is_on_record() -> None:
    report = compared(failing("old", "new"), failing("old"))

    told = list(findings_of(report))
    assert [(one.enforcement, one.message) for one in told] == [
        (Enforcement.HARD, "new: new said no"),
        (Enforcement.OBSERVE, "test: 1 failure was there before the work."),
    ]


def test_what_failed_before_alone_does_not_fail_the_candidate() -> None:
    report = compared(failing("a", "b"), failing("b", "a", "c"))

    assert codes(report) == [("tests_failed", Enforcement.OBSERVE)]
    assert report.status is Status.FAILED
    assert not report.has_passing_tests


def test_a_test_that_passed_before_is_a_new_failure() -> None:
    report = compared(failing("a"), failing(exit_code=0))

    assert codes(report) == [("tests_failed", Enforcement.HARD)]


def test_a_test_of_the_same_name_elsewhere_is_another_one() -> None:
    report = compared(failing("a", suite="tests.test_new"), failing("a"))

    assert codes(report) == [("tests_failed", Enforcement.HARD)]


def test_what_names_nothing_and_ends_otherwise_is_new() -> None:
    report = compared(failing("old", exit_code=2), failing("old"))

    assert codes(report) == [
        ("tests_failed", Enforcement.OBSERVE),
        ("tests_failed", Enforcement.HARD),
    ]


@pytest.mark.parametrize(("exit_code", "status"), [(1, Status.FAILED), (2, Status.ERROR)])
def test_what_mypy_could_not_go_on_from_hides_what_is_new(exit_code: int, status: Status) -> None:
    old, now = (looked("old", gate="types", exit_code=exit_code) for _ in range(2))
    now = replace(now, report=replace(now.report, command=f"{MYPY} ."))

    assert compared(now, old).status is status


def test_lines_and_numbers_in_messages_move() -> None:
    now = looked("`os` imported at line 7", "new one")
    before = looked("something gone", "`os` imported at line 3")

    report = compared(now, before)

    assert [one.message for one in report.problems] == ["new one"]
    assert report.old_problems == 1


def test_the_same_problem_once_more_is_new() -> None:
    report = compared(looked("same", "same", "same"), looked("same", "same"))

    assert len(report.problems) == 1
    assert (report.old_problems, report.is_old) == (2, False)


def test_a_high_security_problem_that_was_there_is_on_record_alone() -> None:
    report = compared(looked("eval", gate="security"), looked("eval", gate="security"))

    assert codes(report) == [("security_failed", Enforcement.OBSERVE)]
    assert measured([report]).high_security == 0


@pytest.mark.parametrize("gate", ["install", "build", "types", "test"])
def test_what_names_nothing_and_failed_before_as_well_is_undecided(gate: str) -> None:
    report = compared(ended(gate, Status.FAILED, 1), ended(gate, Status.FAILED, 1))

    [finding] = findings_of(report)
    assert (finding.reason_code, finding.verdict) == ("gate_error", FindingVerdict.UNKNOWN)
    assert "before the work as well" in finding.message
    assert report.name in finding.message


def test_a_build_that_failed_at_the_same_places_proves_nothing() -> None:
    report = compared(looked("x", gate="build"), looked("x", gate="build"))

    assert codes(report) == [("gate_error", Enforcement.HARD)]


@check_rows(
    ("candidate", "base", "code"),
    [
        (
            ended("test", Status.TIMED_OUT, None),
            ended("test", Status.TIMED_OUT, None),
            "gate_error",
        ),
        (ended("test", Status.TIMED_OUT, None), failing(exit_code=0), "gate_timed_out"),
        (ended("test", Status.FAILED, 137), ended("test", Status.FAILED, 137), "gate_error"),
        (ended("test", Status.FAILED, 137), failing("a"), "gate_out_of_memory"),
        (ended("build", Status.FAILED, 1), ended("build", Status.PASSED, 0), "build_failed"),
        (ended("build", Status.FAILED, 1), ended("build", Status.SKIPPED, None), "build_failed"),
        (ended("test", Status.FAILED, 1), ended("test", Status.ERROR, 127), "gate_error"),
        (failing("a"), ended("test", Status.ERROR, 126), "gate_error"),
        (failing("a"), ended("test", Status.FAILED, 2), "gate_error"),
        (failing("a"), ended("test", Status.SKIPPED, None), "tests_failed"),
        (failing("a"), Judged(LEFT_OUT), "gate_error"),
        (looked("x", gate="security"), ended("security", Status.ERROR, 1), "gate_error"),
        (looked("x"), ended("lint", Status.ERROR, 1), "lint_failed"),
        (ended("build", Status.FAILED, 2), ended("build", Status.FAILED, 1), "gate_error"),
    ],
)
def test_ends_are_compared(candidate: Judged, base: Judged, code: str) -> None:
    assert [name for name, _ in codes(compared(candidate, base))] == [code]


@pytest.mark.parametrize(
    "base",
    [
        replace(failing("a"), report=GateReport("test", Status.ERROR, is_lost=True, detail="gone")),
        replace(failing("a"), report=replace(failing("a").report, contradiction="says both")),
    ],
)
def test_a_lost_base_leaves_open_whose_fault_it_is(base: Judged) -> None:
    report = compared(failing("a"), base)

    [finding] = findings_of(report)
    assert (finding.reason_code, finding.verdict) == ("sandbox_unavailable", FindingVerdict.UNKNOWN)


def test_without_anything_to_compare_with_all_is_new() -> None:
    candidate = failing("a")

    assert compared(candidate, None) == candidate.report


@pytest.mark.parametrize(
    ("candidate", "is_wanted"),
    [
        (failing("a"), True),
        (failing(exit_code=0), False),
        (looked("x", exit_code=0), True),
        (looked(exit_code=0), False),
        (ended("test", Status.TIMED_OUT, None), True),
        (ended("test", Status.SKIPPED, None), False),
        (ended("test", Status.ERROR, 127), False),
        (Judged(GateReport("test", Status.FAILED, contradiction="x")), False),
    ],
)
def test_the_base_is_asked_for_what_it_may_excuse(candidate: Judged, is_wanted: bool) -> None:
    assert wants_base(candidate.report) is is_wanted


def test_the_score_counts_new_failures() -> None:
    report = compared(failing("old", "new", passed=8), failing("old"))

    counts = measured([report]).tests
    assert counts is not None
    assert (counts.passed, counts.failed) == (8, 1)


NAMES = st.lists(st.sampled_from("abcdef"), max_size=8)


@given(now=NAMES, before=NAMES)
def test_no_failure_is_lost_and_none_that_is_new_is_excused(
    now: list[str], before: list[str]
) -> None:
    report = compared(failing(*now), failing(*before))

    assert len(report.failures) + report.old_failures == len(now)
    assert {*now} - {*before} <= {one.name for one in report.failures}
    if not {*now} & {*before}:
        assert report.old_failures == 0


@given(now=NAMES, before=NAMES)
def test_what_is_accepted_was_there_before(now: list[str], before: list[str]) -> None:
    report = compared(failing(*now), failing(*before))

    counting = [one for one in findings_of(report) if one.enforcement is not Enforcement.OBSERVE]
    if now and not counting:
        assert all(now.count(name) <= before.count(name) for name in now)


def broken(*names: str) -> Judged:
    """Collected with errors: what stands behind them never ran."""
    found = counted([TestCase(name, CaseStatus.ERROR, "tests.test_a") for name in names])
    report = GateReport(
        "test", Status.FAILED, exit_code=2, tests=found.counts, failures=found.cases[:50]
    )
    return Judged(report, tests=found)


def test_what_kept_tests_from_running_before_proves_nothing_now() -> None:
    report = compared(broken("collection"), broken("collection"))

    [finding] = findings_of(report)
    assert (finding.reason_code, finding.verdict) == ("gate_error", FindingVerdict.UNKNOWN)


def test_tests_that_passed_before_and_did_not_run_are_doubt() -> None:
    report = compared(failing("old", passed=0), failing("old", passed=3))

    [finding] = findings_of(report)
    assert finding.reason_code == "gate_error"
    assert "passed before the work did not run" in finding.message


def test_a_name_that_passed_as_well_excuses_nothing() -> None:
    both = [TestCase("same", status, "suite") for status in (CaseStatus.FAILED, CaseStatus.PASSED)]
    before = Judged(failing("same").report, tests=counted(both))

    report = compared(failing("same", suite="suite"), before)

    assert codes(report)[0] == ("tests_failed", Enforcement.HARD)


def renders(**files: bool) -> Judged:
    """A test of one name in each of these files, and whether it passes there."""
    cases = [
        TestCase(
            "renders",
            CaseStatus.PASSED if is_good else CaseStatus.FAILED,
            path=f"{name}.test.js",
            file=f"{name}.test.js",
        )
        for name, is_good in files.items()
    ]
    found = counted(cases)
    bad = tuple(one for one in cases if one.status.is_bad)
    status = Status.FAILED if bad else Status.PASSED
    report = GateReport(
        "test", status, exit_code=int(bool(bad)), tests=found.counts, failures=bad, command="jest"
    )
    return Judged(report, tests=found)


@pytest.mark.parametrize(
    ("candidate", "base", "code"),
    [
        (renders(a=False, b=True), renders(a=False, b=True), ("tests_failed", Enforcement.OBSERVE)),
        (renders(a=True, b=False), renders(a=False, b=True), ("tests_failed", Enforcement.HARD)),
        (renders(a=False, b=False), renders(a=False, b=True), ("tests_failed", Enforcement.HARD)),
        (renders(a=True, c=False), renders(a=False), ("tests_failed", Enforcement.HARD)),
        (renders(moved=False), renders(a=False), ("tests_failed", Enforcement.OBSERVE)),
        (renders(a=False), renders(a=False, b=True), ("gate_error", Enforcement.HARD)),
    ],
    ids=["as before", "exchanged", "one more", "mended and a new one", "moved", "one is gone"],
)
def test_tests_of_one_name_are_known_by_their_files(
    candidate: Judged, base: Judged, code: tuple[str, Enforcement]
) -> None:
    assert codes(compared(candidate, base))[0] == code


def test_where_a_report_names_no_file_a_name_that_passed_excuses_nothing_still() -> None:
    told = renders(a=False, b=True)
    assert told.tests
    unnamed = Judged(told.report, replace(told.tests, cases=tuple(
        replace(one, file="") for one in told.tests.cases
    )))  # fmt: skip

    assert codes(compared(told, unnamed))[0] == ("tests_failed", Enforcement.HARD)


def test_more_than_is_kept_one_by_one_is_doubt() -> None:
    many = [str(number) for number in range(1_001)]
    alike = Judged(looked(*("same" for _ in many)).report, problems=looked(*many).problems)

    report = compared(alike, alike)

    assert codes(report) == [("gate_error", Enforcement.HARD)]


def test_a_graver_problem_is_another_one() -> None:
    mild = gathered([Problem("a key", "a.py", 1, rule="secret", severity=ProblemSeverity.LOW)])
    before = Judged(looked(gate="security").report, problems=mild)
    grave = gathered([Problem("a key", "a.py", 1, rule="secret", severity=ProblemSeverity.HIGH)])
    now = Judged(looked(gate="security").report, problems=grave)

    assert codes(compared(now, before)) == [("security_failed", Enforcement.HARD)]


def test_a_new_secret_in_place_of_an_old_one_is_new_and_one_that_moved_is_not() -> None:
    def before_and_after(now: bytes) -> GateReport:
        sides = (
            ({"a.py": now}, "AKIA7... is a key"),
            ({"a.py": b"x = 1\nk = 'old'"}, "AKIA3... is a key"),
        )
        found = [
            anchored(looked("of a line", said, gate="security"), files.__getitem__)
            for files, said in sides
        ]
        return compared(*found)

    moved, new = before_and_after(b"x = 1\n  k =  'old'"), before_and_after(b"x = 1\nk = 'new'")

    assert codes(moved) == [("security_failed", Enforcement.OBSERVE)]
    assert [(one.message, one.line) for one in new.problems] == [("AKIA7... is a key", 2)]
    assert new.old_problems == 1


@pytest.mark.parametrize(
    ("gate", "content"), [("lint", b"now"), ("types", b"now"), ("security", None)]
)
def test_only_what_security_found_is_known_by_its_line_where_that_is_there(
    gate: str, content: bytes | None
) -> None:
    files = {"a.py": content} if content else {}

    now, before = looked("x", gate=gate), looked("x", gate=gate)

    assert compared(anchored(now, files.__getitem__), before).old_problems == 1


def test_a_start_that_failed_before_is_no_excuse() -> None:
    assert not wants_base(ended("run", Status.FAILED, 1).report)


@pytest.mark.parametrize("exit_code", [None, 137])
def test_a_base_that_was_cut_off_leaves_open_what_is_new(exit_code: int | None) -> None:
    status = Status.FAILED if exit_code else Status.TIMED_OUT

    report = compared(failing("a"), ended("test", status, exit_code))

    assert codes(report) == [("gate_error", Enforcement.HARD)]


def test_without_a_base_lint_stays_what_it_is() -> None:
    lost = Judged(GateReport("lint", Status.ERROR, is_lost=True, detail="gone"))

    assert compared(looked("x"), lost) == looked("x").report


def test_what_was_lost_is_not_relied_on_later() -> None:
    lost = Judged(GateReport("test", Status.ERROR, is_lost=True, detail="gone"))
    known = replace(failing("a"), report=replace(failing("a").report, inputs_sha256="k"))

    assert compared(known, lost).inputs_sha256 == ""


def security(*paths: str, component: str = "", status: Status | None = None) -> Judged:
    found = gathered(
        Problem("danger", path, 1, rule="S605", severity=ProblemSeverity.HIGH) for path in paths
    )
    status = status or (Status.FAILED if paths else Status.PASSED)
    report = GateReport(
        "security",
        status,
        component,
        exit_code=1 if paths else 0,
        problems=found.problems,
        problem_count=found.total,
    )
    return Judged(report, problems=found)


def test_what_another_component_was_told_before_is_not_new_where_the_parting_changed() -> None:
    before = joined([security("a.py", "pkg/b.py", component="root"), security(component="go")])

    old = compared(security("pkg/b.py", component="pkg"), before)
    new = compared(security("pkg/b.py", "pkg/c.py", component="pkg"), before)

    assert codes(old) == [("security_failed", Enforcement.OBSERVE)]
    assert [one.path for one in findings_of(new)] == ["pkg/c.py", ""]


def test_of_all_that_was_told_before_the_worst_is_heeded() -> None:
    errors = security(component="go", status=Status.ERROR)
    lost = replace(errors, report=replace(errors.report, component="c", is_lost=True))
    reports = [security("a.py"), errors, lost, security(component="py")]

    assert joined([]) is None
    assert joined([ended("security", Status.SKIPPED, None)]) is None
    for count, worst in ((1, ""), (2, "go"), (3, "c"), (4, "c")):
        found = joined(reports[:count])
        assert found is not None
        assert found.report.component == worst
        assert found.problems is not None
        assert found.problems.total == 1
    assert compared(security("b.py"), joined(reports[:2])).status is Status.ERROR
