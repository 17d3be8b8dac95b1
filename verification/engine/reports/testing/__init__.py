"""What test runners report, each in its format, read into one `TestReport`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum

from verification.engine.reports.model import TestReport
from verification.engine.reports.testing import go, junit, pytest_text, tap, text


class TestFormat(StrEnum):
    __test__ = False

    JUNIT = "junit"
    GO = "go"
    TAP = "tap"
    PYTEST_TEXT = "pytest_text"
    TEXT = "text"


_READERS: Mapping[TestFormat, Callable[[bytes, str], TestReport]] = {
    TestFormat.JUNIT: junit.read,
    TestFormat.GO: go.read,
    TestFormat.TAP: tap.read,
    TestFormat.PYTEST_TEXT: pytest_text.read,
    TestFormat.TEXT: text.read,
}


def read_tests(format: TestFormat, content: bytes, folder: str = "") -> TestReport:
    """Raises `Unreadable`, whatever the content is."""
    return _READERS[format](content, folder)
