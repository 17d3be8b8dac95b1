"""Linear-time matching, by the same dialect in which rules are edited."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import re2

from processes.definition import patterns as dialect
from verification.engine.evidence import Matches, Pattern, PatternMatch, UnsupportedPattern


def find_all(
    patterns: Sequence[Pattern], texts: Sequence[str]
) -> list[list[Matches | UnsupportedPattern]]:
    """One row per text, one answer per pattern."""
    return [[_find(pattern, text) for pattern in patterns] for text in texts]


def _find(pattern: Pattern, text: str) -> Matches | UnsupportedPattern:
    compiled = _compiled(pattern.text)
    if isinstance(compiled, UnsupportedPattern):
        return compiled
    found = []
    for match in compiled.finditer(text):
        found.append(PatternMatch(*match.span()))
        if len(found) >= pattern.limit:
            break
    return found


@lru_cache(maxsize=1024)
def _compiled(pattern: str) -> Any:
    if problem := dialect.problem_of(pattern):
        return UnsupportedPattern(problem.message)
    return re2.compile(pattern, dialect.options())
