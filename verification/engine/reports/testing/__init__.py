"""What test runners report, each in its format, read into one `TestReport`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum

from verification.engine.reports.model import TestReport
from verification.engine.reports.testing import (
    cargo,
    go,
    jest,
    junit,
    mocha,
    pytest_text,
    recognised,
    rspec,
    tap,
    text,
    trx,
    unittest_text,
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
    RSPEC = "rspec"
    UNITTEST = "unittest"
    PYTEST_TEXT = "pytest_text"
    TEXT = "text"
    ANY = "any"


_READERS: Mapping[TestFormat, Callable[[bytes, str], TestReport]] = {
    TestFormat.JUNIT: junit.read,
    TestFormat.GO: go.read,
    TestFormat.TAP: tap.read,
    TestFormat.JEST: jest.read,
    TestFormat.CARGO: cargo.read,
    TestFormat.MOCHA: mocha.read,
    TestFormat.TRX: trx.read,
    TestFormat.RSPEC: rspec.read,
    TestFormat.UNITTEST: unittest_text.read,
    TestFormat.PYTEST_TEXT: pytest_text.read,
    TestFormat.TEXT: text.read,
    TestFormat.ANY: recognised.read,
}


def read_tests(format: TestFormat, content: bytes, folder: str = "") -> TestReport:
    """Raises `Unreadable`, whatever the content is."""
    return _READERS[format](content, folder)
