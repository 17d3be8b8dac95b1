from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.engine.gating.fakes import part_with
from tests.tables import check_rows
from verification.engine import policy
from verification.engine.gates import GateReport
from verification.engine.gating.comparing import wants_base
from verification.engine.gating.components import Language
from verification.engine.gating.findings import findings_of
from verification.engine.gating.judging import MAX_TOLD, judged
from verification.engine.gating.measuring import measured
from verification.engine.gating.stages import Ended, Expected, Install, Stage, Stream
from verification.engine.outcome import Status
from verification.engine.reasons import Effect
from verification.engine.reports.model import MAX_REPORT_BYTES, ProblemSeverity, TestCounts
from verification.engine.reports.problems import ProblemFormat
from verification.engine.reports.testing import TestFormat

RECORDED = Path(__file__).parents[1] / "reports" / "recorded"
END = "the runner came to its end"
PYTEST = Stage("test", "pytest", Expected(TestFormat.JUNIT), trailer=END)
PLAIN = Stage("test", "make test", is_given=True)
LINT = Stage("lint", "ruff", Expected(ProblemFormat.RUFF))
SECURITY = Stage("security", "ruff", Expected(ProblemFormat.RUFF))
APART = {gate: Stage(gate, "ours", is_apart=True) for gate in ("lint", "security")}
TYPES = Stage("types", "mypy", Expected(ProblemFormat.MYPY))
GO_BUILD = Stage("build", "go build", Expected(ProblemFormat.GO_BUILD, Stream.ERR))
TSC = Stage("types", "tsc", Expected(ProblemFormat.TSC, Stream.OUT))
MAVEN = Stage("build", "mvn", Expected(ProblemFormat.JAVAC, Stream.OUT))
NPM_BUILD = Stage("build", "npm run build")


def recorded(name: str) -> bytes:
    return (RECORDED / name).read_bytes()


GOOD, MIXED, NONE, ALL_SKIPPED = (
    recorded("pytest/passed.xml"),
    recorded("pytest/mixed.xml"),
    recorded("pytest/nothing.xml"),
    b'<testsuite tests="2" skipped="2"><testcase name="a"><skipped/></testcase>'
    b'<testcase name="b"><skipped/></testcase></testsuite>',
)
UNSAFE = (
    b'[{"code": "S602", "message": "shell", "filename": "/workspace/a.py",'
    b' "location": {"row": 3, "column": 1}, "end_location": {"row": 3, "column": 9}},'
    b' {"code": "S603", "message": "call", "filename": "/workspace/a.py",'
    b' "location": {"row": 4, "column": 1}, "end_location": {"row": 4, "column": 9}}]'
)
MILD = UNSAFE.replace(b"S602", b"S607")


def told(stage: Stage, ended: Ended) -> GateReport:
    return judged(part_with(stage), stage, ended).report


def reasons(report: GateReport) -> list[str]:
    return list(dict.fromkeys(one.reason_code for one in findings_of(report)))


def pytest_ended(code: int, report: bytes | None, out: bytes = END.encode()) -> Ended:
    return Ended(exit_code=code, report=report, out=out)


