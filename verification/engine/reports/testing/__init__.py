"""What test runners report, each in its format, read into one `TestReport`."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from enum import StrEnum

from verification.engine.reports.model import TestReport
from verification.engine.reports.readers import (
    Reader,
    Shape,
    has_keys,
    has_root,
    reader_table,
    recognise,
)
from verification.engine.reports.testing import (
    cargo,
    dart,
    go,
    jest,
    junit,
    mocha,
    nunit,
    pytest_text,
    rspec,
    tap,
    text,
    trx,
    unittest_text,
    xunit,
)


class TestFormat(StrEnum):
    __test__ = False

    JUNIT = "junit"
    GO = "go"
    TAP = "tap"
    JEST = "jest"
    CARGO = "cargo"
    MOCHA = "mocha"
    TRX = "trx"
    NUNIT3 = "nunit3"
    NUNIT2 = "nunit2"
    XUNIT = "xunit"
    DART = "dart"
    RSPEC = "rspec"
    UNITTEST = "unittest"
    PYTEST_TEXT = "pytest_text"
    TEXT = "text"
    ANY = "any"
    """Whichever it says itself that it is."""


Read = Callable[[bytes, str], TestReport]
_TAP = re.compile(r"TAP version \d|1\.\.\d|(?:not )?ok \d")
_DART = re.compile(r'^\{"protocolVersion":', re.MULTILINE)


def _is_tap(shape: Shape) -> bool:
    return bool(_TAP.match(shape.text))


def _is_dart(shape: Shape) -> bool:
    """Flutter may write of what it builds first."""
    return bool(_DART.search(shape.text))


READERS: Sequence[Reader[TestFormat, Read]] = (
    Reader(TestFormat.JUNIT, junit.read, has_root("testsuites", "testsuite")),
    Reader(TestFormat.TRX, trx.read, has_root("TestRun", "TestRuns")),
    Reader(TestFormat.NUNIT3, nunit.read_nunit3, has_root("test-run")),
    Reader(TestFormat.NUNIT2, nunit.read_nunit2, has_root("test-results")),
    Reader(TestFormat.XUNIT, xunit.read, has_root("assemblies", "assembly")),
    Reader(TestFormat.GO, go.read, has_keys("Action")),
    Reader(TestFormat.JEST, jest.read, has_keys("testResults")),
    Reader(TestFormat.MOCHA, mocha.read, has_keys("stats", "passes", "failures")),
    Reader(TestFormat.RSPEC, rspec.read, has_keys("examples", "summary")),
    Reader(TestFormat.DART, dart.read, _is_dart),
    Reader(TestFormat.TAP, tap.read, _is_tap),
    Reader(TestFormat.CARGO, cargo.read),
    Reader(TestFormat.UNITTEST, unittest_text.read),
    Reader(TestFormat.PYTEST_TEXT, pytest_text.read),
    Reader(TestFormat.TEXT, text.read),
)
_READ = reader_table(READERS)


def read_tests(format: TestFormat, content: bytes, folder: str = "") -> TestReport:
    """Raises `Unreadable`, whatever the content is."""
    if format is TestFormat.ANY:
        return recognise(READERS, content, "tests")(content, folder)
    return _READ[format](content, folder)
