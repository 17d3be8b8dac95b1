"""Which lines the tests ran, one reader per format, and which of the changed ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum

from verification.engine.reports.coverage import cobertura, coveragepy, gocover, lcov
from verification.engine.reports.coverage.changes import changed_lines
from verification.engine.reports.coverage.diffs import lines_of_diff
from verification.engine.reports.model import Coverage

__all__ = ["CoverageFormat", "changed_lines", "lines_of_diff", "read_coverage"]


class CoverageFormat(StrEnum):
    COBERTURA = "cobertura"
    LCOV = "lcov"
    GO_COVER = "gocover"
    COVERAGE_PY = "coveragepy"


_READERS: Mapping[CoverageFormat, Callable[[bytes, str], Coverage]] = {
    CoverageFormat.COBERTURA: cobertura.read,
    CoverageFormat.LCOV: lcov.read,
    CoverageFormat.GO_COVER: gocover.read,
    CoverageFormat.COVERAGE_PY: coveragepy.read,
}


def read_coverage(format: CoverageFormat, content: bytes, folder: str = "") -> Coverage:
    """Read what a tool wrote; `folder` is where it ran, below the workspace.

    Raises:
        Unreadable: nothing is known from it.
    """
    return _READERS[format](content, folder)
