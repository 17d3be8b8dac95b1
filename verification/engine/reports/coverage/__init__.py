"""Which lines the tests ran, one reader per format, and which of the changed ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from enum import StrEnum

from verification.engine.reports.coverage import cobertura, coveragepy, gocover, lcov, recognised
from verification.engine.reports.coverage.changes import changed_lines, unreported_words
from verification.engine.reports.coverage.diffs import lines_of_diff
from verification.engine.reports.model import Coverage

__all__ = ["CoverageFormat", "changed_lines", "lines_of_diff", "read_coverage", "unreported_words"]


class CoverageFormat(StrEnum):
    COBERTURA = "cobertura"
    LCOV = "lcov"
    GO_COVER = "gocover"
    COVERAGE_PY = "coveragepy"
    ANY = "any"
    """Whichever it says itself that it is."""


_READERS: Mapping[CoverageFormat, Callable[[bytes, str], Coverage]] = {
    CoverageFormat.LCOV: lcov.read,
    CoverageFormat.COVERAGE_PY: coveragepy.read,
}


def read_coverage(
    format: CoverageFormat,
    content: bytes,
    folder: str = "",
    *,
    module: str = "",
    known: AbstractSet[str] = frozenset(),
) -> Coverage:
    """Read what a tool wrote; `folder` is where it ran, below the workspace.

    `module` is the module's path as `go.mod` names it: go tells files by it. `known` are the
    files there are, by which Cobertura's are found where it names several sources.

    Raises:
        Unreadable: nothing is known from it.
    """
    if format is CoverageFormat.GO_COVER:
        return gocover.read(content, folder, module=module)
    if format is CoverageFormat.ANY:
        return recognised.read(content, folder, module=module)
    if format is CoverageFormat.COBERTURA:
        return cobertura.read(content, folder, known=known)
    return _READERS[format](content, folder)
