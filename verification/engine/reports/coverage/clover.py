"""Clover's XML, of Atlassian's Clover and OpenClover, PHPUnit and Istanbul.

Source: https://bitbucket.org/openclover/clover, clover.xsd
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from verification.engine.reports.coverage.places import Places
from verification.engine.reports.coverage.tally import is_covered
from verification.engine.reports.coverage.xml_stream import (
    NOT_ALIKE,
    ElementReader,
    Totals,
    read_elements,
)
from verification.engine.reports.model import Coverage, Unreadable, name, number
from verification.engine.reports.testing.contents import count

_KNOWN = frozenset({"project", "testproject"})
_STATEMENT, _CONDITION, _METHOD = "stmt", "cond", "method"


def read(content: bytes, folder: str = "", *, known: AbstractSet[str] = frozenset()) -> Coverage:
    """Statements and conditions are lines; where a method begins is none. Test code is left out."""
    return read_elements(content, _Reader(Places(folder, known)))


class _Reader(ElementReader):
    root = "coverage"

    def __init__(self, places: Places) -> None:
        super().__init__(places)
        self._path = ""
        self._lines: list[bool] = []
        """Of the file, for each statement, whether it ran."""
        self._of_file: Totals | None = None
        self._of_project: Totals | None = None
        self._file_totals: list[Totals | None] = []
        self._files: int | None = None
        self._has_project = False

    def opened(self, tag: str, attributes: dict[str, str]) -> None:
        if len(self.above) == 1 and tag not in _KNOWN:
            raise Unreadable(f"The report holds `{name(tag[:40])}`: it is not Clover's.")
        if tag == "project":
            self._has_project = True
        if "testproject" in self.above:
            return
        if tag == "file":
            path = attributes.get("path") or attributes.get("name", "")
            self._path = self.places.path_of(path)
            self._lines, self._of_file = [], None
            self.tally.add(self._path, (), covered=True)
        elif tag == "line":
            self._add_line(attributes)
        elif tag == "metrics":
            self._note_totals(attributes)

    def _add_line(self, attributes: dict[str, str]) -> None:
        kind, line = attributes.get("type"), number(attributes.get("num"))
        if line is None or kind not in (_STATEMENT, _CONDITION, _METHOD):
            raise Unreadable("A line of the report has no number, or is of no known type.")
        keys = ("count", "truecount", "falsecount") if kind == _CONDITION else ("count",)
        runs = [is_covered(attributes[key]) for key in keys if key in attributes]
        if not runs:
            raise Unreadable("A line of the report does not say how often it ran.")
        has_run = any(runs)
        if kind != _METHOD:
            self.tally.add(self._path, (line,), covered=has_run)
        if kind == _STATEMENT:
            self._lines.append(has_run)

    def _note_totals(self, attributes: dict[str, str]) -> None:
        totals = Totals(attributes, "statements", "coveredstatements")
        if self.above[-1] == "file":
            self._of_file = totals
        elif self.above[-1] == "project":
            self._of_project = totals
            self._files = count(attributes["files"]) if "files" in attributes else None

    def closed(self, tag: str) -> None:
        if tag == "file" and "testproject" not in self.above:
            self._file_totals.append(self._of_file)
            # A statement in the line where its method begins is not told apart from it.
            if self._of_file is not None and self._lines:
                self._of_file.check(self._lines)

    def check(self) -> None:
        """Raise where the totals of the project are not those of its files."""
        if not self._has_project:
            raise Unreadable("The report holds no project: it is not Clover's.")
        if self._files is not None and self._files != len(self._file_totals):
            raise Unreadable(NOT_ALIKE)
        given = [one for one in self._file_totals if one is not None and one.is_given]
        whole = self._of_project
        if whole is None or not whole.is_given or len(given) < len(self._file_totals):
            return
        sums = sum(one.every for one in given), sum(one.covered for one in given)
        if (whole.every, whole.covered) != sums:
            raise Unreadable(NOT_ALIKE)
