"""Stage 3: damaged JSON, repaired by a library, where no repair can have made the verdict."""

from __future__ import annotations

import html
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping
from typing import Any

import json_repair

from verification.engine.protocol import embedded, verdict_line
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
from verification.engine.protocol.objects import objects_in
from verification.engine.protocol.prose import is_quoted
from verification.engine.protocol.reading import reply_of
from verification.engine.protocol.reply import Reply
from verification.engine.protocol.shown import Shown

MAX_CHARS = 64_000
"""The library takes quadratic time on some texts; this bounds it to a quarter of a second."""
MAX_BEGINNINGS = 50
_TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|"|[{}\[\]]')
_BARE_QUOTE = re.compile(r'(?<!\\)"')
_ODD_PAIR = re.compile(
    r"(?<=[{,\s])(?:`(\w{1,40})`\s{0,9}:|[`\"'](\w{1,40})[`\"']\s{0,9}=>?)\s{0,9}"
)


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
    reply = _repaired(told)
    _check_within(reply, told, is_whole)
    _check_beside(reply, text[:start] + "\n" + text[end:])
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
    for token in _TOKEN.finditer(text, start, start + MAX_CHARS + 1):
        mark = token[0]
        if mark in "{[":
            open_.append(mark)
        elif mark == "}":
            while open_ and open_.pop() != "{":
                pass
            if not open_:
                return token.end()
        elif mark == "]" and open_[-1:] == ["["]:
            open_.pop()
    return None


def _repaired(told: str) -> Reply:
    try:
        document: Any = json_repair.repair_json(told, return_objects=True, skip_json_loads=True)
    except Exception as error:  # a library on hostile text: whatever it raises, nothing is read
        raise Doubt(DAMAGED) from error
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
    if verdict_line.contradicts(rest, reply):
        raise Doubt(DISAGREE)
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
