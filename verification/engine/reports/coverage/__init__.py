"""Which lines the tests ran, one reader per format, and which of the changed ones."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from enum import StrEnum

from verification.engine.reports.coverage import (
    clover,
    cobertura,
    coveragepy,
    gocover,
    jacoco,
    lcov,
    opencover,
)
from verification.engine.reports.coverage.changes import changed_lines, unreported_words
from verification.engine.reports.coverage.diffs import lines_of_diff
from verification.engine.reports.model import Coverage, Unreadable
from verification.engine.reports.readers import (
    Reader,
    Shape,
    has_keys,
    has_root,
    reader_table,
    recognise,
)

__all__ = ["CoverageFormat", "changed_lines", "lines_of_diff", "read_coverage", "unreported_words"]


class CoverageFormat(StrEnum):
    COBERTURA = "cobertura"
    CLOVER = "clover"
    JACOCO = "jacoco"
    OPENCOVER = "opencover"
    LCOV = "lcov"
    GO_COVER = "gocover"
    COVERAGE_PY = "coveragepy"
    ANY = "any"
    """Whichever it says itself that it is."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a report was written: see `read_coverage`."""

    folder: str
    module: str
    known: AbstractSet[str]


Read = Callable[[bytes, Origin], Coverage]
_LCOV = re.compile(r"(?:TN:[^\n]*\n\s*)*SF:")


def _is_lcov(shape: Shape) -> bool:
    return bool(_LCOV.match(shape.text))


def _is_gocover(shape: Shape) -> bool:
    return shape.text.startswith("mode: ")


READERS: Sequence[Reader[CoverageFormat, Read]] = (
    Reader(
        CoverageFormat.COBERTURA,
        lambda content, origin: cobertura.read(content, origin.folder, known=origin.known),
        has_root("coverage", first=("sources", "packages", "coverage")),
    ),
    Reader(
        CoverageFormat.CLOVER,
        lambda content, origin: clover.read(content, origin.folder, known=origin.known),
        has_root("coverage", first=("project", "testproject")),
    ),
    Reader(
        CoverageFormat.JACOCO,
        lambda content, origin: jacoco.read(content, origin.folder, known=origin.known),
        has_root("report", first=("sessioninfo", "group", "package", "counter", "report")),
    ),
    Reader(
        CoverageFormat.OPENCOVER,
        lambda content, origin: opencover.read(content, origin.folder, known=origin.known),
        has_root("CoverageSession"),
    ),
    Reader(
        CoverageFormat.COVERAGE_PY,
        lambda content, origin: coveragepy.read(content, origin.folder),
        has_keys("files"),
    ),
    Reader(
        CoverageFormat.GO_COVER,
        lambda content, origin: gocover.read(content, origin.folder, module=origin.module),
        _is_gocover,
    ),
    Reader(
        CoverageFormat.LCOV,
        lambda content, origin: lcov.read(content, origin.folder),
        _is_lcov,
    ),
)
_READ = reader_table(READERS)


def read_coverage(
    format: CoverageFormat,
    content: bytes,
    folder: str = "",
    *,
    module: str = "",
    known: AbstractSet[str] = frozenset(),
) -> Coverage:
    """Read what a tool wrote; `folder` is where it ran, below the workspace.

    `module` is the module's path as `go.mod` names it: go names files by it, and without it a
    profile that nobody names is unreadable. `known` are the files there are, by which those that a
    report names by a package, or on another machine, are found.

    Raises:
        Unreadable: nothing is known from it.
    """
    origin = Origin(folder, module, known)
    if format is not CoverageFormat.ANY:
        return _READ[format](content, origin)
    read = recognise(READERS, content, "coverage")
    if read is _READ[CoverageFormat.GO_COVER] and not module:
        raise Unreadable("The report is a profile of Go, and the module is not known.")
    return read(content, origin)
