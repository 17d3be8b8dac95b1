"""What linters, type checkers, compilers and scanners complain of, one reader per format."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum

from verification.engine.reports.model import ProblemReport
from verification.engine.reports.problems import (
    bandit,
    clippy,
    eslint,
    flake8,
    go_build,
    go_vet,
    golangci,
    javac,
    msbuild,
    mypy,
    npm_audit,
    php,
    pip_audit,
    plain_lines,
    recognised,
    ruff,
    sarif,
    tsc,
)


class ProblemFormat(StrEnum):
    RUFF = "ruff"
    BANDIT = "bandit"
    MYPY = "mypy"
    ESLINT = "eslint"
    FLAKE8 = "flake8"
    SARIF = "sarif"
    GOLANGCI = "golangci"
    GO_VET = "govet"
    GO_BUILD = "gobuild"
    TSC = "tsc"
    JAVAC = "javac"
    CLIPPY = "clippy"
    PHP = "php"
    MSBUILD = "msbuild"
    NPM_AUDIT = "npm_audit"
    PIP_AUDIT = "pip_audit"
    LINES = "lines"
    ANY = "any"


_READERS: Mapping[ProblemFormat, Callable[[bytes, str], ProblemReport]] = {
    ProblemFormat.RUFF: ruff.read,
    ProblemFormat.BANDIT: bandit.read,
    ProblemFormat.MYPY: mypy.read,
    ProblemFormat.ESLINT: eslint.read,
    ProblemFormat.FLAKE8: flake8.read,
    ProblemFormat.SARIF: sarif.read,
    ProblemFormat.GOLANGCI: golangci.read,
    ProblemFormat.GO_VET: go_vet.read,
    ProblemFormat.GO_BUILD: go_build.read,
    ProblemFormat.TSC: tsc.read,
    ProblemFormat.JAVAC: javac.read,
    ProblemFormat.CLIPPY: clippy.read,
    ProblemFormat.PHP: php.read,
    ProblemFormat.MSBUILD: msbuild.read,
    ProblemFormat.NPM_AUDIT: npm_audit.read,
    ProblemFormat.PIP_AUDIT: pip_audit.read,
    ProblemFormat.LINES: plain_lines.read,
    ProblemFormat.ANY: recognised.read,
}


def read_problems(format: ProblemFormat, content: bytes, folder: str = "") -> ProblemReport:
    """Read what a tool wrote; `folder` is where it ran, below the workspace.

    Empty is no problem for those that print nothing when all is well; else it is unreadable.

    Raises:
        Unreadable: nothing is known from it.
    """
    return _READERS[format](content, folder)
