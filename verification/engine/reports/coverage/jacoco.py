"""JaCoCo's XML.

Source: https://www.jacoco.org/jacoco/trunk/coverage/report.dtd
"""

from __future__ import annotations

import posixpath
from collections.abc import Set as AbstractSet

from verification.engine.reports.coverage.places import Places
from verification.engine.reports.coverage.xml_stream import (
    NOT_ALIKE,
    ElementReader,
    read_elements,
)
from verification.engine.reports.model import Coverage, Unreadable, name, number
from verification.engine.reports.testing.contents import count

_LINE, _INSTRUCTION = "LINE", "INSTRUCTION"
_KNOWN = frozenset({"sessioninfo", "group", "package", "counter", "report"})


def read(content: bytes, folder: str = "", *, known: AbstractSet[str] = frozenset()) -> Coverage:
    """A file is named by its package: which it is, `known` files say.

    A line has run when any of its instructions has, as JaCoCo counts lines itself.
    """
    return read_elements(content, _Reader(Places(folder, known)))


class _Reader(ElementReader):
    root = "report"

    def __init__(self, places: Places) -> None:
        super().__init__(places)
        self._package = self._path = ""
        self._in_file = [0, 0]
        """Lines of the source file: not run, and run."""
        self._in_all = [0, 0]
        self._total: list[int] | None = None
        self._has_code = False

    def opened(self, tag: str, attributes: dict[str, str]) -> None:
        above = self.above[-1] if self.above else ""
        if above == self.root and tag not in _KNOWN:
            raise Unreadable(f"The report holds `{name(tag[:40])}`: it is not JaCoCo's.")
        if tag == self.root:  # several reports in one have totals of their own
            self._in_all, self._total, self._has_code = [0, 0], None, False
        elif tag == "package":
            self._package = attributes.get("name", "")
        elif tag == "sourcefile":
            file = posixpath.join(self._package, attributes.get("name", ""))
            self._path, self._in_file = self.places.path_in_package(file), [0, 0]
            self.tally.add(self._path, (), covered=True)
        elif tag == "line" and above == "sourcefile":
            has_run = count(attributes.get("ci")) > 0
            count(attributes.get("mi"))
            line = number(attributes.get("nr"))
            if line is None:
                raise Unreadable("A line of the report has no number.")
            self.tally.add(self._path, (line,), covered=has_run)
            self._in_file[has_run] += 1
            self._in_all[has_run] += 1
        elif tag == "counter":
            self._check_counter(above, attributes)

    def _check_counter(self, above: str, attributes: dict[str, str]) -> None:
        kind = attributes.get("type")
        counts = [count(attributes.get(key)) for key in ("missed", "covered")]
        self._has_code = self._has_code or (kind == _INSTRUCTION and any(counts))
        if kind != _LINE:
            return
        if above == "sourcefile" and counts != self._in_file:
            raise Unreadable(NOT_ALIKE)
        if above == self.root:
            self._total = counts

    def closed(self, tag: str) -> None:
        if tag == self.root:
            self._check_report()
            self._total, self._has_code = None, False

    def _check_report(self) -> None:
        """Raise where the totals of the report are not those of its lines."""
        if self._total is not None and self._total != self._in_all:
            raise Unreadable(NOT_ALIKE)
        if self._has_code and not any(self._in_all):
            raise Unreadable("The report names no line: the classes hold no line numbers.")
