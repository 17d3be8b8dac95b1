"""OpenCover's XML, as OpenCover, AltCover and Coverlet write it.

Source: https://github.com/OpenCover/opencover/wiki/Reports
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from verification.engine.reports.coverage.places import Places
from verification.engine.reports.coverage.tally import is_covered
from verification.engine.reports.coverage.xml_stream import (
    ElementReader,
    Totals,
    read_elements,
)
from verification.engine.reports.model import Coverage, Unreadable, number

_HIDDEN_LINE = 0xFEEFEE
"""Where compilers say that a sequence point is of no line."""
MAX_SPAN = 10_000
"""More lines than that hold no one sequence point."""


def read(content: bytes, folder: str = "", *, known: AbstractSet[str] = frozenset()) -> Coverage:
    """A line has run when a sequence point that touches it has."""
    return read_elements(content, _Reader(Places(folder, known)))


class _Reader(ElementReader):
    root = "CoverageSession"

    def __init__(self, places: Places) -> None:
        super().__init__(places)
        self._files: dict[str, str] = {}
        """Paths of a module by their number."""
        self._file = ""
        self._points: list[bool] = []
        self._of_session: Totals | None = None
        self._has_modules = False

    def opened(self, tag: str, attributes: dict[str, str]) -> None:
        if tag == "Modules":
            self._has_modules = True
        elif tag == "Module":
            self._files = {}
        elif tag == "File":
            path = self.places.path_of(attributes.get("fullPath", ""))
            self._files[attributes.get("uid", "")] = path
            self.tally.add(path, (), covered=True)
        elif tag == "Method":
            self._file = ""
        elif tag == "FileRef":
            self._file = attributes.get("uid", "")
        elif tag == "SequencePoint" and self.above[-1] == "SequencePoints":
            self._add_point(attributes)
        elif tag == "Summary" and self.above == [self.root]:
            self._of_session = Totals(attributes, "numSequencePoints", "visitedSequencePoints")

    def _add_point(self, attributes: dict[str, str]) -> None:
        first, last = number(attributes.get("sl")), number(attributes.get("el"))
        if first == _HIDDEN_LINE:
            return
        has_run = is_covered(attributes.get("vc"))
        self._points.append(has_run)
        if first is None or last is None or not first <= last < first + MAX_SPAN:
            raise Unreadable("A sequence point of the report has no lines, or too many.")
        path = self._files.get(attributes.get("fileid") or self._file)
        if path is None:
            raise Unreadable("A sequence point of the report is of a file that it does not name.")
        self.tally.add(path, range(first, last + 1), covered=has_run)

    def check(self) -> None:
        """Raise where the totals of the session are not those of its sequence points."""
        if not self._has_modules:
            raise Unreadable("The report holds no modules: it is not OpenCover's.")
        if self._of_session is not None:
            self._of_session.check(self._points)
