"""Stage 3: damaged JSON, repaired by a library, where no repair can have made the verdict."""

from __future__ import annotations

import html
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping
from enum import Enum, auto
from typing import Any

import json_repair

from verification.engine.protocol import embedded
from verification.engine.protocol.doubt import (
    BROKEN_OFF,
    DAMAGED,
    DISAGREE,
    TOO_LONG,
    UNCLEAR,
    Doubt,
)
from verification.engine.protocol.mentions import (
    Mention,
    all_mentions,
    quoted_mentions,
    rule_verdicts,
    rules_named,
)
from verification.engine.protocol.objects import closes_what_never_began, loads, objects_in
from verification.engine.protocol.prose import is_quoted
from verification.engine.protocol.reading import reply_of
from verification.engine.protocol.reply import Reply
from verification.engine.protocol.shown import Shown
from verification.engine.protocol.verdict_line import check_beside

MAX_CHARS = 64_000
"""The library takes quadratic time on some texts; this bounds it to a quarter of a second."""
MAX_BEGINNINGS = 50
_MARK = re.compile(r'\\.|["\'\n\r\t{}\[\],:]', re.DOTALL)
_STRUCTURE, _BRACKETS = "{}[],:", "{}[]"
_ESCAPES = {'"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_KEYS = (
    "token", "passed", "pass", "is_passed", "rules", "rule", "rule_id", "rule_name", "verdict", "why",
    "reason", "reasons", "reasoning", "explanation", "rationale", "quote", "acceptance",
    "acceptance_criteria", "claims", "text", "label", "section", "evidence", "confidence", "suggestion",
    "suggestions", "score", "issues", "problems", "concerns", "summary", "comment", "result", "outcome",
    "status", "message", "correctness", "completeness", "testing", "quality", "practice",
)  # fmt: skip
"""The keys of a reply. Others, in JSON that is quoted within a string, delimit nothing."""
_KEY = rf"[\"']?(?:{'|'.join(_KEYS)})[\"']?\s{{0,9}}[:=]"
_CLOSED = rf"\}}\s{{0,99}}(?:$|\}}|,\s{{0,99}}(?:\{{\s{{0,99}})?{_KEY}|,?\s{{0,99}}\]\s{{0,99}}(?:$|\}}|,?\s{{0,99}}{_KEY}))"
_COMMENT = r"//|/\*|#"
_ENDS_KEY = re.compile(r"\s{0,99}(?::|$)")
_ENDS_VALUE = {
    "{": re.compile(
        rf"\s{{0,99}}(?:$|{_COMMENT}|,?\s{{0,99}}{_KEY}|,?\s{{0,99}}{_CLOSED}|,\s{{0,99}}(?:[,#]|//|/\*|$))",
        re.IGNORECASE,
    ),
    "[": re.compile(
        rf"\s{{0,99}}(?:$|{_COMMENT}|,\s{{0,99}}(?:[\"'\]]|$)|\]\s{{0,99}}(?:$|[,}}]|{_KEY}))",
        re.IGNORECASE,
    ),
}
"""What follows the quotation mark that ends a value of an object, or of a list."""
_ENDS_LAST_VALUE = re.compile(r",?\s{0,99}\}")
"""Likewise of the outermost object, behind which anything may stand."""
_BARE_QUOTE = re.compile(r'(?<!\\)"')
_ODD_PAIR = re.compile(
    r"(?<=[{,\s])(?:`(\w{1,40})`\s{0,9}:|[`\"'](\w{1,40})[`\"']\s{0,9}=>?)\s{0,9}"
)


class _Role(Enum):
    """What a character is in a damaged object."""

    BRACKET = auto()
    INNER = auto()
    """Within a string."""


def read(text: str, shown: Shown) -> Reply | None:
    """Read the object that speaks of a verdict and does not parse; None: there is none.

    Raises:
        Doubt: there is one, and its verdict may be another than the one that a repair finds.
    """
    plain = _plainer(text)
    if plain != text and (reply := embedded.read(plain, shown)) is not None:
        return reply
    text = plain
    region = _region(text)
    if region is None:
        return None
    start, end, is_whole = region
    told = text[start:end]
    if is_quoted(text, start, end) or shown.holds(told):
        if any(mention.truth is False for mention in all_mentions(told)):
            raise Doubt(DISAGREE)  # a weaker stage might find a pass beside it
        return None
    reply = _repaired(told, is_whole)
    rest = text[:start] + "\n" + text[end:]
    _check_beside(reply, rest)
    if reply.passed and closes_what_never_began(rest, 0, "}]"):
        raise Doubt(BROKEN_OFF)
    return reply


def _plainer(text: str) -> str:
    """The text with quotes, braces and colons as JSON writes them, where it wrote them otherwise."""
    if len(text) > MAX_CHARS:
        return text
    if "&quot;" in text or "&#34;" in text:
        text = html.unescape(text)
    if "＂" in text or "｛" in text:
        text = unicodedata.normalize("NFKC", text)
    if '\\"' in text and not _BARE_QUOTE.search(text):
        text = text.replace("\\n", "\n").replace('\\"', '"')
    return _ODD_PAIR.sub(lambda pair: f'"{pair[1] or pair[2]}": ', text)


