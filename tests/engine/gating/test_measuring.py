from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from tests.tables import check_rows
from verification.engine.gates import GateReport
from verification.engine.gating.measuring import measured
from verification.engine.outcome import Status
from verification.engine.reports.model import Problem, ProblemSeverity, TestCounts
from verification.engine.scoring import Part, ScoreSource, automated, parts_of, resolved

PASSED, FAILED, SKIPPED = Status.PASSED, Status.FAILED, Status.SKIPPED
ERROR, TIMED_OUT = Status.ERROR, Status.TIMED_OUT


def gate(name: str, status: Status = PASSED, **about: Any) -> GateReport:
    code = {PASSED: 0, FAILED: 1}.get(status)
    return GateReport(name, status, **{"exit_code": code, "command": f"do {name}", **about})


GOOD = {
    "install": gate("install"),
    "build": gate("build"),
    "types": gate("types", problem_count=0),
    "test": gate("test", tests=TestCounts(passed=4), changed_lines=(1, 2)),
    "lint": gate("lint", problem_count=0),
    "security": gate("security", problem_count=0),
}
LOST = {"is_lost": True}


def parts(reports: Sequence[GateReport]) -> dict[str, Part]:
    return {part.name: part for part in parts_of(measured(reports, GOOD))}


def with_one(name: str, status: Status, **about: Any) -> list[GateReport]:
    return [*({**GOOD, name: gate(name, status, **about)}).values()]


def test_all_that_was_measured_earns() -> None:
    found = automated(measured([*GOOD.values()], GOOD))

    assert found is not None
    assert (found.total, all(part.is_measured for part in found.parts)) == (9.58, True)


@check_rows(
    ("reports", "name", "why"),
    [
        (with_one("build", ERROR), "build", "gate error: build could not be run or read"),
        (with_one("build", FAILED, **LOST), "build", "lost: build"),
        (with_one("build", PASSED, contradiction="both"), "build", "contradiction: build"),
        (with_one("install", FAILED, **LOST), "build", "lost: install"),
        (
            with_one("test", SKIPPED, detail="The build did not pass."),
            "tests",
            "skipped: test. The build did not pass.",
        ),
        (with_one("test", ERROR, tests=TestCounts(9)), "tests", "gate error: test could not be run or read"),
        (with_one("test", FAILED, tests=TestCounts(9, 1), **LOST), "tests", "lost: test"),
        (with_one("test", PASSED, tests=TestCounts(9, 1)), "tests", "contradiction: test"),
        (with_one("test", TIMED_OUT), "tests", "timed out: test"),
        (
            with_one("test", FAILED, exit_code=137, tests=TestCounts(9, 1)),
            "tests",
            "out of memory: test",
        ),
        (with_one("test", FAILED), "tests", "not counted: test failed, and reported no numbers"),
        (with_one("test", PASSED, tests=TestCounts()), "tests", "no tests"),
        (with_one("test", PASSED, tests=TestCounts(skipped=2)), "tests", "no tests: 2 skipped"),
        (with_one("lint", TIMED_OUT), "lint", "timed out: lint"),
        (with_one("lint", ERROR), "lint", "gate error: lint could not be run or read"),
        (with_one("lint", PASSED), "lint", "not counted: lint passed, and reported no numbers"),
        (
            with_one("lint", SKIPPED, command="", detail="No linter is configured."),
            "lint",
            "skipped: No linter is configured.",
        ),
        (with_one("types", FAILED, **LOST), "no critical errors", "lost: types"),
        (with_one("security", ERROR), "security", "gate error: security could not be run or read"),
        (with_one("security", PASSED, problem_count=0, **LOST), "security", "lost: security"),
        (
            with_one("test", FAILED, changed_lines=(2, 2), **LOST),
            "coverage of changed lines",
            "lost: test",
        ),
        ([one for one in GOOD.values() if one.gate != "lint"], "lint", "gate error: lint told nothing"),
    ],
)  # fmt: skip
def test_what_says_nothing_of_the_work_earns_nothing_and_is_named(
    reports: list[GateReport], name: str, why: str
) -> None:
    part = parts(reports)[name]

    assert (part.is_measured, part.points, part.why) == (False, 0, why)


