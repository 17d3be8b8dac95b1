from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from processes.definition.model import Enforcement
from verification.engine.gates import GateReport, all_tests_passed
from verification.engine.gating.changing import covering
from verification.engine.gating.comparing import compared
from verification.engine.gating.components import Component, Language
from verification.engine.gating.findings import findings_of, told
from verification.engine.gating.given import REPLACED, REPORTS
from verification.engine.gating.judging import Judged, judged
from verification.engine.gating.overrides import placed, read_overrides
from verification.engine.gating.planned import planned_of
from verification.engine.gating.planning import parts_of
from verification.engine.gating.recipes import Files
from verification.engine.gating.stages import Ended, Expected, Part, Stage
from verification.engine.gating.words import UNUSED, UNUSED_LINES
from verification.engine.outcome import Status
from verification.engine.reports.coverage import CoverageFormat
from verification.engine.reports.model import MAX_REPORT_BYTES, TestCounts
from verification.engine.reports.problems import ProblemFormat
from verification.engine.reports.testing import TestFormat

MAKE, PYTHON = Component("", Language.MAKE), Component("", Language.PYTHON)
GOOD = '<testsuite tests="1"><testcase name="adds"/></testsuite>'
BAD = '<testsuite tests="1"><testcase name="adds"><failure message="3"/></testcase></testsuite>'
SARIF = '{"version": "2.1.0", "runs": [{"results": []}]}'


def part_of(
    reports: str, *, plan: str = "", component: Component = MAKE, commands: str = ""
) -> Part:
    own = f"components:\n  - path: .\n    reports: {reports}\n"
    if commands:
        own += f"    commands: {commands}\n"
    files = Files(("Makefile", "a.py", "src/p/A.java"), {"Makefile": b"check:\n\ttrue\n"}.get)
    said = placed(read_overrides(own.encode()), (component,), files.paths)
    [part] = parts_of(files, said, planned_of(plan), REPLACED | {"lint"})
    return part


def stage_of(part: Part, gate: str) -> Stage:
    [stage] = [one for one in part.stages if one.gate == gate]
    return stage


def problems(reports: str) -> list[str]:
    own = f"components:\n  - path: .\n    reports: {reports}\n"
    return [one.message for one in read_overrides(own.encode()).problems]


def run(command: str, folder: Path, *, gate: str = "test", path: str = "out/report.xml") -> Judged:
    """What a gate tells whose command the plan names, run by a real shell in this folder."""
    plan = f"{gate.title()} commands:\n```sh\n{command}\n```\n"
    part = part_of(f"{{{gate}: {path}}}", plan=plan)
    stage = stage_of(part, gate)
    report = folder.with_name("lv-report")
    ended = subprocess.run(
        ["/bin/sh", "-c", '(set -e; eval "$LV_COMMAND"); exit $?'],
        cwd=folder,
        env={**os.environ, "LV_COMMAND": stage.command, "LV_REPORT": str(report)},
        capture_output=True,
        check=False,
    )
    written = report.read_bytes() if report.is_file() else None
    return judged(part, stage, Ended(ended.returncode, report=written, err=ended.stderr))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    inner = tmp_path / "it's work"
    (inner / "out").mkdir(parents=True)
    return inner


def test_the_work_says_where_a_command_writes_its_report() -> None:
    plan = "Lint commands:\n```sh\nmake lint\n```\n"

    part = part_of("{test: ./out/report.xml, lint: lint.sarif}", plan=plan)

    test, lint = stage_of(part, "test"), stage_of(part, "lint")
    assert test.expected == Expected(TestFormat.ANY, is_word=True)
    assert lint.expected == Expected(ProblemFormat.ANY, is_word=True)
    assert "make check" in test.command
    assert "./out/report.xml" in test.command


def test_its_own_command_may_write_one_where_the_table_has_none() -> None:
    part = part_of("{test: r.xml}", commands="{test: ./run-tests}")

    test = stage_of(part, "test")
    assert "./run-tests" in test.command
    assert test.is_own
    assert test.expected == Expected(TestFormat.ANY, is_word=True)


def test_where_the_tables_command_owes_a_report_that_one_counts() -> None:
    usual = part_of("{test: r.xml, lint: r.sarif}", component=PYTHON)
    named = part_of("{test: r.xml}", component=PYTHON, commands="{test: make test}")

    for stage in (stage_of(usual, "test"), stage_of(usual, "lint")):
        assert stage.expected
        assert not stage.expected.is_word
        assert stage.note == UNUSED
    assert stage_of(named, "test").expected == Expected(TestFormat.JUNIT)
    assert stage_of(named, "test").note == REPORTS


