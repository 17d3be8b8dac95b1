"""JUnit's XML, which most runners can write, each in its own way.

Source: what pytest, Surefire, jest-junit, Vitest, Mocha, RSpec, PHPUnit, gotestsum and node write.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Self
from xml.etree.ElementTree import Element, SubElement

from verification.engine.reports.model import (
    MAX_MESSAGE_CHARS,
    MAX_REPORT_BYTES,
    CaseStatus,
    TestCase,
    TestReport,
    Unreadable,
    counted,
    inner_path,
    milliseconds,
    name,
    number,
    text,
)
from verification.engine.reports.testing.contents import count
from verification.engine.reports.testing.xml_text import kind, tree_of, within

_SUITES = frozenset({"testsuites", "testsuite"})
_PLACE = re.compile(r"([^\s:][^:\n]{0,400}\.\w{1,8}):(\d{1,9})(?::|$)")
_FAIL_COMMENT = re.compile(r"\s*fail (\d{1,9})\s*")
_PYTEST = "pytest"
_TAIL_CHARS = 20_000
_BAD = frozenset({"failure", "error"})
# Surefire's words for the tries before the last, which cargo-nextest and Gradle took over: the
# last try passed, or it failed as well.
_FLAKY = frozenset({"flakyFailure", "flakyError"})
_RERUN = frozenset({"rerunFailure", "rerunError"})
_GO_VERSION = "go.version"
"""gotestsum writes this property, and no other runner does."""


@dataclass(frozen=True, slots=True)
class _Sum:
    """Counts of cases. `most_bad` counts `failure` and `error` elements: a case may have several.

    `tries` counts the tries before the last, which some runners count among failures and tests.
    """

    tests: int = 0
    bad: int = 0
    most_bad: int = 0
    tries: int = 0

    def plus(self, other: Self) -> _Sum:
        return _Sum(
            self.tests + other.tests,
            self.bad + other.bad,
            self.most_bad + other.most_bad,
            self.tries + other.tries,
        )

    def as_one(self) -> _Sum:
        """Node counts a suite in a suite as one test."""
        return _Sum(1, min(self.bad, 1), min(self.most_bad, 1), min(self.tries, 1))


def read(content: bytes, folder: str = "") -> TestReport:
    return read_all([content], folder)


def read_all(contents: Sequence[bytes], folder: str = "") -> TestReport:
    """Several reports as one: Surefire writes one for each class."""
    if not contents:
        raise Unreadable("There is no report.")
    if sum(map(len, contents)) > MAX_REPORT_BYTES:
        raise Unreadable(f"The reports are larger than {MAX_REPORT_BYTES:,} bytes.")
    return counted(case for content in contents for case in _cases(tree_of(content), folder))


def _cases(root: Element, folder: str) -> Iterator[TestCase]:
    if kind(root) not in _SUITES:
        raise Unreadable("The report is not JUnit's.")
    rerun = [case for inner in within(root, "testsuite") for case in _leave_out_reruns(inner)]
    _agrees(root)
    for case in rerun:
        SubElement(case, "flakyFailure")
    for inner in (root, *within(root, "testsuite")):
        if _is_of_gotestsum(inner):
            _join_tries(inner)
    for suite, case in _walked(root, ""):
        yield _case(case, suite, folder)


def _leave_out_reruns(suite: Element) -> list[Element]:
    """Leave out the tries before the last of tests that pytest ran again, and return their last.

    It lists each try as a case without a word of how it failed, and counts the last alone.
    """
    cases = within(suite, "testcase")
    surplus = len(cases) - (count(suite.get("tests")) if suite.get("tests") else len(cases))
    if suite.get("name") != _PYTEST or surplus <= 0:
        return []
    last = {_key(case): case for case in cases}
    tries = [case for case in cases if last[_key(case)] is not case and not len(case)][:surplus]
    left_out = set(tries)
    suite[:] = [child for child in suite if child not in left_out]
    return [last[key] for key in {_key(case) for case in tries}]


def _key(case: Element) -> tuple[str | None, str | None]:
    return case.get("classname"), case.get("name")


def _is_of_gotestsum(suite: Element) -> bool:
    properties = (each for part in within(suite, "properties") for each in part)
    return any(each.get("name") == _GO_VERSION for each in properties)


def _join_tries(suite: Element) -> None:
    """Make one case of each test that gotestsum ran again, in the words that Surefire has.

    It lists every try as a case, failed ones first. A test that never failed is not run again: where
    one is listed twice, `-count` ran all of them, and each of its failures counts.
    """
    tries: dict[tuple[str | None, str | None], list[Element]] = {}
    for case in within(suite, "testcase"):
        tries.setdefault(_key(case), []).append(case)
    repeated = [cases for cases in tries.values() if len(cases) > 1]
    if not all(any(_status(case).is_bad for case in cases) for cases in repeated):
        return
    dropped: set[Element] = set()
    for cases in repeated:
        passed = next((case for case in cases if _status(case) is CaseStatus.PASSED), None)
        last = cases[0] if passed is None else passed
        prefix = "rerun" if passed is None else "flaky"
        others = [case for case in cases if case is not last]
        dropped.update(others)
        for child in [child for case in others for child in case if kind(child) in _BAD]:
            child.tag = f"{prefix}{kind(child).capitalize()}"
            last.append(child)
    suite[:] = [child for child in suite if child not in dropped]


def _walked(suite: Element, above: str) -> Iterator[tuple[str, Element]]:
    title = name(suite.get("name")) or above
    for child in suite:
        if kind(child) == "testcase":
            yield title, child
        elif kind(child) in _SUITES:
            yield from _walked(child, title)


def _case(case: Element, suite: str, folder: str) -> TestCase:
    status = _status(case)
    is_flaky = status is CaseStatus.PASSED and any(kind(child) in _FLAKY for child in case)
    message = _messages(case, status)
    path, line = inner_path(case.get("file"), folder), number(case.get("line"))
    if line and suite == _PYTEST:
        line += 1  # It counts from 0.
    if status.is_bad:
        path, line = _failing_place(message, folder) or (path, line)
    return TestCase(
        name=name(case.get("name")),
        status=status,
        suite=name(case.get("classname")) or suite,
        message=text(message),
        path=path,
        line=line if path else None,
        duration_ms=milliseconds((case.get("time") or "").replace(",", "")),
        is_flaky=is_flaky,
    )


def _status(case: Element) -> CaseStatus:
    kinds = {kind(child) for child in case}
    if "skipped" in kinds and any(child.get("type") == "todo" for child in within(case, "skipped")):
        return CaseStatus.SKIPPED  # Node tells how an expected failure failed.
    # A case of nothing but failed tries has failed in all of them.
    if kinds & {"error", "rerunError"}:
        return CaseStatus.ERROR
    if kinds & {"failure", "rerunFailure"}:
        return CaseStatus.FAILED
    is_left_out = "skipped" in kinds or case.get("status") in ("notrun", "disabled")
    return CaseStatus.SKIPPED if is_left_out else CaseStatus.PASSED


def _messages(case: Element, status: CaseStatus) -> str:
    """The messages of what did not pass, each with its text unless that repeats it."""
    wanted = _FLAKY if status is CaseStatus.PASSED else {*_BAD, *_RERUN, "skipped"}
    messages: list[str] = []
    for child in case:
        if kind(child) in wanted:
            traces = (trace.text or "" for trace in within(child, "stackTrace"))
            body = ((child.text or "").strip() or "\n".join(traces)).strip()
            brief = (child.get("message") or "").strip()[:MAX_MESSAGE_CHARS]
            messages += [brief, body] if brief not in body else [body]
    return "\n".join(filter(None, messages))


def _failing_place(message: str, folder: str) -> tuple[str, int | None] | None:
    """The last line that begins with a file of the workspace: pytest ends there, and PHPUnit."""
    for line in reversed(message[-_TAIL_CHARS:].splitlines()):
        place = _PLACE.match(line)
        path = inner_path(place[1], folder) if place else ""
        if place and path:
            return path, number(place[2])
    return None


def _agrees(root: Element) -> None:
    """Raise where a suite's own numbers are not those of its cases."""
    summed = _summed(root)
    # Node's suites do not say that they failed by themselves: its last comments do.
    comments = (child.text or "" for child in root if kind(child) == "")
    failed = (int(found[1]) for found in map(_FAIL_COMMENT.fullmatch, comments) if found)
    if sum(failed) > summed.bad:
        raise Unreadable("The report says that more tests failed than it shows.")