@check_rows(
    ("ended", "status", "reason"),
    [
        (pytest_ended(0, GOOD), Status.PASSED, []),
        (pytest_ended(0, GOOD, b""), Status.PASSED, ["gate_contradiction"]),
        (pytest_ended(0, None), Status.PASSED, ["gate_contradiction"]),
        (pytest_ended(0, b"<no xml"), Status.PASSED, ["gate_contradiction"]),
        (pytest_ended(0, MIXED), Status.PASSED, ["gate_contradiction"]),
        (pytest_ended(0, NONE), Status.PASSED, ["no_tests"]),
        (pytest_ended(0, ALL_SKIPPED), Status.PASSED, ["no_tests"]),
        (pytest_ended(1, MIXED), Status.FAILED, ["tests_failed"]),
        (pytest_ended(1, MIXED, b""), Status.FAILED, ["tests_failed"]),
        (pytest_ended(1, GOOD), Status.FAILED, ["gate_contradiction"]),
        (pytest_ended(1, NONE), Status.FAILED, ["gate_contradiction"]),
        (pytest_ended(1, ALL_SKIPPED), Status.FAILED, ["gate_contradiction"]),
        (pytest_ended(1, None), Status.FAILED, ["tests_failed"]),
        (pytest_ended(1, b"<no xml"), Status.FAILED, ["tests_failed"]),
        (pytest_ended(2, None), Status.FAILED, ["tests_failed"]),
        (pytest_ended(2, NONE), Status.FAILED, ["gate_contradiction"]),
        (pytest_ended(5, NONE), Status.FAILED, ["no_tests"]),
        (pytest_ended(5, GOOD), Status.FAILED, ["gate_contradiction"]),
        (pytest_ended(5, None), Status.FAILED, ["tests_failed"]),     # pytest would have written it
        (pytest_ended(124, GOOD), Status.TIMED_OUT, ["gate_timed_out"]),
        (pytest_ended(126, None), Status.ERROR, ["gate_error"]),
        (pytest_ended(127, GOOD), Status.ERROR, ["gate_error"]),
        (pytest_ended(137, None), Status.FAILED, ["gate_out_of_memory"]),
        (pytest_ended(137, MIXED), Status.FAILED, ["gate_out_of_memory"]),
        (pytest_ended(137, GOOD), Status.FAILED, ["gate_contradiction"]),
        (pytest_ended(139, None), Status.FAILED, ["tests_failed"]),
        (Ended(is_timed_out=True, report=GOOD), Status.TIMED_OUT, ["gate_timed_out"]),
        (Ended(lost="The engine is gone."), Status.ERROR, ["sandbox_unavailable"]),
        (Ended(exit_code=0, lost="The engine is gone.", report=GOOD), Status.ERROR,
         ["sandbox_unavailable"]),
        (Ended(), Status.ERROR, ["sandbox_unavailable"]),
    ],
)  # fmt: skip
def test_a_runner_is_believed_where_its_end_and_its_report_agree(
    ended: Ended, status: Status, reason: list[str]
) -> None:
    report = told(PYTEST, ended)

    assert (report.status, reasons(report)) == (status, reason)


@pytest.mark.parametrize(
    ("ended", "said"),
    [
        (pytest_ended(0, GOOD), ""),
        (pytest_ended(1, MIXED), ""),
        (pytest_ended(5, NONE), ""),
        (pytest_ended(124, MIXED), ""),
        (pytest_ended(137, None), ""),
        (pytest_ended(0, None),
         "ended well, with nothing to show for it: There is none"),
        (pytest_ended(0, MIXED), "was reported as passed and ended with exit code 0, and its report "
         "says 3 passed, 2 failed, 3 errors"),
        (pytest_ended(1, GOOD), "was reported as failed and ended with exit code 1, and its report "
         "says 2 passed, 0 failed, 0 errors"),
    ],
)  # fmt: skip
def test_a_contradiction_is_known_to_whoever_asks_the_report(ended: Ended, said: str) -> None:
    report = told(PYTEST, ended)

    assert report.contradiction == said
    assert wants_base(report) is (not said and report.status is not Status.PASSED)
    assert measured([report]).tests == (None if said else report.tests)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "test of python wrote no report."),
        (b"<no xml", "test of python failed, and which failures there are is not known: "),
        (b" " * (MAX_REPORT_BYTES + 1), "not known: The reports are larger than 20,000,000 bytes."),
    ],
    ids=["none", "unreadable", "large"],
)
def test_a_report_that_cannot_be_read_is_not_said_to_be_none(
    content: bytes | None, said: str
) -> None:
    [finding] = findings_of(told(PYTEST, pytest_ended(1, content)))

    assert finding.reason_code == "tests_failed"
    assert said in finding.message


