"""What `dart test --reporter json` and `flutter test --machine` write: an event on each line.

Source: https://github.com/dart-lang/test/blob/master/pkgs/test/doc/json_reporter.md
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from verification.engine.reports.contents import Record, inside, json_lines, record
from verification.engine.reports.model import (
    MAX_MESSAGE_CHARS,
    CaseStatus,
    TestCase,
    TestReport,
    Unreadable,
    counted,
    inner_path,
    name,
    number,
    text,
)
from verification.engine.reports.testing.contents import count, lasting

_RESULTS = {
    "success": CaseStatus.PASSED,
    "failure": CaseStatus.FAILED,
    "error": CaseStatus.ERROR,
}
_RETRY = "Retry: "
"""So it prints before it runs a test again, which its `retry` allows."""


@dataclass(slots=True)
class _Test:
    """An error unless it ends. `errors` are those since it began to be run the last time."""

    title: str
    suite: object
    path: object = ""
    line: object = None
    began: object = 0
    status: CaseStatus = CaseStatus.ERROR
    has_ended: bool = False
    is_hidden: bool = False
    is_retried: bool = False
    errors: int = 0
    duration_ms: int = 0
    messages: list[str] = field(default_factory=list)

    def note_error(self, event: Record) -> None:
        """An error after its end belongs to it all the same."""
        self.errors += 1
        for part in (event.get("error"), event.get("stackTrace")):
            if isinstance(part, str) and sum(map(len, self.messages)) < MAX_MESSAGE_CHARS:
                self.messages.append(part.strip())
        if self.has_ended and not self.status.is_bad:
            self.status, self.is_hidden = CaseStatus.ERROR, False

    def note_print(self, message: object) -> None:
        is_retry = isinstance(message, str) and message.startswith(_RETRY)
        if is_retry and self.errors and not self.has_ended:
            self.is_retried, self.errors = True, 0

    def end(self, event: Record) -> None:
        status = _RESULTS.get(str(event.get("result")))
        if status is None:
            raise Unreadable("A test of the report has no result that is known.")
        if status is CaseStatus.PASSED and self.errors:
            raise Unreadable("A test of the report succeeded, and has an error.")
        is_skipped = status is CaseStatus.PASSED and event.get("skipped") is True
        self.status = CaseStatus.SKIPPED if is_skipped else status
        self.has_ended = True
        self.is_hidden = event.get("hidden") is True and not status.is_bad
        began, ended = self.began, event.get("time")
        if isinstance(began, int) and isinstance(ended, int):
            self.duration_ms = lasting(ended - began)


@dataclass(slots=True)
class _Stream:
    tests: dict[object, _Test] = field(default_factory=dict)
    suites: dict[object, object] = field(default_factory=dict)
    expected: dict[object, int] = field(default_factory=dict)
    """By suite, how many tests its outermost group holds."""
    suite_count: int = 0
    has_begun: bool = False
    success: object = None
    is_done: bool = False

    def note(self, event: Record) -> None:
        kind = event.get("type")
        if kind == "start":
            if self.has_begun:
                raise Unreadable("The report holds more than one run.")
            self.has_begun = True
        elif kind == "suite":
            self.suites[_key(inside(event, "suite", "id"))] = inside(event, "suite", "path")
        elif kind == "allSuites":
            self.suite_count = count(event.get("count"))
        elif kind == "group":
            self._note_group(record(event.get("group")))
        elif kind == "testStart":
            self._begin(record(event.get("test")), event.get("time"))
        elif kind in ("error", "print", "testDone"):
            self._note_test(kind, event)
        elif kind == "done":
            self.is_done, self.success = True, event.get("success")

    def _note_group(self, group: Record) -> None:
        if group.get("parentID") is None:
            self.expected[_key(group.get("suiteID"))] = count(group.get("testCount") or 0)

    def _begin(self, test: Record, time: object) -> None:
        """A test of Flutter stands where its root does: its own place is within the framework."""
        key, root = _key(test.get("id")), test.get("root_url")
        if key in self.tests:
            raise Unreadable("Two tests of the report have one number.")
        self.tests[key] = _Test(
            name(test.get("name")),
            _key(test.get("suiteID")),
            root or test.get("url"),
            test.get("root_line") if root else test.get("line"),
            time,
        )

    def _note_test(self, kind: object, event: Record) -> None:
        test = self.tests.get(_key(event.get("testID")))
        if test is None:
            raise Unreadable("An event of the report is of a test that did not begin.")
        if kind == "error":
            test.note_error(event)
        elif kind == "print":
            test.note_print(event.get("message"))
        else:
            test.end(event)

    def visible_tests(self) -> list[_Test]:
        """Without loading a file and what is set up before tests, unless it failed."""
        return [test for test in self.tests.values() if not test.is_hidden]

    def check(self, *, has_failed: bool) -> None:
        """Raise where the report is cut short, or says two things that cannot be true together."""
        if not (self.has_begun and self.is_done):
            raise Unreadable("The report ends before the run does.")
        if self.success is True and has_failed:
            raise Unreadable("The report says that the run succeeded, and a test in it failed.")
        if self.success is not True:
            return
        seen: dict[object, int] = {}
        for test in self.visible_tests():
            seen[test.suite] = seen.get(test.suite, 0) + 1
        is_short = any(seen.get(suite, 0) < tests for suite, tests in self.expected.items())
        if is_short or len(self.suites) < self.suite_count:
            raise Unreadable("The numbers that the report gives are not those of its tests.")


def read(content: bytes, folder: str = "") -> TestReport:
    """A run that did not succeed, and no test of it failed, is an error.

    Flutter writes lines of its own between the events: a list, or text.
    """
    stream = _Stream()
    for event in json_lines(content, among_others=True):
        stream.note(event)
    cases = list(_cases(stream, folder))
    has_failed = any(case.status.is_bad for case in cases)
    stream.check(has_failed=has_failed)
    if stream.success is not True and not has_failed:
        cases.append(TestCase("The run did not succeed", CaseStatus.ERROR))
    return counted(cases)


def _cases(stream: _Stream, folder: str) -> Iterator[TestCase]:
    for test in stream.visible_tests():
        suite = stream.suites.get(test.suite)
        file, path = inner_path(suite, folder), ""
        if isinstance(test.path, str) and test.path.startswith("file:"):
            path = inner_path(test.path, folder)
        is_flaky = test.is_retried and test.status is CaseStatus.PASSED
        message = "\n".join(test.messages) if test.status.is_bad or is_flaky else ""
        yield TestCase(
            name=test.title,
            status=test.status,
            suite=file or name(suite),
            message=text(message),
            path=path or file,
            line=number(test.line) if path else None,
            duration_ms=test.duration_ms,
            file=file,
            is_flaky=is_flaky,
        )


def _key(value: object) -> object:
    """What names a test or a suite; None for what cannot."""
    return value if isinstance(value, int | str) else None
