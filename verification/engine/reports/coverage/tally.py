"""Collects which lines ran, whatever the order in which a report tells of them."""

from __future__ import annotations

from collections.abc import Iterable

from verification.engine.reports.model import MAX_LINE, Coverage, FileCoverage, Unreadable

MAX_CODE_LINES = 1_000_000
MAX_TOLD_LINES = 2_000_000


class Tally:
    """A line that ran once, in whatever part of the report, has run."""

    def __init__(self) -> None:
        self._covered: dict[str, set[int]] = {}
        self._missed: dict[str, set[int]] = {}
        self._told = 0

    def add(self, path: str, lines: Iterable[int], *, covered: bool) -> None:
        """Of a path '' nothing is kept: it leads out of the workspace."""
        by_path = self._covered if covered else self._missed
        kept = by_path.setdefault(path, set())
        for line in lines:
            self._told += 1
            if self._told > MAX_CODE_LINES:
                raise Unreadable("The report tells of too many lines.")
            if 0 < line <= MAX_LINE:
                kept.add(line)

    def coverage(self) -> Coverage:
        paths = sorted((self._covered.keys() | self._missed.keys()) - {""})
        return Coverage({path: self._file(path) for path in paths})

    def coverage_of_work(self) -> Coverage:
        """The same. A report of nothing but files elsewhere measures nothing, and is not empty.

        Raises:
            Unreadable: it names lines, and none of a file of the work.
        """
        coverage = self.coverage()
        if self._told and not coverage.files:
            raise Unreadable("The report names no file of the work.")
        return coverage

    def _file(self, path: str) -> FileCoverage:
        covered = frozenset(self._covered.get(path, ()))
        return FileCoverage(covered, frozenset(self._missed.get(path, ())) - covered)


def is_covered(hits: object) -> bool:
    """Whether a count of runs is above 0; some counters run over, and are below it."""
    digits = hits.strip() if isinstance(hits, str) else ""
    if not digits.removeprefix("-").isascii() or not digits.removeprefix("-").isdigit():
        raise Unreadable("How often a line ran is not a number.")
    return bool(digits.strip("0")) and not digits.startswith("-")
