"""A report of problems whose format nobody names: by what it says of itself, or it is unreadable."""

from __future__ import annotations

from collections.abc import Callable

from verification.engine.reports.contents import as_json, as_text, bounded_json, json_at
from verification.engine.reports.model import ProblemReport, Unreadable
from verification.engine.reports.problems import (
    bandit,
    clippy,
    eslint,
    golangci,
    mypy,
    npm_audit,
    pip_audit,
    ruff,
    sarif,
)

Reader = Callable[[bytes, str], ProblemReport]

_OF_OBJECT: tuple[tuple[frozenset[str], Reader], ...] = (
    (frozenset({"runs", "version"}), sarif.read),
    (frozenset({"Issues"}), golangci.read),
    (frozenset({"results", "errors", "metrics"}), bandit.read),
    (frozenset({"auditReportVersion"}), npm_audit.read),
    (frozenset({"dependencies"}), pip_audit.read),
)
_OF_ENTRIES: tuple[tuple[frozenset[str], Reader], ...] = (
    (frozenset({"filePath", "messages"}), eslint.read),
    (frozenset({"filename", "location", "code"}), ruff.read),
)
_OF_LINES: tuple[tuple[frozenset[str], Reader], ...] = (
    (frozenset({"reason"}), clippy.read),
    (frozenset({"file", "severity", "message"}), mypy.read),
)


def read(content: bytes, folder: str = "") -> ProblemReport:
    """Text, whatever it says, is none: one that is empty says nothing of what was looked at."""
    begin = as_text(content).lstrip()
    if begin.startswith("["):
        reader = _of_list(as_json(content))
    elif begin.startswith("{"):
        # Golangci-lint writes a line of text below its own.
        whole = json_at(bounded_json(begin), 0)[0]
        reader = _of_keys(whole, _OF_LINES) or _of_keys(whole, _OF_OBJECT)
    else:
        reader = None
    if reader is None:
        raise Unreadable("The report is in no format of problems that is known.")
    return reader(content, folder)


def _of_list(whole: object) -> Reader | None:
    """An empty list is how more than one tool says that all is well."""
    if not isinstance(whole, list) or not whole:
        return ruff.read if whole == [] else None
    readers = {_of_keys(one, _OF_ENTRIES) for one in whole}
    return readers.pop() if len(readers) == 1 else None


def _of_keys(value: object, known: tuple[tuple[frozenset[str], Reader], ...]) -> Reader | None:
    keys = frozenset(value) if isinstance(value, dict) else frozenset[str]()
    return next((reader for needed, reader in known if needed <= keys), None)
