"""What a line says, as a short name: a problem is known again by it, wherever the line moves."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache

from verification.engine.reports.model import Problem

MAX_FILE_BYTES = 2_000_000
MAX_FILES_AT_HAND = 8
NAME_DIGITS = 8
"""Of a hash: enough to tell lines of one file apart, too few to guess a secret by."""


def by_line(read: Callable[[str], bytes]) -> Callable[[Problem], Problem]:
    """Names each problem by its line, where the work has that. `read` raises `KeyError` for no file."""

    @lru_cache(maxsize=MAX_FILES_AT_HAND)
    def lines(path: str) -> list[bytes]:
        try:
            content = read(path)
        except KeyError:
            return []
        return content.splitlines() if len(content) <= MAX_FILE_BYTES else []

    def named(problem: Problem) -> Problem:
        number = problem.line or 0
        said = lines(problem.path)[number - 1 : number] if problem.path and number > 0 else []
        return replace(problem, anchor=_name(said[0])) if said else problem

    return named


def _name(line: bytes) -> str:
    return hashlib.sha256(b" ".join(line.split())).hexdigest()[:NAME_DIGITS]