def test_the_work_says_where_its_own_command_writes_which_lines_ran() -> None:
    part = part_of("{test: r.xml, coverage: out/lines.xml}", commands="{test: ./run-tests}")

    [asked] = [one for one in covering(part, is_wanted=True).stages if one.gate == "test"]
    [plain] = [one for one in covering(part, is_wanted=False).stages if one.gate == "test"]

    assert asked.cover
    assert (asked.cover.format, asked.cover.is_word) == (CoverageFormat.ANY, True)
    assert "./out/lines.xml" in asked.command
    assert "./out/lines.xml" not in plain.command


def test_where_our_runner_is_asked_for_its_lines_they_count() -> None:
    test = stage_of(part_of("{coverage: lines.xml}", component=PYTHON), "test")

    assert test.cover
    assert not test.cover.is_word
    assert test.note == UNUSED_LINES


def test_a_profile_of_go_is_found_by_the_module_of_its_component() -> None:
    files = Files(("go.mod", "a.go"), {"go.mod": b"module example.com/a\n"}.get)
    own = "components:\n  - path: .\n    commands: {test: ./t}\n    reports: {coverage: c.out}\n"
    said = placed(read_overrides(own.encode()), (Component("", Language.GO),), files.paths)

    [part] = parts_of(files, said, {})

    usual = stage_of(part, "test")
    assert usual.cover
    assert usual.cover.module == "example.com/a"


@pytest.mark.parametrize(
    ("command", "coverage"),
    [
        ("printf 'SF:a.sh\\nDA:1,1\\nDA:2,0\\nend_of_record\\n' > out/lines", (1, 2)),
        ("printf 'SF:a.sh\\nDA:1,1\\n' > out/lines", None),          # cut short
        ("printf 'SF:a.sh\\nend_of_record\\n' > real; ln -s ../real out/lines", None),
        ("true", None),                                             # it lay there before
    ],
)  # fmt: skip
def test_lines_by_the_works_own_word_are_read_where_the_command_wrote_them(
    folder: Path, command: str, coverage: tuple[int, int] | None
) -> None:
    if command == "true":
        (folder / "out/lines").write_text("SF:a.sh\nDA:1,1\nend_of_record\n")
    plan = f"Test commands:\n```sh\n{command}; echo 1 of 1 tests passed\n```\n"
    part = covering(part_of("{coverage: out/lines}", plan=plan), is_wanted=True)
    stage = stage_of(part, "test")
    report = folder.with_name("lv-report")

    ended = subprocess.run(
        ["/bin/sh", "-c", '(set -e; eval "$LV_COMMAND"); exit $?'],
        cwd=folder,
        env={**os.environ, "LV_COMMAND": stage.command, "LV_REPORT": str(report)},
        capture_output=True,
        check=True,
    )
    written = report.with_name("lv-report.coverage")
    content = written.read_bytes() if written.is_file() else None
    found = judged(part, stage, Ended(0, out=ended.stdout, coverage=content)).report

    assert (found.coverage, found.is_coverage_word) == (coverage, coverage is not None)
    assert found.tests == TestCounts(passed=1)


def test_lines_of_a_file_that_is_named_by_its_package_are_those_of_the_file_of_the_work() -> None:
    line = '<line nr="3" mi="0" ci="2" mb="0" cb="0"/>'
    report = (
        f'<report name="a"><package name="p"><sourcefile name="A.java">{line}</sourcefile>'
        "</package></report>"
    )
    plan = "Test commands:\n```sh\ntrue\n```\n"
    part = covering(part_of("{coverage: target/jacoco.xml}", plan=plan), is_wanted=True)

    found = judged(part, stage_of(part, "test"), Ended(0, coverage=report.encode()))

    assert found.coverage is not None
    assert {*found.coverage.files} == {"src/p/A.java"}


def test_a_gate_with_nothing_to_run_has_nothing_to_report() -> None:
    assert stage_of(part_of("{types: t.json}"), "types").expected is None


@pytest.mark.parametrize("path", ["/etc/passwd", "../r.xml", "a/../../r.xml", ".", '"a\\x01b"'])
def test_a_report_lies_below_its_component(path: str) -> None:
    why = "components[0].reports.test must be a file below the component's folder."
    assert problems(f"{{test: {path}}}") == [why]
    assert stage_of(part_of(f"{{test: {path}}}"), "test").expected is None


def test_a_report_of_another_gate_is_nothing_anybody_reads() -> None:
    [why] = problems("{security: r.sarif}")

    assert why == "components[0].reports.security is not a known key: nothing reads it."


