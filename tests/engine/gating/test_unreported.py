from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.tables import check_rows
from verification.engine.evidence import CouldNotInspect
from verification.engine.fakes import InProcessProbe, MemoryWorkspace
from verification.engine.gates import GateReport
from verification.engine.gating.changing import weighed
from verification.engine.gating.components import Component, Language
from verification.engine.gating.unreported import is_code, silent, unreported
from verification.engine.outcome import Status
from verification.engine.reports.model import Coverage, FileCoverage

NODE, GO = Component("", Language.NODE), Component("", Language.GO)
WEB = Component("web", Language.NODE)
RAN = Coverage({"src/a.js": FileCoverage(frozenset({1}), frozenset({2}))})
TEST = GateReport("test", Status.PASSED)
CODE = "export const b = () => {\n  return 1;\n};\n"
CODE_LINES = InProcessProbe().code_lines


@check_rows(
    ("path", "is_one"),
    [
        ("src/a.js", True),
        ("latest.php", True),
        ("contest.py", True),
        ("pkg/testing.go", True),
        ("testimony/a.py", True),
        ("a.test.js", False),
        ("src/a.spec.ts", False),
        ("src/__tests__/a.js", False),
        ("tests/helpers.py", False),
        ("test_a.py", False),
        ("conftest.py", False),
        ("calc_test.go", False),
        ("src/CalcTest.php", False),
        ("Shop.Tests/CalcTests.cs", False),
        ("jest.config.js", False),
        ("eslint.config.mjs", False),
        (".eslintrc.js", False),
        (".storybook/main.js", False),
        ("setup.py", False),
        ("src/types.d.ts", False),
        ("vendor/a.php", False),
        ("web/node_modules/a/index.js", False),
    ],
)
def test_code_is_what_tests_are_to_run(path: str, is_one: bool) -> None:
    assert is_code(path) is is_one


@pytest.mark.parametrize(
    ("told", "changed", "found"),
    [
        ({NODE: RAN}, ["src/a.js"], {}),
        ({NODE: RAN}, ["src/b.js", "src/b.test.js", "README.md"], {NODE: ["src/b.js"]}),
        ({NODE: RAN}, ["src/gone.js"], {}),  # of a diff, and not of the work
        ({NODE: RAN}, ["tool.py"], {}),  # what runs Python told nothing
        ({NODE: RAN}, ["web/c.js"], {}),  # nor did what is nearer
        ({NODE: RAN, WEB: RAN}, ["web/c.js"], {WEB: ["web/c.js"]}),
        ({NODE: RAN, WEB: Coverage({"web/c.js": FileCoverage()})}, ["web/c.js"], {}),
        ({}, ["src/b.js"], {}),  # nothing was measured
    ],
)
def test_a_file_that_no_report_speaks_of_belongs_to_the_nearest_that_told(
    told: dict[Component, Coverage],
    changed: Sequence[str],
    found: dict[Component, list[str]],
) -> None:
    paths = ["src/a.js", "src/b.js", "src/b.test.js", "README.md", "tool.py", "web/c.js"]

    assert unreported(told, [NODE, WEB], changed, paths) == found


def test_new_code_that_no_test_loads_was_not_run() -> None:
    changed = {"src/a.js": frozenset({1}), "src/b.js": frozenset({1, 2, 3})}

    report = weighed(TEST, RAN, changed, {"src/b.js": frozenset({1, 2})})

    assert report.changed_lines == (1, 3)
    assert report.unrun == (("src/b.js", 1, 2),)
    assert report.unreported == (("src/b.js", 2),)


def test_new_lines_that_are_no_code_are_not_told_of() -> None:
    changed = {"src/types.ts": frozenset({1}), "src/b.js": frozenset({3})}

    report = weighed(TEST, RAN, changed, {"src/types.ts": frozenset(), "src/b.js": frozenset({1})})

    assert (report.changed_lines, report.unreported) == (None, ())


def test_lines_that_nobody_knows_are_not_counted_and_their_file_is_named() -> None:
    changed = {"src/a.js": frozenset({1}), "src/b.js": frozenset({1})}

    report = weighed(TEST, RAN, changed, {"src/b.js": None})

    assert (report.changed_lines, report.unreported) == ((1, 1), (("src/b.js", 0),))


def test_lines_of_the_tests_themselves_do_not_count() -> None:
    own = Coverage({"test_a.py": FileCoverage(frozenset({1, 2}))})

    assert weighed(TEST, own, {"test_a.py": frozenset({1, 2})}).changed_lines is None


@pytest.mark.parametrize(
    ("component", "coverage", "path", "content", "lines"),
    [
        (NODE, RAN, "src/b.js", CODE, {1, 2}),
        (NODE, RAN, "src/b.js", "export const", None),
        (NODE, Coverage(), "src/b.js", CODE, {1, 2}),
        # What was built of the work's files ran, under names of its own.
        (NODE, Coverage({"dist/all.js": FileCoverage()}), "src/b.js", CODE, None),
        (GO, Coverage(), "b.go", "package b\n\nfunc B() int {\n\treturn 1\n}\n", {4}),
        # Built elsewhere, or where it is asked to.
        (GO, Coverage(), "b.go", "//go:build ignore\n\npackage b\n\nfunc B() {\n\tb()\n}\n", None),
        (GO, Coverage(), "b_windows.go", "package b\n\nfunc B() {\n\tb()\n}\n", None),
    ],
)  # fmt: skip
def test_what_may_have_run_under_another_name_or_nowhere_is_not_known(
    component: Component, coverage: Coverage, path: str, content: str, lines: set[int] | None
) -> None:
    work = MemoryWorkspace({path: content, "src/a.js": ""})

    found = silent(component, coverage, [path], work.contents, work.contents.get, CODE_LINES)

    assert found == {path: lines}


def test_where_the_child_is_lost_nothing_is_known_and_nobody_is_blamed() -> None:
    def lost(sources: Sequence[tuple[str, bytes]]) -> Sequence[frozenset[int] | None]:
        raise CouldNotInspect("The probe ended.")

    assert silent(NODE, RAN, ["src/b.js"], ["src/a.js"], lambda _path: b"", lost) == {
        "src/b.js": None
    }
