"""Tests as a tree: by file, by what they stand in there, by what varies. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from verification.engine.reports.model import CaseStatus, TestCase
from verification.runs.gating.spots import Spot

VARIED = re.compile(r"(?P<test>[^\[\s]+)(?P<how>\[.+\])", re.DOTALL)
INNER = " > "
MAX_DEPTH = 6
KINDS = (CaseStatus.PASSED, CaseStatus.SKIPPED)


@dataclass(frozen=True, slots=True)
class ShownTest:
    """`label` is what its name says beyond what it stands in."""

    case: TestCase
    label: str
    spot: Spot | None
    is_open: bool = False
    is_old: bool = False

    @property
    def is_broken(self) -> bool:
        """It did not get as far as to fail."""
        return self.case.status is CaseStatus.ERROR


@dataclass
class TestGroup:
    """A file, a class or a block in it, or a test that is run several times."""

    __test__ = False

    title: str
    tests: list[ShownTest] = field(default_factory=list)
    inner: dict[str, TestGroup] = field(default_factory=dict)

    @cached_property
    def groups(self) -> list[TestGroup]:
        return sorted(self.inner.values(), key=lambda one: not one.failed)

    @cached_property
    def bad(self) -> list[ShownTest]:
        return [one for one in self.tests if one.case.status.is_bad]

    @cached_property
    def folded(self) -> list[tuple[str, list[ShownTest]]]:
        found = [(kind.value, [t for t in self.tests if t.case.status is kind]) for kind in KINDS]
        return [one for one in found if one[1]]

    @cached_property
    def all(self) -> list[ShownTest]:
        """With all that stands below it."""
        return [*self.tests, *(test for one in self.inner.values() for test in one.all)]

    @cached_property
    def failed(self) -> int:
        return sum(one.case.status.is_bad for one in self.all)

    @cached_property
    def counts(self) -> list[tuple[int, str]]:
        """Of those that did not fail."""
        found = [(sum(one.case.status is kind for one in self.all), kind.value) for kind in KINDS]
        return [one for one in found if one[0]]

    @cached_property
    def duration_ms(self) -> int:
        return sum(one.case.duration_ms for one in self.all)


@dataclass(frozen=True, slots=True)
class Places:
    """Where tests stand. `files` are those of the work that may hold some; `folder` the component's.

    `by_package`: a suite is a package, whose tests may stand in any of its files.
    """

    files: Collection[str]
    folder: str
    paths: Mapping[str, str]
    by_package: bool = False

    def of(self, case: TestCase) -> list[str]:
        """The titles above a test, from the file on."""
        if named := self._module(case.suite):
            return named
        path = case.path or self.paths.get(case.suite, "")
        if (self.by_package and case.suite) or not path:
            return [case.suite or "Tests"]
        inner = [] if case.suite == path else case.suite.split(INNER)
        return [path, *filter(None, inner)]

    def _module(self, suite: str) -> list[str]:
        """A module of Python is a file, whatever place in it or elsewhere a failure names."""
        parts = suite.split(".")
        for path, count in modules_of(suite, self.folder):
            if path in self.files:
                return [path, *parts[count:]]
        return []


def modules_of(suite: str, folder: str) -> Iterator[tuple[str, int]]:
    """The files that a dotted name may mean, and how many of its parts each takes.

    >>> list(modules_of("tests.test_a.TestB", "api"))[1]
    ('api/tests/test_a.py', 2)
    """
    parts = suite.split(".")[: MAX_DEPTH * 2]
    for count in range(len(parts), 0, -1):
        inner = "/".join(parts[:count])
        yield (f"{folder}/{inner}.py" if folder else f"{inner}.py"), count


def folder_of(component: str) -> str:
    """Where a component lies.

    >>> folder_of("api/v1 (python)"), folder_of(". (go)")
    ('api/v1', '')
    """
    folder = component.rpartition(" (")[0]
    return "" if folder == "." else folder


def varied(name: str) -> tuple[str, str]:
    """A test that is run several times, and what varies; else its name alone.

    >>> varied("test_sum[1-2]"), varied("TestSum/of one"), varied("adds up")
    (('test_sum', '[1-2]'), ('TestSum', 'of one'), ('adds up', ''))
    """
    if found := VARIED.fullmatch(name):
        return found["test"], found["how"]
    test, slash, how = name.partition("/")
    return (test, how) if slash and how and " " not in test else (name, "")


def tree_of(
    tests: Sequence[ShownTest], places: Places, repeated: Collection[tuple[str, str]]
) -> list[TestGroup]:
    """`repeated` are suite and name of tests that several cases vary."""
    found: dict[str, TestGroup] = {}
    for test in tests:
        titles = places.of(test.case)[:MAX_DEPTH]
        name, _how = varied(test.case.name)
        if (test.case.suite, name) in repeated:
            titles = [*titles, name]
        group = found.setdefault(titles[0], TestGroup(titles[0]))
        for title in titles[1:]:
            group = group.inner.setdefault(title, TestGroup(title))
        group.tests.append(test)
    return list(found.values())


def repeated_of(cases: Iterable[TestCase]) -> set[tuple[str, str]]:
    seen: set[tuple[str, str]] = set()
    found: set[tuple[str, str]] = set()
    for case in cases:
        name, how = varied(case.name)
        if how:
            (found if (case.suite, name) in seen else seen).add((case.suite, name))
    return found