@check_rows(
    ("code", "out", "err", "status", "counts", "reason"),
    [
        (0, b"3 passed in 0.1s", b"", Status.PASSED, TestCounts(passed=3), []),
        (0, b"", b"Tests: 2 passed, 2 total", Status.PASSED, TestCounts(passed=2), []),
        (0, b"all is well", b"", Status.PASSED, TestCounts(), ["no_tests"]),
        (0, b"", b"", Status.PASSED, TestCounts(), ["no_tests"]),
        (0, b"1 failed, 2 passed in 0.1s", b"", Status.PASSED, TestCounts(2, 1),
         ["gate_contradiction"]),
        (0, b"2 skipped in 0.1s", b"", Status.PASSED, TestCounts(skipped=2), ["no_tests"]),
        (1, b"1 failed, 2 passed in 0.1s", b"", Status.FAILED, TestCounts(2, 1),
         ["tests_failed"]),
        (1, b"3 passed in 0.1s", b"", Status.FAILED, TestCounts(passed=3),
         ["gate_contradiction"]),
        (1, b"it broke", b"", Status.FAILED, None, ["tests_failed"]),
        (1, b"no tests ran in 0.1s", b"", Status.FAILED, None, ["tests_failed"]),
        (2, b"", b"make: *** [test] Error 1", Status.FAILED, None, ["tests_failed"]),
        (5, b"no tests ran in 0.1s", b"", Status.FAILED, TestCounts(), ["no_tests"]),
        (5, b"it broke", b"", Status.FAILED, None, ["tests_failed"]),
        (127, b"", b"tox: not found", Status.ERROR, None, ["gate_error"]),
        (137, b"", b"Killed", Status.FAILED, None, ["gate_out_of_memory"]),
    ],
)  # fmt: skip
def test_of_any_other_command_the_text_is_counted(
    code: int,
    out: bytes,
    err: bytes,
    status: Status,
    counts: TestCounts | None,
    reason: list[str],
) -> None:
    report = told(PLAIN, Ended(exit_code=code, out=out, err=err))

    assert (report.status, report.tests, reasons(report)) == (status, counts, reason)
    assert report.is_guess is (counts is not None)


@pytest.mark.parametrize("report", ["bun/passed.txt", "bun/thrown.txt", "googletest/none.txt"])
def test_a_text_and_its_exit_code_that_say_otherwise_contradict_each_other(report: str) -> None:
    out = recorded(report)
    well, badly = (told(PLAIN, Ended(exit_code=code, out=out)) for code in (0, 1))
    assert well.tests is not None

    is_bad = bool(well.tests.failed + well.tests.errors)
    doubt = ["no_tests" if not well.tests.ran else "gate_contradiction"]
    assert reasons(well) == (doubt if is_bad or not well.tests.ran else [])
    assert reasons(badly) == (["tests_failed"] if is_bad or not well.tests.ran else doubt)


JEST_ALONE = (
    b'{"numFailedTests": 0, "numPassedTests": 1, "success": false, "testResults": [{"name": "a.js",'
    b' "status": "passed", "assertionResults": [{"title": "adds", "status": "passed"}]}]}'
)


def test_a_run_that_failed_by_itself_says_why_in_its_last_words() -> None:
    stage = Stage("test", "jest", Expected(TestFormat.JEST))
    ended = Ended(exit_code=1, report=JEST_ALONE, err=b"coverage of lines (40%) is not 80%\n")

    found = judged(part_with(stage), stage, ended)

    [finding] = findings_of(found.report)
    assert "coverage of lines (40%) is not 80%" in finding.message
    assert found.tests is not None
    assert [one.message for one in found.tests.cases] == ["coverage of lines (40%) is not 80%", ""]


NO_TEST_OF_JEST = b"No tests found, exiting with code 1\nRun with `--passWithNoTests`\n"
NO_TEST_OF_VITEST = b"\nNo test files found, exiting with code 1\n"
NO_TEST_OF_MOCHA = b'\nError: No test files found: "test"\n'


