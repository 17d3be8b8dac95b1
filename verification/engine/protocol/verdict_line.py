"""Stage 5: exactly one anchored verdict line. Nothing else in prose counts."""

from __future__ import annotations

import re

from verification.engine.protocol.doubt import Doubt
from verification.engine.protocol.prose import is_quoted, without_fences
from verification.engine.protocol.reply import Reply
from verification.engine.protocol.shown import Shown
from verification.engine.protocol.words import plain_word

_LINE = re.compile(
    r"^[ \t]{0,3}(?:#{1,6}[ \t]{1,3})?[*_]{0,3}(?:(?:final|overall|my)[ \t])?verdict[ \t]{0,3}[*_]{0,3}"
    r"[ \t]{0,3}(?:->|[:：=–—→-])[ \t]{0,3}(\S[^\n]{0,200})$",
    re.IGNORECASE | re.MULTILINE,
)
_FAIL_WITHIN = re.compile(
    r"\bverdict[*_]{0,3}[ \t]{0,3}(?:->|[:：=→])[ \t]{0,3}[*_]{0,3}fail(?:ed)?\b",
    re.IGNORECASE,
)
"""No verdict by itself, but doubt beside a pass."""
_WORDS = {"pass": True, "passed": True, "fail": False, "failed": False}
_MANY = "The reply holds more than one verdict line."


def read(text: str, shown: Shown) -> Reply | None:
    """Read the one verdict line.

    Raises:
        Doubt: there is more than one, agreeing or not.
    """
    bare = without_fences(text)
    lines = list(_LINE.finditer(bare))
    own = [
        line
        for line in lines
        if not is_quoted(bare, line.start(), line.end()) and not shown.holds(line[0])
    ]
    if len(own) > 1:
        raise Doubt(_MANY)
    passed = _said(own[0]) if own else None
    if passed and (_FAIL_WITHIN.search(bare) or any(_said(line) is False for line in lines)):
        raise Doubt(_MANY)
    return None if passed is None else Reply(passed=passed, is_short=True)


def contradicts(text: str, reply: Reply) -> bool:
    """Whether a verdict line beside a reply says the opposite, or leaves open what it says."""
    bare = without_fences(text)
    said = {_said(line) for line in _LINE.finditer(bare)}
    if reply.passed and _FAIL_WITHIN.search(bare):
        return True
    return (not reply.passed) in said or (reply.passed is True and None in said)


def _said(line: re.Match[str]) -> bool | None:
    return _WORDS.get(plain_word(line[1]))
