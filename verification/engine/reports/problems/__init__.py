"""What linters, type checkers, compilers and scanners complain of, one reader per format."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
    ruff,
    sarif,
    tsc,
)
from verification.engine.reports.readers import (
    Reader,
    has_keys,
    lists_objects,
    reader_table,
    recognise,
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


Read = Callable[[bytes, str], ProblemReport]
READERS: Sequence[Reader[ProblemFormat, Read]] = (
    Reader(ProblemFormat.CLIPPY, clippy.read, has_keys("reason")),
    Reader(ProblemFormat.MYPY, mypy.read, has_keys("file", "severity", "message")),
    Reader(ProblemFormat.SARIF, sarif.read, has_keys("runs", "version")),
    Reader(ProblemFormat.GOLANGCI, golangci.read, has_keys("Issues")),
    Reader(ProblemFormat.BANDIT, bandit.read, has_keys("results", "errors", "metrics")),
    Reader(ProblemFormat.NPM_AUDIT, npm_audit.read, has_keys("auditReportVersion")),
    Reader(ProblemFormat.PIP_AUDIT, pip_audit.read, has_keys("dependencies")),
    Reader(ProblemFormat.ESLINT, eslint.read, lists_objects("filePath", "messages")),
    # An empty list is how more than one tool says that all is well.
    Reader(
        ProblemFormat.RUFF,
        ruff.read,
        lambda shape: shape.is_empty_list or lists_objects("filename", "location", "code")(shape),
    ),
    Reader(ProblemFormat.FLAKE8, flake8.read),
    Reader(ProblemFormat.GO_VET, go_vet.read),
    Reader(ProblemFormat.GO_BUILD, go_build.read),
    Reader(ProblemFormat.TSC, tsc.read),
    Reader(ProblemFormat.JAVAC, javac.read),
    Reader(ProblemFormat.PHP, php.read),
    Reader(ProblemFormat.MSBUILD, msbuild.read),
    Reader(ProblemFormat.LINES, plain_lines.read),
)
_READ = reader_table(READERS)


def read_problems(format: ProblemFormat, content: bytes, folder: str = "") -> ProblemReport:
    """Read what a tool wrote; `folder` is where it ran, below the workspace.

    Empty is no problem for those that print nothing when all is well; else it is unreadable. Of
    `ANY`, text is unreadable, whatever it says: one that is empty says nothing of what was looked at.

    Raises:
        Unreadable: nothing is known from it.
    """
    if format is ProblemFormat.ANY:
        return recognise(READERS, content, "problems")(content, folder)
    return _READ[format](content, folder)
