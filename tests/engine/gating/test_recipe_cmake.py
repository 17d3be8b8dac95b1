from __future__ import annotations

from pathlib import Path

import pytest

from tests.engine.gating.fakes import part_with
from tests.engine.gating.test_recipes import part_in, stages_of
from tests.engine.gating.test_unforeseen import ended, put
from verification.engine.gating.components import Language, components_of
from verification.engine.gating.judging import judged
from verification.engine.outcome import Status
from verification.engine.reports.model import TestCounts

TESTED = {"CMakeLists.txt": "project(x)\nenable_testing()\nadd_test(NAME a COMMAND a)\n"}
CTEST = """case "$*" in
*--help*) echo "--output-junit <file>"; exit 0 ;;
esac
echo '<testsuite name="Linux-c++" tests="2" failures="{0}" disabled="0" skipped="0">\
<testcase name="a" classname="a" status="run"/><testcase name="b" classname="b" status="run">{1}\
</testcase></testsuite>' > "$LV_REPORT"
exit {2}"""
GOOD, BAD = CTEST.format(0, "", 0), CTEST.format(1, '<failure message=""/>', 8)
LACKS = 'echo "Could NOT find Boost (missing: Boost_INCLUDE_DIR)"; exit 1'


def test_its_settings_mark_a_component_with_all_that_lies_below() -> None:
    paths = ["CMakeLists.txt", "src/CMakeLists.txt", "src/main.cpp", "py/setup.py"]

    found = components_of(paths, lambda _: b"").found

    assert [(one.folder, one.language) for one in found] == [
        ("", Language.MAKE),
        ("py", Language.PYTHON),
    ]


@pytest.mark.parametrize(
    ("files", "said"),
    [
        (TESTED, ""),
        ({"CMakeLists.txt": "", "t/CMakeLists.txt": "gtest_discover_tests(t)\n"}, ""),
        ({"CMakeLists.txt": "# add_test(x)\n"}, "No CMakeLists.txt names tests."),
        ({**TESTED, "Makefile": ""}, "No Makefile has a target check or test or tests."),
    ],
)
def test_ctest_runs_where_tests_are_named_and_no_makefile_is_there(
    files: dict[str, str], said: str
) -> None:
    assert stages_of(part_in(Language.MAKE, files))["test"].skipped == said


@pytest.mark.parametrize(
    ("gate", "tools", "status", "counts"),
    [
        ("build", {"cmake": "exit 0"}, Status.PASSED, None),
        ("build", {"cmake": "echo 'error: no'; exit 1"}, Status.FAILED, None),
        ("build", {"cmake": LACKS}, Status.ERROR, None),
        (
            "build",
            {"cmake": '[ "$1" = -S ] || exit 2; echo Could NOT find an optional one'},
            Status.FAILED,
            None,
        ),
        ("build", {"cmake": "exit 127"}, Status.ERROR, None),
        ("test", {"cmake": "exit 0", "ctest": GOOD}, Status.PASSED, TestCounts(passed=2)),
        ("test", {"cmake": "exit 0", "ctest": BAD}, Status.FAILED, TestCounts(1, 1)),
        ("test", {"cmake": "exit 0", "ctest": "exit 0"}, Status.ERROR, None),  # it is too old
    ],
)
def test_what_cmake_and_ctest_say_counts(
    tmp_path: Path, gate: str, tools: dict[str, str], status: Status, counts: TestCounts | None
) -> None:
    for tool, script in tools.items():
        put(tmp_path, tool, script)
    stage = stages_of(part_in(Language.MAKE, TESTED))[gate]

    report = judged(part_with(stage), stage, ended(tmp_path, stage.command)).report

    assert (report.status, report.tests) == (status, counts), report
