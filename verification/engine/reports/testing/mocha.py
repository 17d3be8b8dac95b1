"""What Mocha writes with `--reporter json`."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from typing import Any

from verification.engine.reports.contents import listed, record
from verification.engine.reports.model import (
    CaseStatus,
    TestCase,
    TestReport,
    Unreadable,
    counted,
    inner_path,
    name,
    text,
)
from verification.engine.reports.testing.contents import (
    count,
    lasting,
    line_after,
    plain,
    printed_json,
)

_LISTS = {
    "passes": CaseStatus.PASSED,
    "failures": CaseStatus.FAILED,
    "pending": CaseStatus.SKIPPED,
}
_HOOKS = ('"before all" hook', '"before each" hook', '"after all" hook', '"after each" hook')


def read(content: bytes, folder: str = "") -> TestReport:
    """A hook that failed is an error: the tests it stood before did not run."""
    whole = printed_json(content)
    stats = record(whole.get("stats"))
    listing = {key: listed(whole.get(key)) for key in _LISTS}
    if any(count(stats.get(key)) != len(tests) for key, tests in listing.items()):
        raise Unreadable("The numbers that the report gives are not those of its tests.")
    if count(stats.get("tests")) > sum(map(len, listing.values())):
        raise Unreadable("The report does not say how each of its tests ended.")
    return counted(_cases(listing, folder))


def _cases(listing: Mapping[str, Any], folder: str) -> Iterator[TestCase]:
    for key, tests in listing.items():
        for test in tests:
            case = _case(record(test), _LISTS[key], folder)
            # Whatever its settings say of a dry run: what was run took its time.
            if case.status is CaseStatus.PASSED and "duration" not in test:
                raise Unreadable("A test that passed was not run.")
            yield case


def _case(test: Mapping[str, Any], status: CaseStatus, folder: str) -> TestCase:
    title, full = name(test.get("title")), name(test.get("fullTitle"))
    if status is CaseStatus.FAILED and title.startswith(_HOOKS):
        status = CaseStatus.ERROR
    failure = test.get("err")
    failure = failure if isinstance(failure, dict) else {}
    told = plain(failure.get("stack") or failure.get("message"))
    path = inner_path(test.get("file"), folder)
    return TestCase(
        name=title,
        status=status,
        suite=full.removesuffix(title).strip(),
        message=text(told),
        path=path,
        line=line_after(told, posixpath.basename(path)),
        duration_ms=lasting(test.get("duration")),
        file=path,
        is_flaky=status is CaseStatus.PASSED and bool(count(test.get("currentRetry") or 0)),
    )
