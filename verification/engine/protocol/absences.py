"""A judge that calls missing what the material holds: that word carries nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator

from verification.engine.case import Case
from verification.engine.protocol.quotes import Quotes
from verification.engine.tree import tree_of

MAX_WHY_CHARS = 4_000
_WHAT = r"(?:file|section|heading|chapter|deliverable|document|report)"
_NAME = (
    r"[\"'“`‘](?P<{0}quoted>[^\"'”`’\n]{{1,200}})[\"'”`’]|(?P<{0}bare>[\w./-]{{1,200}}\.\w{{1,10}})"
)
_BEFORE = re.compile(
    rf"(?:\[missing\]|\b(?:missing|lacks?|without|no|could not find|cannot find|did not find"
    rf"|there is no))\s*:?\s*(?:the |a |an |any )?(?:{_WHAT}s?:?\s+)?(?:{_NAME.format('a')})",
    re.IGNORECASE,
)
_AFTER = re.compile(
    rf"(?:{_NAME.format('b')})(?:\s+{_WHAT})?\s+(?:is|are|was|were|does|do)\s+"
    r"(?:missing|absent|not (?:there|present|found|included|submitted|provided|exist))"
    r"\s*(?:[.,;:!)\]]|$|from\b|in\b)",
    re.IGNORECASE,
)


def denied(why: str, case: Case, quotes: Quotes) -> str:
    """The file or heading that is called missing, and is there; '' if there is none."""
    for name in _called_missing(why[:MAX_WHY_CHARS]):
        file = tree_of(case.submission.files).at(name)
        if (file and file.size) or _heading(name) in quotes.headings:
            return name
    return ""


def _called_missing(why: str) -> Iterator[str]:
    for pattern in (_BEFORE, _AFTER):
        for match in pattern.finditer(why):
            yield next(name for name in match.groups() if name).strip()


def _heading(name: str) -> str:
    return " ".join(name.strip("# ").split()).casefold()
