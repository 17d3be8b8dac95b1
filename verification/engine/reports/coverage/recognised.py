"""A report of coverage whose format nobody names: by what it says of itself, or it is unreadable."""

from __future__ import annotations

import re

from verification.engine.reports.contents import as_json, bounded, record
from verification.engine.reports.coverage import cobertura, coveragepy, gocover, lcov
from verification.engine.reports.model import Coverage, Unreadable

_LCOV = re.compile(rb"(?:TN:[^\n]*\n\s*)*SF:")


def read(content: bytes, folder: str = "", *, module: str = "") -> Coverage:
    """A profile of go names files by the module: without it, none is known."""
    begin = bounded(content).removeprefix(b"\xef\xbb\xbf").lstrip()
    if begin.startswith(b"<"):
        return cobertura.read(content, folder)
    if begin.startswith(b"{") and isinstance(record(as_json(begin)).get("files"), dict):
        return coveragepy.read(begin, folder)
    if begin.startswith(b"mode: ") and module:
        return gocover.read(begin, folder, module=module)
    if _LCOV.match(begin):
        return lcov.read(begin, folder)
    raise Unreadable("The report is in no format of coverage that is known.")
