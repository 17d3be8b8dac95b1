"""The events of `dart test --reporter json` and of `flutter test --machine`."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest

from tests.engine.reports.test_test_reports import DART, recorded
from tests.tables import check_rows
from verification.engine.reports.model import CaseStatus, TestCounts, Unreadable
from verification.engine.reports.testing import TestFormat, read_tests

ERROR = {"type": "error", "testID": 1, "error": "no", "isFailure": True}
RETRY = {"type": "print", "testID": 1, "message": "Retry: a test"}
FAILED = {"type": "done", "success": False}


def begin(number: int = 1) -> dict[str, object]:
    return {"type": "testStart", "test": {"id": number, "name": "a test", "suiteID": 0}}


def end(result: str = "success", **more: object) -> dict[str, object]:
    return {"type": "testDone", "testID": 1, "result": result, **more}


def events(*inner: Mapping[str, object], success: object = True) -> bytes:
    whole: list[Mapping[str, object]] = [
        {"protocolVersion": "0.1.1", "type": "start"},
        {"type": "suite", "suite": {"id": 0, "path": "test/a_test.dart"}},
        *inner,
        {"type": "done", "success": success},
    ]
    return "\n".join(map(json.dumps, whole)).encode()


@check_rows(
    ("content", "counts"),
    [
        (events(), TestCounts()),
        (events(begin(), end()), TestCounts(1)),
        (events(begin(), end(skipped=True)), TestCounts(skipped=1)),
        (events(begin(), end(hidden=True)), TestCounts()),
        (events(begin(), end("error", hidden=True), success=False), TestCounts(errors=1)),
        (events(begin(), ERROR, end("failure"), success=False), TestCounts(failed=1)),
        (events(begin(), ERROR, RETRY, end()), TestCounts(1, flaky=1)),
        (events(begin(), ERROR, RETRY, ERROR, RETRY, end()), TestCounts(1, flaky=1)),
        (events(begin(), ERROR, RETRY, ERROR, end("failure"), success=False), TestCounts(failed=1)),
        # A test may print what it likes.
        (events(begin(), RETRY, end()), TestCounts(1)),
        # An error after its end.
        (events(begin(), end(), ERROR, success=False), TestCounts(errors=1)),
        # It began, and never ended.
        (events(begin(), success=False), TestCounts(errors=1)),
        (events(begin(), end(), success=False), TestCounts(1, errors=1)),
        (events(begin(), end(), success=None), TestCounts(1, errors=1)),
    ],
)
def test_a_test_of_dart_counts_as_it_ended_at_last(content: bytes, counts: TestCounts) -> None:
    assert read_tests(DART, content).counts == counts


GROUP = {"type": "group", "group": {"id": 9, "suiteID": 0, "parentID": None, "testCount": 2}}


@check_rows(
    "content",
    [
        events(begin(), end()).rpartition(b"\n")[0],
        events(begin(), end()).partition(b"\n")[2],
        events(begin(), ERROR, end("failure")),
        events(begin(), ERROR, end()),
        events(begin()),
        events(begin(), end("fine")),
        events(end()),
        events(begin(), begin(), end()),
        events({"type": "allSuites", "count": 2}, begin(), end()),
        events({"type": "allSuites", "count": "2"}, begin(), end()),
        events(GROUP, begin(), end()),
        events() + b"\n" + events(begin(), end()),
        b'{"type":"start"}\n{"type":',
    ],
)
def test_events_that_are_cut_short_or_contradict_each_other_are_not_believed(
    content: bytes,
) -> None:
    with pytest.raises(Unreadable):
        read_tests(DART, content)


def test_a_test_of_flutter_stands_in_the_work_and_not_in_the_framework() -> None:
    cases = read_tests(TestFormat.ANY, recorded("written/dart/flutter.jsonl")).cases

    assert [(one.name, one.path, one.line) for one in cases] == [
        ("shows the price", "app/test/widget_test.dart", 6),
        ("adds to the cart", "app/test/widget_test.dart", 14),
    ]


def test_a_test_of_dart_says_how_it_failed() -> None:
    cases = {one.name: one for one in read_tests(DART, recorded("written/dart/mixed.jsonl")).cases}

    broken = cases["loading test/broken_test.dart"]
    assert (broken.status, broken.path) == (CaseStatus.ERROR, "test/broken_test.dart")
    assert "Expected ';' after this." in broken.message
    assert cases["calc halves"].message.startswith("Expected: <4>\n  Actual: <3>")
    assert (cases["calc halves"].line, cases["calc halves"].duration_ms) == (11, 8)
    assert cases["calc opens"].is_flaky
    assert cases["calc opens"].message.startswith("Expected: true")
    assert cases["calc adds"].message == ""
