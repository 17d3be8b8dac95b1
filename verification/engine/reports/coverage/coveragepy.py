"""`coverage json` of coverage.py."""

from __future__ import annotations

from collections.abc import Iterator

from verification.engine.reports.contents import as_json, listed, record
from verification.engine.reports.coverage.tally import Tally
from verification.engine.reports.model import Coverage, inner_path, number


def read(content: bytes, folder: str = "") -> Coverage:
    tally = Tally()
    for path, value in record(record(as_json(content)).get("files")).items():
        inner, file = inner_path(path, folder), record(value)
        tally.add(inner, _lines(file.get("executed_lines")), covered=True)
        tally.add(inner, _lines(file.get("missing_lines")), covered=False)
    return tally.coverage()


def _lines(value: object) -> Iterator[int]:
    return (line for line in map(number, listed(value)) if line is not None)
