"""Tests as a tree: by file, by what they stand in there, by what varies. Pure."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from verification.engine.reports.model import CaseStatus, TestCase
from verification.engine.reports.record import Row
from verification.runs.gating.spots import Spot

VARIED = re.compile(r"(?P<test>[^\[\s]+)(?P<how>\[.+\])", re.DOTALL)
INNER = " > "
MAX_DEPTH = 6
KINDS = (CaseStatus.PASSED, CaseStatus.SKIPPED)
BAD = tuple(one.value for one in CaseStatus if one.is_bad)
Titles = tuple[str, ...]
Key = tuple[str, str, str]


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

    ended: Counter[str] = field(default_factory=Counter)
    duration_ms: int = 0

    def add(self, other: Tally) -> None:
        self.ended.update(other.ended)
        self.duration_ms += other.duration_ms


Tallies = defaultdict[Titles, Tally]


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
        of_all = f" of {self.own.ended[kind.value]:,}" if shown < self.own.ended[kind.value] else ""
        return f"{shown:,}{of_all} {kind.value}"

    @property
    def failed(self) -> int:
        return sum(self.whole.ended[status] for status in BAD)

    @property
    def counts(self) -> list[tuple[int, str]]:
        """Of those that did not fail."""
        found = [(self.whole.ended[kind.value], kind.value) for kind in KINDS]
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

    def of(self, suite: str, path: str) -> list[str]:
        """The titles above a test, from the file on."""
        if named := self._module(suite):
            return named
        path = path or self.paths.get(suite, "")
        if (self.by_package and suite) or not path:
            return [suite or "Tests"]
        inner = [] if suite == path else suite.split(INNER)
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
    ended: Iterable[Row] | None = None,
) -> list[TestGroup]:
    """`repeated` are suite and name of tests that several cases vary.

    `ended` are all tests that are counted, where more are known than are shown.
    """
    titled = _Titles(places, repeated)
    shown = (row_of(one.case) for one in tests)
    own, whole = _tallies(titled, shown if ended is None else ended)
    found: dict[str, TestGroup] = {}
    for test in tests:
        at, titles = found, titled.of(titled.key(*row_of(test.case)[:3]))
        for depth, title in enumerate(titles, 1):
            path = titles[:depth]
            group = at.setdefault(title, TestGroup(title, own[path], whole[path]))
            at = group.inner
        group.tests.append(test)
    return list(found.values())


def row_of(case: TestCase) -> Row:
    return case.suite, case.path, case.name, case.status.value, case.duration_ms


def _tallies(titled: _Titles, ended: Iterable[Row]) -> tuple[Tallies, Tallies]:
    """What stands right below each titles, and all below them. Counted before it is placed."""
    counts: defaultdict[Key, Tally] = defaultdict(Tally)
    for suite, path, name, status, duration_ms in ended:
        tally = counts[titled.key(suite, path, name)]
        tally.ended[status] += 1
        tally.duration_ms += duration_ms
    own: Tallies = defaultdict(Tally)
    whole: Tallies = defaultdict(Tally)
    for key, tally in counts.items():
        titles = titled.of(key)
        own[titles].add(tally)
        for depth in range(1, len(titles) + 1):
            whole[titles[:depth]].add(tally)
    return own, whole


@dataclass(slots=True)
class _Titles:
    """The titles above a test. Thousands of tests stand below few of them."""

    places: Places
    repeated: Collection[tuple[str, str]]
    known: dict[Key, Titles] = field(default_factory=dict)

    def key(self, suite: str, path: str, name: str) -> Key:
        """All that the titles depend on."""
        if not self.repeated or not ("[" in name or "/" in name):
            return suite, path, ""
        name, _how = varied(name)
        return suite, path, name if (suite, name) in self.repeated else ""

    def of(self, key: Key) -> Titles:
        if key not in self.known:
            suite, path, name = key
            above = self.places.of(suite, path)[:MAX_DEPTH]
            self.known[key] = (*above, name) if name else tuple(above)
        return self.known[key]


def repeated_of(cases: Iterable[TestCase]) -> set[tuple[str, str]]:
    seen: set[tuple[str, str]] = set()
    found: set[tuple[str, str]] = set()
    for case in cases:
        name, how = varied(case.name)
        if how:
            (found if (case.suite, name) in seen else seen).add((case.suite, name))
    return found
