"""Which lines the tests ran, one reader per format, and which of the changed ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum

from verification.engine.reports.coverage import cobertura
from verification.engine.reports.model import Coverage


class CoverageFormat(StrEnum):
    COBERTURA = "cobertura"


_READERS: Mapping[CoverageFormat, Callable[[bytes, str], Coverage]] = {
    CoverageFormat.COBERTURA: cobertura.read,
}


def read_coverage(format: CoverageFormat, content: bytes, folder: str = "") -> Coverage:
    """Read what a tool wrote; `folder` is where it ran, below the workspace.

    Raises:
        Unreadable: nothing is known from it.
    """
    return _READERS[format](content, folder)