@pytest.mark.parametrize(
    ("form", "ended", "reason"),
    [
        (TestFormat.JEST, Ended(exit_code=1, out=NO_TEST_OF_JEST), "no_tests"),
        (TestFormat.JEST, Ended(exit_code=1, err=NO_TEST_OF_VITEST), "no_tests"),
        (TestFormat.MOCHA, Ended(exit_code=1, err=NO_TEST_OF_MOCHA), "no_tests"),
        (TestFormat.JEST, Ended(exit_code=1, err=NO_TEST_OF_MOCHA), "tests_failed"),
        (TestFormat.JEST, Ended(exit_code=1, report=JEST_ALONE, err=NO_TEST_OF_JEST), "tests_failed"),
        (TestFormat.JEST, Ended(exit_code=2, err=NO_TEST_OF_JEST), "tests_failed"),
        (TestFormat.JUNIT, Ended(exit_code=1, err=NO_TEST_OF_JEST), "tests_failed"),
        (TestFormat.JEST, Ended(exit_code=1, err=b"It said: " + NO_TEST_OF_JEST), "tests_failed"),
    ],
)  # fmt: skip
def test_a_runner_of_node_that_finds_no_test_file_is_not_told_to_have_failed(
    form: TestFormat, ended: Ended, reason: str
) -> None:
    report = told(Stage("test", "jest", Expected(form)), ended)

    assert reasons(report) == [reason]
    assert report.ran_no_test is (reason == "no_tests")
    assert not report.contradiction


@check_rows(
    ("stage", "ended", "status", "count", "reason"),
    [
        (LINT, Ended(exit_code=0, report=b"[]"), Status.PASSED, 0, []),
        (LINT, Ended(exit_code=1, report=UNSAFE), Status.FAILED, 2, ["lint_failed"]),
        (LINT, Ended(exit_code=0, report=UNSAFE), Status.PASSED, 2, ["lint_failed"]),
        (LINT, Ended(exit_code=0), Status.ERROR, None, ["gate_error"]),
        (LINT, Ended(exit_code=1), Status.ERROR, None, ["gate_error"]),
        (LINT, Ended(exit_code=0, report=b""), Status.ERROR, None, ["gate_error"]),
        (LINT, Ended(exit_code=2, report=b"{"), Status.ERROR, None, ["gate_error"]),
        (LINT, Ended(exit_code=1, report=b"[]"), Status.ERROR, 0, ["gate_error"]),
        (LINT, Ended(exit_code=137), Status.FAILED, None, ["gate_out_of_memory"]),
        (LINT, Ended(is_timed_out=True), Status.TIMED_OUT, None, ["gate_timed_out"]),
        (SECURITY, Ended(exit_code=1, report=UNSAFE), Status.FAILED, 2, ["security_failed"]),
        (SECURITY, Ended(exit_code=1), Status.ERROR, None, ["gate_error"]),
        *((stage, ended, Status.ERROR, None, ["gate_error"])
          for stage in APART.values()
          for ended in (Ended(is_timed_out=True), Ended(exit_code=124), Ended(exit_code=137))),
        (TYPES, Ended(exit_code=1, report=recorded("mypy/store.jsonl")), Status.FAILED, 2,
         ["types_failed"]),
        (TYPES, Ended(exit_code=2, report=b""), Status.ERROR, None, ["gate_error"]),
        (TYPES, Ended(exit_code=0), Status.ERROR, None, ["gate_error"]),
        (TSC, Ended(exit_code=0), Status.PASSED, 0, []),
        (TSC, Ended(exit_code=1), Status.ERROR, 0, ["gate_error"]),
        (TSC, Ended(exit_code=2, out=b"a.ts(1,2): error TS1: x"), Status.FAILED, 1,
         ["types_failed"]),
        (TSC, Ended(exit_code=0, out=b"a.ts(1,2): error TS1: x"), Status.PASSED, 1,
         ["gate_contradiction"]),
        (TYPES, Ended(exit_code=0, report=recorded("mypy/store.jsonl")), Status.PASSED, 2,
         ["gate_contradiction"]),
        (MAVEN, Ended(exit_code=0, out=b"[ERROR] /workspace/A.java:[3,5] cannot find symbol\n"),
         Status.PASSED, 1, ["gate_contradiction"]),
        (MAVEN, Ended(exit_code=0, out=b"[ERROR] /workspace/A.java:[3,5] (sizes) Line: long\n"),
         Status.PASSED, 1, []),
        (MAVEN, Ended(exit_code=0, out=b"[WARNING] /workspace/A.java:[3,5] [removal] old\n"),
         Status.PASSED, 1, []),
        (TSC, Ended(exit_code=0, is_whole=False), Status.ERROR, None, ["gate_error"]),
        (TSC, Ended(exit_code=2, is_whole=False), Status.FAILED, None, ["types_failed"]),
        (GO_BUILD, Ended(exit_code=1, err=recorded("gobuild/problems.txt")), Status.FAILED, 4,
         ["build_failed"]),
        (GO_BUILD, Ended(exit_code=0), Status.PASSED, 0, []),
        (GO_BUILD, Ended(exit_code=0, is_whole=False), Status.PASSED, None, []),
        (GO_BUILD, Ended(exit_code=1, is_whole=False), Status.FAILED, None, ["build_failed"]),
        (NPM_BUILD, Ended(exit_code=0), Status.PASSED, None, []),
        (NPM_BUILD, Ended(exit_code=3), Status.FAILED, None, ["build_failed"]),
        (NPM_BUILD, Ended(exit_code=127), Status.ERROR, None, ["gate_error"]),
        (NPM_BUILD, Ended(exit_code=137), Status.FAILED, None, ["gate_out_of_memory"]),
        (Stage("install", "pip"), Ended(exit_code=1), Status.FAILED, None, ["install_failed"]),
        (Stage("run", "x"), Ended(exit_code=1), Status.FAILED, None, ["run_failed"]),
    ],
)  # fmt: skip
def test_what_looked_at_the_work_says_what_it_saw_or_is_in_doubt(
    stage: Stage, ended: Ended, status: Status, count: int | None, reason: list[str]
) -> None:
    report = told(stage, ended)

    assert (report.status, report.problem_count, reasons(report)) == (status, count, reason)


