"""A replay in other formats: JUnit XML for CI servers, JSON for everything else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import groupby
from typing import Any
from uuid import UUID
from xml.etree.ElementTree import Element, SubElement, tostring

from loomverify.errors import Conflict
from verification.engine.golden.standing import DOES_NOT_HOLD, Change
from verification.golden.models import Replay, ReplayResult
from verification.golden.replays import rendering, selectors
from verification.runs.exporting.texts import clipped, one_line, xml_text

MAX_LINE = 1_000
MAX_TEXT = 60_000
MAX_TOLD = 50
WORDS = {
    Change.REGRESSED: "It held before, and does not hold now.",
    Change.NEW: "It does not hold, and was never replayed before.",
    Change.STILL_FAILING: "It does not hold, as before.",
    Change.NOT_JUDGED: "It could not be judged.",
}


def junit(replay: Replay) -> bytes:
    """A suite for each process, a test for each case.

    What does not hold is a failure, what could not be judged an error.

    Raises:
        Conflict: `replay.not_over`.
    """
    rows = sorted(_rows(replay), key=lambda row: (row.case.process, row.case.name))
    root = Element("testsuites", {"name": "LoomVerify golden corpus", **_counts(rows)})
    for process, cases in groupby(rows, key=lambda row: row.case.process):
        _add_suite(root, replay, process, list(cases))
    answer: bytes = tostring(root, encoding="utf-8", xml_declaration=True)
    return answer


def report(replay: Replay) -> dict[str, Any]:
    """The whole replay, every case with it, as plain JSON values.

    Raises:
        Conflict: `replay.not_over`.
    """
    results = [rendering.result(row) for row in _rows(replay)]
    plain: dict[str, Any] = _plain({**rendering.summary(replay), "results": results})
    return plain


def _rows(replay: Replay) -> Iterable[ReplayResult]:
    if not replay.is_over:
        raise Conflict(
            "replay.not_over", "This replay is not over yet: wait for its end, then export it."
        )
    return selectors.with_legacy(selectors.results(replay))


def _add_suite(root: Element, replay: Replay, process: str, rows: list[ReplayResult]) -> None:
    suite = SubElement(root, "testsuite", {"name": xml_text(process, MAX_LINE), **_counts(rows)})
    suite.set("timestamp", (replay.started_at or replay.created_at).isoformat(timespec="seconds"))
    properties = SubElement(suite, "properties")
    told = rendering.summary(replay)
    for name in ("id", "url", "verifier_version", "corpus_sha256", "stale_share"):
        SubElement(properties, "property", {"name": name, "value": str(told[name])})
    for row in rows:
        _add_case(suite, row)


def _add_case(suite: Element, row: ReplayResult) -> None:
    case = row.case
    element = SubElement(
        suite,
        "testcase",
        {
            "name": xml_text(case.name, MAX_LINE),
            "classname": xml_text(f"{case.process}.{case.phase}", MAX_LINE),
            "time": f"{row.duration_ms / 1000:.3f}",
        },
    )
    kind = _kind(row)
    if not kind:
        return
    lines = list(_lines(row))
    message = xml_text(clipped(one_line(" ".join(lines[:2])), MAX_LINE), MAX_LINE)
    ended = SubElement(element, kind, {"message": message, "type": row.change or "not_replayed"})
    ended.text = xml_text("\n".join(lines), MAX_TEXT)


def _kind(row: ReplayResult) -> str:
    """'' where it holds. A case that a cancelled replay left out says nothing: an error."""
    if row.change in DOES_NOT_HOLD:
        return "failure"
    return "" if row.change in (Change.HELD, Change.FIXED) else "error"


def _lines(row: ReplayResult) -> Iterator[str]:
    yield WORDS[Change(row.change)] if row.change else "The replay was cancelled."
    if row.error_text:
        yield clipped(one_line(row.error_text), MAX_LINE)
    for one in row.differences[:MAX_TOLD]:
        told = f"{one['place']}: expected {one.get('expected')!r}, observed {one.get('observed')!r}"
        yield clipped(one_line(told), MAX_LINE)
    if len(row.differences) > MAX_TOLD:
        yield f"And {len(row.differences) - MAX_TOLD} more."


def _counts(rows: list[ReplayResult]) -> dict[str, str]:
    kinds = [_kind(row) for row in rows]
    seconds = sum(row.duration_ms for row in rows) / 1000
    return {
        "tests": str(len(rows)),
        "failures": str(kinds.count("failure")),
        "errors": str(kinds.count("error")),
        "skipped": "0",
        "time": f"{seconds:.3f}",
    }


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, UUID):
        return str(value)
    return value.isoformat() if isinstance(value, datetime) else value
