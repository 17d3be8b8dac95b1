from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verification.engine.gates import GateReport
from verification.engine.gating.components import Component, Language
from verification.engine.gating.judging import Judged
from verification.engine.gating.locating import located
from verification.engine.outcome import Status
from verification.engine.reports.model import CaseStatus, TestCase, counted

TRACE = """java.lang.AssertionError: expected:<4> but was:<3>
\tat org.junit.Assert.fail(Assert.java:89)
\tat java.base/java.lang.reflect.Method.invoke(Method.java:569)
\tat app//shop.CartTest.lambda$adds$0(CartTest.java:12)
\tat shop.Other.call(Other.java:3)"""
SOURCES = ("lib/src/main/java/shop/Cart.java", "lib/src/test/java/shop/CartTest.java")
GO = "=== RUN   TestAdd\n    calc_test.go:7: wrong\n--- FAIL: TestAdd (0.00s)\n"


def place(
    language: Language, case: TestCase, paths: tuple[str, ...], folder: str = ""
) -> tuple[str, int | None]:
    tests = counted([case])
    told = Judged(GateReport("test", Status.FAILED, failures=tests.cases), tests)

    found = located(told, Component(folder, language), paths)

    assert found.tests is not None
    assert found.report.failures == found.tests.cases
    [case] = found.tests.cases
    return case.path, case.line


def failed(suite: str, message: str, path: str = "") -> TestCase:
    return TestCase("adds", CaseStatus.FAILED, suite, message, path, 1 if path else None)


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        (SOURCES, (SOURCES[1], 12)),
        (("shop/CartTest.java",), ("shop/CartTest.java", 12)),
        (("other/CartTest.java", *SOURCES), (SOURCES[1], 12)),
        (("a/shop/CartTest.java", "b/shop/CartTest.java"), ("", None)),
        (("a/shop/CartTest.java", "b/shop/CartTest.java", "shop/Other.java"), ("shop/Other.java", 3)),
        (("other/CartTest.java",), ("", None)),
        ((), ("", None)),
    ],
)  # fmt: skip
def test_a_trace_of_java_leads_to_the_works_own_file(
    paths: tuple[str, ...], expected: tuple[str, int | None]
) -> None:
    assert place(Language.JAVA, failed("shop.CartTest", TRACE), paths) == expected


@pytest.mark.parametrize(
    ("suite", "paths", "expected"),
    [
        ("example.com/x", ("calc_test.go", "go.mod"), ("calc_test.go", 7)),
        ("example.com/x/in", ("in/calc_test.go",), ("in/calc_test.go", 7)),
        ("example.com/x/in", ("in/calc_test.go", "out/calc_test.go"), ("in/calc_test.go", 7)),
        ("example.com/x/in", ("in/calc_test.go", "calc_test.go"), ("", None)),
        ("example.com/x", ("calc.go",), ("", None)),
    ],
)
def test_a_test_of_go_is_found_by_its_package(
    suite: str, paths: tuple[str, ...], expected: tuple[str, int | None]
) -> None:
    assert place(Language.GO, failed(suite, GO), paths) == expected


def test_of_a_component_only_its_own_files_are_meant() -> None:
    paths = ("api/calc_test.go", "web/calc_test.go")

    for package in ("example.com/x", "example.com/x/api"):
        assert place(Language.GO, failed(package, GO), paths, "api") == ("api/calc_test.go", 7)


def test_what_has_a_place_keeps_it_and_what_passed_needs_none() -> None:
    passed = TestCase("adds", CaseStatus.PASSED, "x", GO)

    assert place(Language.GO, failed("x", GO, "other.go"), ("calc_test.go",)) == ("other.go", 1)
    assert place(Language.GO, passed, ("calc_test.go",)) == ("", None)
    assert place(Language.RUST, failed("x", GO), ("calc_test.go",)) == ("", None)


@given(st.sampled_from([Language.JAVA, Language.GO]), st.text(), st.text(), st.lists(st.text()))
def test_a_place_is_always_a_file_of_the_work(
    language: Language, suite: str, message: str, paths: list[str]
) -> None:
    path, line = place(language, failed(suite, message), tuple(paths))

    assert (path in paths) or (path, line) == ("", None)
