"""What linters, type checkers, compilers and scanners complain of, one reader per format."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum

from verification.engine.reports.model import ProblemReport
from verification.engine.reports.problems import eslint, go_build, go_vet, mypy, ruff


class ProblemFormat(StrEnum):
    RUFF = "ruff"
    MYPY = "mypy"
    ESLINT = "eslint"
    GO_VET = "govet"
    GO_BUILD = "gobuild"


_READERS: Mapping[ProblemFormat, Callable[[bytes, str], ProblemReport]] = {
    ProblemFormat.RUFF: ruff.read,
    ProblemFormat.MYPY: mypy.read,
    ProblemFormat.ESLINT: eslint.read,
    ProblemFormat.GO_VET: go_vet.read,
    ProblemFormat.GO_BUILD: go_build.read,
}


def read_problems(format: ProblemFormat, content: bytes, folder: str = "") -> ProblemReport:
    """Read what a tool wrote; `folder` is where it ran, below the workspace.

    Empty is no problem for those that print nothing when all is well; else it is unreadable.

    Raises:
        Unreadable: nothing is known from it.
    """
    return _READERS[format](content, folder)