def test_only_severe_problems_of_security_reject() -> None:
    severe, mild = (
        [policy.effect_of(one) for one in findings_of(told(SECURITY, ended))]
        for ended in (Ended(exit_code=1, report=UNSAFE), Ended(exit_code=1, report=MILD))
    )

    assert severe == [Effect.REJECT, Effect.WARN]
    assert mild == [Effect.WARN, Effect.WARN]


@pytest.mark.parametrize("ended", [Ended(is_timed_out=True), Ended(exit_code=137)])
def test_a_linter_of_the_works_own_that_does_not_come_to_its_end_rejects_nothing(
    ended: Ended,
) -> None:
    effects = [
        [policy.effect_of(one) for one in findings_of(told(stage, ended))]
        for stage in (LINT, TYPES)
    ]

    assert effects == [[Effect.WARN], [Effect.REJECT]]


def test_what_our_own_tools_need_is_said_to_be_none_of_the_works_faults() -> None:
    said = [
        told(APART["security"], ended).detail
        for ended in (Ended(is_timed_out=True, err=b"secret"), Ended(exit_code=137, err=b"secret"))
    ]

    assert said == [
        "security of python: what looks at the work had more to do than 120 s were enough for. "
        "That says nothing of the work.",
        "security of python: what looks at the work ran out of memory. "
        "That says nothing of the work.",
    ]


def test_the_most_severe_problems_are_told_and_all_are_counted() -> None:
    one = MILD.strip(b"[]")
    many = b"[" + b",".join([one] * 100 + [UNSAFE.strip(b"[]")]) + b"]"

    found = judged(part_with(SECURITY), SECURITY, Ended(exit_code=1, report=many))

    assert (len(found.report.problems), found.report.problem_count) == (MAX_TOLD, 202)
    assert found.report.problems[0].severity is ProblemSeverity.HIGH
    assert found.problems is not None
    assert len(found.problems.problems) == 202


def test_failed_tests_are_told_and_the_whole_report_is_kept_beside_them() -> None:
    found = judged(part_with(PYTEST), PYTEST, pytest_ended(1, MIXED))

    assert found.tests is not None
    assert {one.status.value for one in found.report.failures} == {"failed", "error"}
    assert len(found.tests.cases) > len(found.report.failures)
    assert found.report.tests == found.tests.counts