def test_where_nobody_knows_which_lines_are_new_the_files_that_no_report_speaks_of_are_named() -> (
    None
):
    silent = gate("test", tests=TestCounts(passed=4), unreported=(("a.cs", 0),))

    part = parts([*GOOD.values(), silent])["coverage of changed lines"]
    alone = parts([silent])["coverage of changed lines"]

    assert (part.points, part.why) == (0.5, "1 of 2; a.cs was in no report")
    assert (alone.is_measured, alone.why) == (False, "a.cs was in no report")


def test_a_runner_that_was_asked_which_lines_it_ran_and_did_not_tell_is_named() -> None:
    command = 'phpunit $cover --coverage-cobertura "$LV_REPORT.coverage"'
    asked = gate("test", tests=TestCounts(passed=4), command=command)

    part = parts([asked])["coverage of changed lines"]

    assert (part.is_measured, part.is_optional) == (False, True)
    assert part.why == "not counted: test did not tell which lines it ran"


def test_one_component_that_was_lost_is_not_made_up_for_by_another() -> None:
    lost = [replace(one, component="web", is_lost=True) for one in GOOD.values()]

    found = parts([*GOOD.values(), *lost])

    assert not any(part.is_measured for part in found.values())
    assert found["tests"].why == "lost: test of web"


def test_what_was_lost_of_an_optional_part_lowers_no_score() -> None:
    whole = [one for one in GOOD.values() if one.gate not in ("test", "security")]
    tests = gate("test", tests=TestCounts(passed=4))

    found = automated(measured([*whole, tests, gate("security", ERROR)], GOOD))

    assert found is not None
    assert {part.name for part in found.parts if part.is_optional} == {"security"}
    unmeasured = [part.name for part in found.parts if not part.is_measured]
    assert unmeasured == ["no critical errors", "security"]
    assert found.total == 9


def test_a_failed_install_is_nothing_however_well_another_component_did() -> None:
    failed = gate("install", FAILED, component="web")

    found = automated(measured([*GOOD.values(), failed], GOOD))

    assert found is not None
    assert (found.total, sum(part.points for part in found.parts)) == (0, 0)


def test_an_install_that_was_lost_is_no_failed_one() -> None:
    found = automated(measured(with_one("install", FAILED, **LOST), GOOD))

    assert found is not None
    assert found.total > 0


@pytest.mark.parametrize(
    "about",
    [
        {"status": TIMED_OUT},
        {"status": FAILED, "exit_code": 137},
    ],
)
def test_what_ran_out_of_time_or_memory_is_a_critical_error_beside_whatever_was_lost(
    about: dict[str, Any],
) -> None:
    reports = [*with_one("types", **about), gate("run", ERROR)]

    assert measured(reports, GOOD).critical_errors == 1


def test_where_all_was_lost_nobody_stands_behind_the_score_and_each_part_says_why() -> None:
    lost = [replace(one, status=ERROR, is_lost=True) for one in GOOD.values()]

    found = resolved([], measured(lost, GOOD))

    assert (found.total, found.source) == (5, ScoreSource.NEITHER)
    assert {part.why.partition(":")[0] for part in found.parts} == {"lost"}


def test_high_problems_cost_the_point_of_security_and_waived_ones_do_not() -> None:
    high = Problem("A secret.", severity=ProblemSeverity.HIGH)
    looked = gate("security", FAILED, problem_count=1, problems=(high,))
    waived = replace(looked, problems=(replace(high, waived="by Ada"),))

    assert [parts([one])["security"].points for one in (looked, waived)] == [0, 1]
