"""`go test -json`: an event on each line. Source: `go doc test2json`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from verification.engine.reports.contents import json_of, record
from verification.engine.reports.model import (
    MAX_MESSAGE_CHARS,
    CaseStatus,
    TestCase,
    TestReport,
    Unreadable,
    counted,
    milliseconds,
    name,
    text,
)
from verification.engine.reports.testing.contents import lines_of
from verification.engine.reports.testing.parents import counting

_ENDS = {"pass": CaseStatus.PASSED, "fail": CaseStatus.FAILED, "skip": CaseStatus.SKIPPED}
_UNBUILT = re.compile(r"FAIL\s+(\S+) \[(?:build|setup) failed\]")
_RAN_NONE = re.compile(r"ok\s(?!.*\[no tests to run\])")
_FRAME = re.compile(r"=== (?:RUN|PAUSE|CONT|NAME) ")
_WORST = (CaseStatus.ERROR, CaseStatus.FAILED, CaseStatus.PASSED, CaseStatus.SKIPPED)


@dataclass(slots=True)
class _Test:
    """An error unless it ends. `-count` runs it again: the worst of its ends is its status."""

    is_running: bool = True
    ends: set[CaseStatus] = field(default_factory=set)
    seconds: object = 0
    printed: list[str] = field(default_factory=list)
    printed_chars: int = 0
    is_flaky: bool = False

    def run(self) -> None:
        self.is_running = True

    def end(self, status: CaseStatus, seconds: object) -> None:
        self.is_running, self.seconds = False, seconds
        self.ends.add(status)

    def note_output(self, output: object) -> None:
        if not isinstance(output, str) or not output or _FRAME.match(output):
            return
        if self.printed_chars < MAX_MESSAGE_CHARS:
            self.printed.append(output)
            self.printed_chars += len(output)

    def worst(self) -> CaseStatus:
        ends = self.ends | ({CaseStatus.ERROR} if self.is_running else set())
        return next(status for status in _WORST if status in ends)

    def joined(self, other: _Test) -> _Test:
        """Both as one that ended in every way that they did."""
        worse = other if other.worst().is_bad and not self.worst().is_bad else self
        return replace(
            worse,
            is_running=self.is_running or other.is_running,
            ends=self.ends | other.ends,
            is_flaky=self.is_flaky or other.is_flaky,
        )


@dataclass(slots=True)
class _PackageRun:
    """`own` is what the package did itself, besides its tests."""

    own: _Test = field(default_factory=_Test)
    tests: dict[str, _Test] = field(default_factory=dict)

    @property
    def is_silent(self) -> bool:
        """Its tests were compiled and run, and reported nothing: `TestMain` may end them all."""
        return not self.tests and any(map(_RAN_NONE.match, self.own.printed))

    def failed_roots(self) -> set[str]:
        failed = (test for test, ran in self.tests.items() if ran.worst().is_bad)
        return {test.partition("/")[0] for test in failed}


@dataclass(slots=True)
class _Package:
    """Every run of a package: gotestsum runs tests that failed again, in one more run each."""

    runs: list[_PackageRun] = field(default_factory=lambda: [_PackageRun()])

    @property
    def is_running(self) -> bool:
        return any(run.own.is_running for run in self.runs)

    @property
    def is_silent(self) -> bool:
        return any(run.is_silent for run in self.runs)

    def current(self, action: str, test: str) -> _PackageRun:
        """What begins after the end of a run is one more run."""
        if not self.runs[-1].own.is_running and (test or action == "start"):
            self.runs.append(_PackageRun())
        return self.runs[-1]

    def own_failures(self) -> Iterator[_Test]:
        """Of runs that failed, and none of their tests did: not built, or ended outside of them."""
        for run in self.runs:
            is_blamed = any(run.tests[test].worst().is_bad for test in _counting(run.tests))
            if run.own.worst() is CaseStatus.FAILED and not is_blamed:
                yield run.own

    def tests(self) -> dict[str, _Test]:
        """The tests of all runs. One that passed when it was run again is flaky.

        A run that ran more than what had failed is none of that kind: the worst of its ends and of
        those before counts.
        """
        merged: dict[str, _Test] = {}
        failed: set[str] = set()
        for run in self.runs:
            is_rerun = all(test.partition("/")[0] in failed for test in run.tests)
            for test, ran in run.tests.items():
                before = merged.get(test)
                if before is None:
                    merged[test] = ran
                elif is_rerun and before.worst().is_bad and ran.worst() is CaseStatus.PASSED:
                    merged[test] = replace(ran, printed=before.printed, is_flaky=True)
                else:
                    merged[test] = before.joined(ran)
            failed |= run.failed_roots()
        return merged


@dataclass(slots=True)
class _Stream:
    packages: dict[str, _Package] = field(default_factory=dict)
    builds: dict[str, _Test] = field(default_factory=dict)
    unbuilt: dict[str, str] = field(default_factory=dict)

    def package(self, title: str) -> _Package:
        if title not in self.packages:
            self.packages[title] = _Package()
        return self.packages[title]

    def note(self, event: Mapping[str, Any]) -> None:
        title, action, test = event.get("Package"), event.get("Action"), event.get("Test")
        if not isinstance(action, str):
            raise Unreadable("An event of the report has no action.")
        if not isinstance(title, str):
            self.note_build(event, action)
            return
        test = test if isinstance(test, str) else ""
        run = self.package(title).current(action, test)
        actor = run.tests.setdefault(test, _Test()) if test else run.own
        if action in ("run", "start"):
            actor.run()
        elif action == "output":
            actor.note_output(event.get("Output"))
        elif action in _ENDS:
            actor.note_output(self.unbuilt.get(str(event.get("FailedBuild"))))
            actor.end(_ENDS[action], event.get("Elapsed"))

    def note_build(self, event: Mapping[str, Any], action: str) -> None:
        path = event.get("ImportPath")
        if not isinstance(path, str):
            return
        if action == "build-output":
            self.builds.setdefault(path, _Test()).note_output(event.get("Output"))
        elif action == "build-fail" and path in self.builds:
            self.unbuilt[path] = "".join(self.builds.pop(path).printed)


def read(content: bytes, folder: str = "") -> TestReport:
    """Packages that could not be built count as errors, and so do tests that never ended.

    A file's place depends on the module, which the report does not name: cases have no path.
    """
    stream = _Stream()
    for line in lines_of(content):
        if line.startswith("{"):
            stream.note(record(json_of(line)))
        elif unbuilt := _UNBUILT.match(line):
            stream.package(unbuilt[1]).runs[-1].own.end(CaseStatus.FAILED, 0)
    if not stream.packages:
        raise Unreadable("The report tells of no package.")
    if any(package.is_running for package in stream.packages.values()):
        raise Unreadable("The report ends before the tests of a package do.")
    if silent := next(
        (title for title, package in stream.packages.items() if package.is_silent), ""
    ):
        raise Unreadable(f"{name(silent)} ended well before any of its tests was reported.")
    return counted(
        case for title, package in stream.packages.items() for case in _cases(title, package)
    )


def _cases(title: str, package: _Package) -> Iterator[TestCase]:
    tests = package.tests()
    for test in _counting(tests):
        yield _case(test, title, tests[test])
    for own in package.own_failures():
        yield TestCase(name(title), CaseStatus.ERROR, message=text("".join(own.printed)))


def _counting(tests: Mapping[str, _Test]) -> Iterator[str]:
    return counting(
        {test: ran.worst() for test, ran in tests.items() if not _is_benchmark(test, ran)}
    )


def _is_benchmark(test: str, ran: _Test) -> bool:
    """Of benchmarks only those end that fail."""
    return test.startswith("Benchmark") and not ran.ends


def _case(test: str, package: str, ran: _Test) -> TestCase:
    status = ran.worst()
    is_telling = status is not CaseStatus.PASSED or ran.is_flaky
    return TestCase(
        name=name(test),
        status=status,
        suite=name(package),
        message=text("".join(ran.printed)) if is_telling else "",
        duration_ms=milliseconds(ran.seconds),
        is_flaky=ran.is_flaky and status is CaseStatus.PASSED,
    )