def test_paths_are_those_of_the_workspace() -> None:
    part = part_with(TSC, folder="web", language=Language.NODE)

    report = judged(part, TSC, Ended(exit_code=2, out=b"src/a.ts(1,2): error TS1: x")).report

    assert report.component == "web (node)"
    assert [one.path for one in report.problems] == ["web/src/a.ts"]


@pytest.mark.parametrize(
    ("stage", "seconds"), [(NPM_BUILD, 300), (Stage("build", "x", seconds=7), 7)]
)
def test_a_gate_that_took_too_long_says_how_long_it_had(stage: Stage, seconds: int) -> None:
    report = told(stage, Ended(is_timed_out=True, out=b"step one\n"))

    assert report.detail == f"build of python took longer than {seconds} s.\nstep one"


def test_what_bounds_its_own_time_is_not_said_to_have_used_up_the_gates() -> None:
    report = told(NPM_BUILD, Ended(exit_code=124, out=b"step one\n"))

    assert report.status is Status.TIMED_OUT
    assert report.detail.startswith("build of python ended with exit code 124, as a command")


def test_what_was_written_last_is_told_and_errors_before_the_rest() -> None:
    lines = b"".join(b"line %d\n" % number for number in range(100))

    report = told(NPM_BUILD, Ended(exit_code=1, out=b"out", err=lines + b"\xff"))

    assert report.detail.splitlines()[0] == "build of python failed."
    assert report.detail.splitlines()[-2:] == ["line 99", "\ufffd"]
    assert "line 80" not in report.detail
    assert len(told(NPM_BUILD, Ended(exit_code=1, out=b"x" * 10**6)).detail) < 2_000


def test_a_terminals_colours_are_no_words() -> None:
    report = told(NPM_BUILD, Ended(exit_code=1, out=b"\x1b[1mwhy\x1b[m\n", err=b"\x1b[0m\x1b[0m"))

    assert report.detail.splitlines()[1:] == ["why"]


@pytest.mark.parametrize(
    ("written", "excuses", "status"),
    [
        (b"x\nno git here\ny", "no git", Status.ERROR),
        (b"x\nno git here\ny", "git$", Status.FAILED),
        (b"x\nno git here\ny", "", Status.FAILED),
    ],
)
def test_an_install_is_excused_by_a_line_that_says_what_the_image_lacks(
    written: bytes, excuses: str, status: Status
) -> None:
    stage = Stage("install", "pip")
    part = replace(part_with(stage), install=Install("pip", excuses=excuses))

    report = judged(part, stage, Ended(exit_code=1, err=written)).report

    assert report.status is status
    assert ("needs. no git here\n" in report.detail) is (status is Status.ERROR)


OFFLINE = (
    b"npm error code EAI_AGAIN\nnpm error syscall getaddrinfo\n",
    b"ERROR: Could not find a version that satisfies the requirement hatchling (from versions: none)\n",
    b"go: example.com/it: dial tcp: lookup proxy.golang.org: no such host\n",
)


@pytest.mark.parametrize("gate", ["build", "test"])
@pytest.mark.parametrize("written", OFFLINE)
def test_a_given_command_that_would_fetch_something_first_is_undecided(
    gate: str, written: bytes
) -> None:
    stage = Stage(gate, "./install.sh && ./try.sh", is_given=True)
    report = told(stage, Ended(exit_code=1, err=written))

    assert report.status is Status.ERROR
    assert reasons(report) == ["gate_error"]
    assert "asked for the network, which only an install has" in report.detail


@pytest.mark.parametrize(
    ("stage", "ended"),
    [
        (PLAIN, Ended(exit_code=1, out=OFFLINE[0] + b"= 1 failed, 2 passed in 1.00s =\n")),
        (PLAIN, Ended(exit_code=1, err=b"Traceback: it is broken\n")),
        (Stage("run", "python main.py", is_given=True), Ended(exit_code=1, err=OFFLINE[0])),
        (PYTEST, pytest_ended(1, MIXED, END.encode() + OFFLINE[0])),
    ],
)
def test_tests_that_failed_and_were_counted_have_failed_whatever_else_is_said(
    stage: Stage, ended: Ended
) -> None:
    assert told(stage, ended).status is Status.FAILED