def test_what_the_command_wrote_is_the_works_own_word(folder: Path) -> None:
    found = run(f"echo '{GOOD}' > out/report.xml", folder)

    assert found.report.status is Status.PASSED
    assert found.report.tests == TestCounts(passed=1)
    assert found.report.is_word
    assert GateReport.from_json(found.report.to_json()) == found.report
    assert not found.report.has_passing_tests
    assert not all_tests_passed([found.report])
    assert "The work itself names this report." in told(found.report)


def test_a_failure_that_it_tells_of_has_its_name(folder: Path) -> None:
    found = run(f"echo '{BAD}' > out/report.xml; exit 3", folder)

    [finding] = findings_of(found.report)
    assert (finding.reason_code, finding.message) == ("tests_failed", "adds: 3")


@pytest.mark.parametrize(("report", "code"), [(GOOD, 1), (BAD, 0)])
def test_it_never_overrules_the_exit_code(folder: Path, report: str, code: int) -> None:
    found = run(f"echo '{report}' > out/report.xml; exit {code}", folder)

    assert [one.reason_code for one in findings_of(found.report)] == ["gate_contradiction"]


@pytest.mark.parametrize(
    "command",
    [
        "true",
        "echo nothing of any format > out/report.xml",
        ": > out/report.xml",
        f"echo '{GOOD}' > out/real.xml; ln -s real.xml out/report.xml",
        f"rmdir out; mkdir real; ln -s real out; echo '{GOOD}' > out/report.xml",
        "mkdir out/report.xml",
        "mkfifo out/report.xml",
        f"echo '{GOOD}' > \"$LV_REPORT\"",
        f"{{ echo '{GOOD}'; head -c {MAX_REPORT_BYTES} /dev/zero; }} > out/report.xml",
    ],
)
def test_one_that_is_missing_or_cannot_be_read_is_no_passed_test(
    folder: Path, command: str
) -> None:
    found = run(command, folder)

    assert found.report.tests is None
    assert [one.reason_code for one in findings_of(found.report)] == ["gate_contradiction"]


def test_a_report_that_came_with_the_work_does_not_count(folder: Path) -> None:
    (folder / "out/report.xml").write_text(GOOD)

    found = run("true", folder)

    assert found.report.tests is None
    assert found.report.contradiction
    assert (folder / "out/report.xml").read_text() == GOOD


def test_one_that_was_written_again_counts_though_it_says_the_same(folder: Path) -> None:
    (folder / "out/report.xml").write_text(GOOD)

    found = run(f"echo '{GOOD}' > out/report.xml", folder)

    assert found.report.tests == TestCounts(passed=1)


def test_a_command_ends_with_its_first_failure_as_ever(folder: Path) -> None:
    found = run(f"false\necho '{GOOD}' > out/report.xml", folder)

    assert (found.report.exit_code, found.report.tests) == (1, None)
    assert [one.reason_code for one in findings_of(found.report)] == ["tests_failed"]


@pytest.mark.parametrize("command", ["true", "echo x > r.json", "echo '{}' > r.json", ": > r.json"])
def test_a_linter_whose_report_is_missing_has_not_found_zero_problems(
    folder: Path, command: str
) -> None:
    found = run(command, folder, gate="lint", path="r.json")

    assert found.report.problem_count is None
    assert [one.reason_code for one in findings_of(found.report)] == ["gate_error"]


def test_a_linter_that_says_nothing_and_fails_is_in_doubt(folder: Path) -> None:
    found = run(f"echo '{SARIF}' > r.sarif; exit 2", folder, gate="lint", path="r.sarif")

    assert [one.reason_code for one in findings_of(found.report)] == ["gate_error"]


def test_problems_that_it_tells_of_have_their_place(folder: Path) -> None:
    problem = '[{"code": "F401", "message": "x", "filename": "a.py", "location": {"row": 2}}]'

    found = run(f"echo '{problem}' > r.json; exit 1", folder, gate="lint", path="r.json")

    [finding] = findings_of(found.report)
    assert (finding.path, finding.line, finding.message) == ("a.py", 2, "F401: x")
    assert finding.enforcement is Enforcement.ADVISORY


def test_its_word_on_what_failed_before_excuses_nothing(folder: Path) -> None:
    failing = run(f"echo '{BAD}' > out/report.xml; exit 1", folder)
    passing = run(f"echo '{GOOD}' > out/report.xml", folder)

    assert compared(failing, passing).status is Status.FAILED
    assert compared(failing, None).status is Status.FAILED
    [finding] = findings_of(compared(failing, failing))
    assert finding.reason_code == "gate_error"