def _region(text: str) -> tuple[int, int, bool] | None:
    """Where the damaged object stands, and whether its end is there."""
    mentions = all_mentions(text)
    for start in objects_in(text).damaged[:MAX_BEGINNINGS]:
        end = _end(text, start)
        stop = len(text) if end is None else end
        if any(start < mention.start < stop for mention in mentions):
            if stop - start > MAX_CHARS:
                raise Doubt(TOO_LONG)
            return start, stop, end is not None
    if any(not mention.is_form for mention in quoted_mentions(text)):
        raise Doubt(DAMAGED)
    return None


def _end(text: str, start: int) -> int | None:
    """Where the object that begins here is closed; None: it breaks off."""
    open_: list[str] = []
    for mark, role in _marks(text, start, start + MAX_CHARS + 1):
        if role is not _Role.BRACKET:
            continue
        if mark[0] in "{[":
            open_.append(mark[0])
        elif mark[0] == "}":
            while open_ and open_.pop() != "{":
                pass
            if not open_:
                return mark.end()
        elif open_[-1:] == ["["]:
            open_.pop()
    return None


def _with_escapes(damaged: str) -> str:
    """The object with the quotation marks and line breaks escaped that stand within its strings."""
    pieces: list[str] = []
    at = 0
    for mark, role in _marks(damaged, 0, len(damaged)):
        if role is _Role.INNER and mark[0] in _ESCAPES:
            pieces += (damaged[at : mark.start()], _ESCAPES[mark[0]])
            at = mark.end()
    return "".join([*pieces, damaged[at:]])


def _marks(text: str, start: int, end: int) -> Iterator[tuple[re.Match[str], _Role]]:
    """Tell the quotation marks that delimit strings from those within.

    A mark ends a key where a colon follows. It ends a value where a closing bracket follows, or
    a next item, with or without its comma.
    """
    delimiter, is_key = "", False
    before, at = "", start
    open_: list[str] = []
    for mark in _MARK.finditer(text, start, end):
        follows = not text[at : mark.start()].strip()
        if delimiter:
            container = (open_ or ["{"])[-1]
            ends = _ENDS_KEY if is_key else _ENDS_VALUE[container]
            is_last = len(open_) <= 1 and not is_key
            if mark[0] == delimiter and (
                ends.match(text, mark.end())
                or (is_last and _ENDS_LAST_VALUE.match(text, mark.end()))
            ):
                delimiter, before, at = "", "", mark.end()
            else:
                yield mark, _Role.INNER
        elif mark[0] == '"' or (mark[0] == "'" and follows):
            delimiter = mark[0]
            is_key = open_[-1:] == ["{"] and not (before == ":" and follows)
        elif mark[0] in _STRUCTURE:
            before, at = mark[0], mark.end()
            if before in _BRACKETS:
                yield mark, _Role.BRACKET
            if before in "{[":
                open_.append(before)
            elif before in "}]" and open_:
                open_.pop()


def _repaired(told: str, is_whole: bool) -> Reply:
    """Read the object by the first repair that made, dropped and moved no verdict."""
    doubt = Doubt(DAMAGED)
    for repaired in _repairs(told):
        try:
            reply = _reply_in(repaired)
            _check_within(reply, told, is_whole)
        except Doubt as error:
            doubt = error
        else:
            return reply
    raise doubt


def _repairs(told: str) -> Iterator[Any]:
    escaped = _with_escapes(told)
    try:
        yield loads(escaped)
    except ValueError:
        yield _repaired_by_library(escaped)
    if escaped != told:
        yield _repaired_by_library(told)


def _repaired_by_library(damaged: str) -> Any:
    try:
        return json_repair.repair_json(damaged, return_objects=True, skip_json_loads=True)
    except Exception as error:  # a library on hostile text: whatever it raises, nothing is read
        raise Doubt(DAMAGED) from error


def _reply_in(document: Any) -> Reply:
    if isinstance(document, list) and len(document) == 1:
        [document] = document
    if not isinstance(document, Mapping):
        raise Doubt(DAMAGED)
    reply = reply_of(document)
    if reply is None:
        raise Doubt(UNCLEAR)
    return reply


def _check_within(reply: Reply, told: str, is_whole: bool) -> None:
    """Hold a repair against the text as it was: it must have added, dropped and moved no verdict.

    A pass that breaks off is none: what was cut off is not known.
    """
    mentions = all_mentions(told)
    of_whole = {mention.truth for mention in mentions if mention.is_of_the_whole}
    if None in of_whole:
        raise Doubt(UNCLEAR)
    if of_whole - {reply.passed}:
        raise Doubt(DISAGREE)
    if reply.passed and not is_whole:
        raise Doubt(BROKEN_OFF)
    if is_whole and not _holds_each_answer(reply, mentions, told):
        raise Doubt(DAMAGED)


def _check_beside(reply: Reply, rest: str) -> None:
    """Nothing beside the object may speak of another verdict, or of a part that fell off it."""
    check_beside(rest, reply)
    for mention in quoted_mentions(rest):
        if not mention.is_form and (
            mention.truth is not reply.passed or not mention.is_of_the_whole
        ):
            raise Doubt(DISAGREE)


def _holds_each_answer(reply: Reply, mentions: list[Mention], told: str) -> bool:
    read = Counter(answer.verdict for answer in reply.rules)
    if reply.acceptance is not None:
        read[reply.acceptance] += 1
    return read == rule_verdicts(mentions) and rules_named(told) == len(reply.rules)
