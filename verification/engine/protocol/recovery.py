"""Finds the verdict in a judge's reply."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from verification.engine.protocol import damaged, embedded, lines, verdict_line
from verification.engine.protocol.content_parts import content_in
from verification.engine.protocol.doubt import (
    DISAGREE,
    NOTHING,
    REFUSED,
    TOO_DEEP,
    TOO_LONG,
    Doubt,
)
from verification.engine.protocol.objects import loads
from verification.engine.protocol.prose import answer_in
from verification.engine.protocol.reading import reply_of, speaks_of_a_verdict
from verification.engine.protocol.reply import Recovered, Reply, Stage
from verification.engine.protocol.shown import Shown
from verification.engine.protocol.wrappers import replies_in

MAX_CHARS = 4_000_000
MAX_PYTHON_CHARS = 64_000
_PYTHON_PARTS = re.compile(r"\s*\[\s*\{\s*'(?:type|text|thought)'")


_STAGES: tuple[tuple[Stage, Callable[[str, Shown], Reply | None]], ...] = (
    (Stage.EMBEDDED, embedded.read),
    (Stage.REPAIRED, damaged.read),
    (Stage.YAML, lines.read),
    (Stage.VERDICT_LINE, verdict_line.read),
)


def recover(text: str, *, strict: bool = False, shown: str = "") -> Recovered:
    """Read a reply by the first stage that finds exactly one verdict. Never raises.

    `strict` leaves only the first stage: the whole text is one JSON object. `shown` is the
    material that the judge had before it: a verdict that stands in it word for word is a quote.
    A stage that finds a verdict in doubt ends the search: no weaker one may make it certain.

    Source: docs/engine.md, "Protocol".
    """
    if len(text) > MAX_CHARS:
        return Recovered(Stage.UNREADABLE, why=TOO_LONG)
    try:
        return _read(text, strict, Shown(shown)) or Recovered(Stage.UNREADABLE, why=NOTHING)
    except Doubt as doubt:
        return Recovered(Stage.UNREADABLE, why=str(doubt))
    except RecursionError:
        return Recovered(Stage.UNREADABLE, why=TOO_DEEP)


def _read(text: str, strict: bool, shown: Shown) -> Recovered | None:
    reply = None if shown.holds(text) else _whole(text)
    if reply is not None:
        return Recovered(Stage.STRICT, reply, answer=text)
    if strict:
        return None
    answer = _answer_text(text)
    own = embedded.own_words(answer, shown)
    for stage, read in _STAGES:
        if (reply := read(own.text, shown)) is not None:
            if reply.passed and own.quotes_a_fail:
                raise Doubt(DISAGREE)
            reply = reply if stage is Stage.EMBEDDED else _unrated(reply)
            return Recovered(stage, reply, answer=answer)
    return None


def own_answer(text: str) -> str:
    """Return a reply's answer as text: no reasoning, no quoted lines, no parts but text.

    '' for reasoning without an answer, for a refusal, and where neither can be told apart.
    """
    try:
        return _answer_text(text)
    except (Doubt, RecursionError):
        return ""


def _answer_text(text: str) -> str:
    """Likewise.

    Raises:
        Doubt: it refuses to answer, or its marks of reasoning cannot be told apart.
    """
    return answer_in(_message(text))


def _message(text: str) -> str:
    """Return the text parts of a reply that came as a list of parts or as a provider's response.

    Raises:
        Doubt: a part of it refuses to answer.
    """
    content = content_in(_document(text)) if text.lstrip()[:1] in ("[", "{") else None
    if content is None:
        return text
    if content.refusal:
        raise Doubt(REFUSED)
    return content.text


def _document(text: str) -> Any:
    """Read JSON, or a list as Python prints it; None: the text is neither."""
    try:
        return loads(text)
    except ValueError:
        pass
    if not _PYTHON_PARTS.match(text) or len(text) > MAX_PYTHON_CHARS:
        return None
    try:
        return ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None


def _unrated(reply: Reply) -> Reply:
    """What was repaired or cut off may hold half a number, which looks like a whole one."""
    return replace(reply, rating=None)


def _whole(text: str) -> Reply | None:
    try:
        document = loads(text)
    except ValueError:
        return None
    if not isinstance(document, Mapping) or not speaks_of_a_verdict(document):
        return None
    if len(list(replies_in(document))) > 1 or embedded.is_blank_form(document):
        return None
    return reply_of(document)