def _summed(suite: Element) -> _Sum:
    flat, nested, as_ones = _Sum(), _Sum(), _Sum()
    for child in suite:
        if kind(child) == "testcase":
            flat = flat.plus(_sum_case(child))
        elif kind(child) in _SUITES:
            inner = _summed(child)
            nested, as_ones = nested.plus(inner), as_ones.plus(inner.as_one())
    deep = flat.plus(nested)
    if not any(_matches(suite, reading) for reading in (deep, flat.plus(as_ones), flat)):
        raise Unreadable("The numbers that a suite gives are not those of its cases.")
    return deep


def _sum_case(case: Element) -> _Sum:
    kinds = [kind(child) for child in case]
    is_bad = _status(case).is_bad
    elements = sum(tag in _BAD for tag in kinds)
    tries = sum(tag in _FLAKY or tag in _RERUN for tag in kinds)
    return _Sum(1, int(is_bad), max(elements, int(is_bad)), tries)


def _matches(suite: Element, cases: _Sum) -> bool:
    """`failures` and `errors` are compared together: runners differ in which is which."""
    keys = ("tests", "failures", "errors")
    given = {key: count(suite.get(key)) for key in keys if suite.get(key)}
    if "failures" in given or "errors" in given:
        bad = given.get("failures", 0) + given.get("errors", 0)
        if not cases.bad <= bad <= cases.most_bad + cases.tries:
            return False
    if "tests" not in given:
        return True
    # Of failures of hooks and fixtures, which some runners list as cases, not all count them.
    least = cases.tests - cases.bad
    # pytest counts what its subtests and its tests' ends did besides, and nothing without a test.
    is_more = suite.get("name") == _PYTEST and cases.tests > 0
    most = given["tests"] if is_more else cases.tests
    return least <= given["tests"] <= most + cases.tries
