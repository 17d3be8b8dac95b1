"""Tests as a tree: by file, by what they stand in there, by what varies. Pure."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from verification.engine.reports.model import CaseStatus, TestCase
from verification.runs.gating.spots import Spot

VARIED = re.compile(r"(?P<test>[^\[\s]+)(?P<how>\[.+\])", re.DOTALL)
INNER = " > "
MAX_DEPTH = 6
KINDS = (CaseStatus.PASSED, CaseStatus.SKIPPED)
Titles = tuple[str, ...]


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


@dataclass(slots=True)
class Tally:
    """How many tests ended how, and how long they took: of all, not of one page's alone."""

    ended: Counter[CaseStatus] = field(default_factory=Counter)
    duration_ms: int = 0

    def add(self, case: TestCase) -> None:
        self.ended[case.status] += 1
        self.duration_ms += case.duration_ms


@dataclass
class TestGroup:
    """A file, a class or a block in it, or a test that is run several times.

    `tests` are those that are shown. `own` counts all that stand right here, `whole` also those
    further in.
    """

    __test__ = False

    title: str
    own: Tally = field(default_factory=Tally)
    whole: Tally = field(default_factory=Tally)
    tests: list[ShownTest] = field(default_factory=list)
    inner: dict[str, TestGroup] = field(default_factory=dict)

    @cached_property
    def groups(self) -> list[TestGroup]:
        return sorted(self.inner.values(), key=lambda one: not one.is_open)

    @cached_property
    def bad(self) -> list[ShownTest]:
        return [one for one in self.tests if one.case.status.is_bad]

    @cached_property
    def is_open(self) -> bool:
        """Whether a failure is shown in it."""
        return bool(self.bad) or any(one.is_open for one in self.inner.values())

    @cached_property
    def folded(self) -> list[tuple[str, list[ShownTest]]]:
        """What did not fail, by how many of which kind it is."""
        found = [(kind, [t for t in self.tests if t.case.status is kind]) for kind in KINDS]
        return [(self._counted(kind, len(tests)), tests) for kind, tests in found if tests]

    def _counted(self, kind: CaseStatus, shown: int) -> str:
        of_all = f" of {self.own.ended[kind]:,}" if shown < self.own.ended[kind] else ""
        return f"{shown:,}{of_all} {kind.value}"

    @property
    def failed(self) -> int:
        return sum(count for status, count in self.whole.ended.items() if status.is_bad)

    @property
    def counts(self) -> list[tuple[int, str]]:
        """Of those that did not fail."""
        found = [(self.whole.ended[kind], kind.value) for kind in KINDS]
        return [one for one in found if one[0]]

    @property
    def duration_ms(self) -> int:
        return self.whole.duration_ms


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
    tests: Sequence[ShownTest],
    places: Places,
    repeated: Collection[tuple[str, str]],
    cases: Iterable[TestCase] = (),
) -> list[TestGroup]:
    """`repeated` are suite and name of tests that several cases vary.

    `cases` are all that are counted, where more are known than are shown.
    """
    titled = _Titles(places, repeated)
    own: defaultdict[Titles, Tally] = defaultdict(Tally)
    whole: defaultdict[Titles, Tally] = defaultdict(Tally)
    for case in cases or [one.case for one in tests]:
        titles = titled.of(case)
        own[titles].add(case)
        for depth in range(1, len(titles) + 1):
            whole[titles[:depth]].add(case)
    found: dict[str, TestGroup] = {}
    for test in tests:
        at, titles = found, titled.of(test.case)
        for depth, title in enumerate(titles, 1):
            path = titles[:depth]
            group = at.setdefault(title, TestGroup(title, own[path], whole[path]))
            at = group.inner
        group.tests.append(test)
    return list(found.values())


@dataclass(frozen=True, slots=True)
class _Titles:
    """The titles above a test. Thousands of tests stand below few of them."""

    places: Places
    repeated: Collection[tuple[str, str]]
    known: dict[tuple[str, str, str], Titles] = field(default_factory=dict)

    def of(self, case: TestCase) -> Titles:
        name, _how = varied(case.name) if self.repeated else ("", "")
        name = name if (case.suite, name) in self.repeated else ""
        by = (case.suite, case.path, name)
        if by not in self.known:
            above = self.places.of(case)[:MAX_DEPTH]
            self.known[by] = (*above, name) if name else tuple(above)
        return self.known[by]


def repeated_of(cases: Iterable[TestCase]) -> set[tuple[str, str]]:
    seen: set[tuple[str, str]] = set()
    found: set[tuple[str, str]] = set()
    for case in cases:
        name, how = varied(case.name)
        if how:
            (found if (case.suite, name) in seen else seen).add((case.suite, name))
    return found
