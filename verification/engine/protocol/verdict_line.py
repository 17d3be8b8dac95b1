"""Stage 5: an anchored verdict line, or several that agree. Nothing else in prose counts."""

from __future__ import annotations

import re
from collections.abc import Sequence

from verification.engine.protocol.doubt import DISAGREE, TOO_LONG, Doubt
from verification.engine.protocol.fields import texts_of
from verification.engine.protocol.prose import LIST_ITEM, is_quoted, without_fences
from verification.engine.protocol.reply import Reply
from verification.engine.protocol.shown import Shown
from verification.engine.protocol.stance import blame_in, blames_the_work, passes_the_work
from verification.engine.protocol.stance_words import DOUBTING
from verification.engine.protocol.words import verdict_of

_LINE = re.compile(
    r"^[ \t]{0,3}(?:#{1,6}[ \t]{1,3})?[*_]{0,3}(?:(?:final|overall|my)[ \t])?verdict[ \t]{0,3}[*_]{0,3}"
    r"[ \t]{0,3}(?:->|[:：=–—→-])[ \t]{0,3}(\S[^\n]{0,200})$",
    re.IGNORECASE | re.MULTILINE,
)
_FAIL_AND_WHY = re.compile(
    r"[*_`]{0,3}fail(?:ed)?[*_`]{0,3}\s{0,3}[-–—:.,;(]\s{0,3}(\w.{0,200})", re.IGNORECASE
)
_PASS_AND_WHY = re.compile(
    r"[*_`]{0,3}pass(?:ed)?[*_`]{0,3}\s{0,3}[-\u2013\u2014:.;,(]\s{0,3}(\w.{0,200})", re.IGNORECASE
)
_FAILS = re.compile(r"\b(?:fail(?:s|ed|ing)?|reject\w*|not pass\w*)\b", re.IGNORECASE)
_PASSES = re.compile(r"\b(?:pass(?:ed|es)?|accept(?:ed)?|approved?)\b", re.IGNORECASE)
_HEADING_OF_CONCERNS = re.compile(
    r"^[ \t]{0,3}(?:#{1,6}[ \t]{1,3}|[*_]{2,3})(?:key |main )?(?:concerns?|issues?|problems?)"
    r"[:*_ \t]{0,6}$|^(?:concerns?|issues?|problems?):[ \t]{0,3}$",
    re.IGNORECASE | re.MULTILINE,
)
_NEXT_HEADING = re.compile(r"^(?:#{1,6}[ \t]|[*_]{2}[^\n]{1,80}[*_]{2}:?[ \t]*$)", re.MULTILINE)
MAX_CONCERN_CHARS = 8_000
MAX_BESIDE_CHARS = 200_000


def read(text: str, shown: Shown) -> Reply | None:
    """Read the verdict lines; a fail may give its reason in the same line.

    Raises:
        Doubt: they disagree, one of them is neither pass nor fail, or the prose says otherwise.
    """
    bare = without_fences(text)
    lines = list(_LINE.finditer(bare))
    own = [
        line
        for line in lines
        if not is_quoted(bare, line.start(), line.end()) and not shown.holds(line[0])
    ]
    verdicts = {_verdict(line) for line in own}
    if len(verdicts) > 1:
        raise Doubt(DISAGREE)
    passed = verdicts.pop() if verdicts else None
    if passed is None:
        return None
    if passed and any(_verdict(line) is False for line in lines):
        raise Doubt(DISAGREE)
    reasons = dict.fromkeys(reason for line in own if (reason := _reason(line)))
    concerns = () if passed else _concerns(bare)
    reply = Reply(passed=passed, issues=(*reasons, *concerns), is_short=True)
    check_beside(_LINE.sub("", text), reply)
    return reply


def check_beside(rest: str, reply: Reply) -> None:
    """Hold a verdict against the text outside of what it was read from.

    More than `MAX_BESIDE_CHARS` of prose cannot be examined, and leave a pass in doubt.

    Raises:
        Doubt: a verdict line says something else, or the prose does, in whatever words.
    """
    verdicts = {_verdict(line) for line in _LINE.finditer(without_fences(rest))}
    if (not reply.passed) in verdicts or (reply.passed and None in verdicts):
        raise Doubt(DISAGREE)
    if reply.passed and len(rest) > MAX_BESIDE_CHARS:
        raise Doubt(TOO_LONG)
    rest = rest[:MAX_BESIDE_CHARS]
    if blames_the_work(rest) if reply.passed else passes_the_work(rest):
        raise Doubt(DISAGREE)


def _concerns(text: str) -> Sequence[str]:
    """Return what stands below a heading of concerns: its list, else its paragraph."""
    heading = _HEADING_OF_CONCERNS.search(text)
    if heading is None:
        return ()
    below = text[heading.end() : heading.end() + MAX_CONCERN_CHARS].lstrip("\n")
    block = _NEXT_HEADING.split(below)[0]
    items = [item.strip() for item in LIST_ITEM.findall(block)]
    paragraph = " ".join(block.split("\n\n")[0].split())
    return texts_of(items or paragraph)


def _verdict(line: re.Match[str]) -> bool | None:
    said = line[1]
    verdict = verdict_of(said)
    if verdict is None and _reason(line):
        return False
    return True if verdict is None and _is_plain_pass(said) else verdict


def _is_plain_pass(said: str) -> bool:
    """Whether a pass gives its reason in the same line, without a word against it."""
    reasoned = _PASS_AND_WHY.match(said)
    if reasoned is None:
        return False
    why = reasoned[1]
    return not (DOUBTING.search(why) or _FAILS.search(why) or blame_in(why))


def _reason(line: re.Match[str]) -> str:
    """Return why a line fails the work, where it says so: `FAIL - the date is missing`."""
    reasoned = _FAIL_AND_WHY.match(line[1])
    return "" if reasoned is None or _PASSES.search(reasoned[1]) else reasoned[1].rstrip(" *_`)")
