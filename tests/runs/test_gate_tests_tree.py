from __future__ import annotations

from typing import Any

import pytest

from tests.gates import failed, passed
from verification.engine.reports.model import TestCase
from verification.runs.gating.tree import (
    Places,
    ShownTest,
    TestGroup,
    repeated_of,
    tree_of,
    varied,
)

FILES = {"tests/test_calc.py", "tests/unit/test_calc.py", "api/tests/test_api.py", "calc.py"}


def told(groups: list[TestGroup]) -> dict[str, Any]:
    """Titles and labels as nested mappings: `None` for a test."""
    return {
        one.title: {**told(one.groups), **{test.label: None for test in one.tests}}
        for one in groups
    }


def tree(cases: list[TestCase], folder: str = "", *, by_package: bool = False) -> dict[str, Any]:
    repeated = repeated_of(cases)
    shown = []
    for case in cases:
        name, how = varied(case.name)
        label = how if (case.suite, name) in repeated and how else case.name
        shown.append(ShownTest(case, label, None))
    paths = {one.suite: one.path for one in cases if one.path}
    return told(tree_of(shown, Places(FILES, folder, paths, by_package), repeated))


def test_classes_stand_in_their_file_also_those_whose_tests_all_passed() -> None:
    cases = [
        failed("test_adds", suite="tests.test_calc.TestSum", path="tests/test_calc.py"),
        passed("test_empty", suite="tests.test_calc.TestSum.TestNone"),
        passed("test_other", suite="tests.test_calc.TestOther"),
        passed("test_alone", suite="tests.test_calc"),
    ]

    assert tree(cases) == {
        "tests/test_calc.py": {
            "TestSum": {"TestNone": {"test_empty": None}, "test_adds": None},
            "TestOther": {"test_other": None},
            "test_alone": None,
        }
    }


def test_a_test_that_fails_elsewhere_stands_where_it_was_written() -> None:
    cases = [
        failed("test_raises", suite="tests.test_calc.TestSum", path="calc.py", line=3),
        passed("test_adds", suite="tests.test_calc.TestSum"),
    ]

    assert tree(cases) == {
        "tests/test_calc.py": {"TestSum": {"test_raises": None, "test_adds": None}}
    }


def test_the_modules_of_a_component_are_looked_for_in_its_folder() -> None:
    cases = [passed("test_get", suite="tests.test_api"), passed("test_x", suite="tests.test_calc")]

    assert tree(cases, "api") == {
        "api/tests/test_api.py": {"test_get": None},
        "tests.test_calc": {"test_x": None},
    }


def test_a_test_that_is_run_several_times_holds_what_varies() -> None:
    cases = [
        failed("test_sum[1-2]", suite="tests.test_calc"),
        passed("test_sum[3-4]", suite="tests.test_calc"),
        passed("test_once[5]", suite="tests.test_calc"),
    ]

    assert tree(cases) == {
        "tests/test_calc.py": {
            "test_sum": {"[1-2]": None, "[3-4]": None},
            "test_once[5]": None,
        }
    }


def test_blocks_stand_in_each_other() -> None:
    cases = [
        failed("takes it off", suite="cart > with vouchers", path="cart.test.js"),
        passed("adds up", suite="cart", path="cart.test.js"),
    ]

    assert tree(cases) == {
        "cart.test.js": {"cart": {"with vouchers": {"takes it off": None}, "adds up": None}}
    }


def test_a_package_of_go_is_no_file_and_its_subtests_stand_in_their_test() -> None:
    cases = [
        failed("TestGreet/of_", suite="example.com/api", path="api/a_test.go"),
        passed("TestGreet/of_Ann", suite="example.com/api"),
        passed("TestOther", suite="example.com/api"),  # nobody says in which file
    ]

    assert tree(cases, by_package=True) == {
        "example.com/api": {"TestGreet": {"of_": None, "of_Ann": None}, "TestOther": None}
    }


def test_what_names_nothing_stands_together() -> None:
    assert tree([passed("a"), failed("b")]) == {"Tests": {"a": None, "b": None}}


def test_what_failed_comes_first_and_is_counted_above() -> None:
    cases = [
        passed("test_a", suite="tests.test_calc.TestGood"),
        failed("test_b", suite="tests.test_calc.TestBad", duration_ms=5),
        passed("test_c", suite="tests.test_calc.TestBad", duration_ms=7),
    ]
    shown = [ShownTest(one, one.name, None) for one in cases]

    (group,) = tree_of(shown, Places(FILES, "", {}), repeated_of(cases))

    assert [one.title for one in group.groups] == ["TestBad", "TestGood"]
    assert (group.failed, group.counts, group.duration_ms) == (1, [(2, "passed")], 12)


def test_a_suite_of_many_parts_is_no_deeper_than_a_page() -> None:
    depth, found = 0, tree([passed("test_a", suite=" > ".join("abcdefghij" * 20), path="x.js")])
    while found and None not in found.values():
        depth, found = depth + 1, next(iter(found.values()))

    assert depth == 6


@pytest.mark.parametrize("name", ["", "[", "a[b", "a b/c", "/", "a/", "[x]", "a[]"])
def test_a_name_that_varies_nothing_is_whole(name: str) -> None:
    assert varied(name) == (name, "")
