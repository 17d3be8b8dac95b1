"""Stage 2: the last complete JSON object in prose, fences or an envelope."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from verification.engine.outcome import FindingVerdict
from verification.engine.protocol.doubt import BROKEN_OFF, DISAGREE, TOO_MANY, UNCLEAR, Doubt
from verification.engine.protocol.fields import Fields
from verification.engine.protocol.mentions import Mention, quoted_mentions
from verification.engine.protocol.objects import (
    Span,
    closes_what_never_began,
    loads,
    objects_in,
    without,
)
from verification.engine.protocol.prose import is_quoted
from verification.engine.protocol.reading import ISSUES, RULES, SUGGESTION, fail_in, reply_of
from verification.engine.protocol.reply import Reply
from verification.engine.protocol.shown import Shown
from verification.engine.protocol.stance import blame_in
from verification.engine.protocol.verdict_line import check_beside
from verification.engine.protocol.wrappers import may_speak, replies_in, texts_beside

MAX_OBJECTS = 100
MAX_BESIDE_CHARS = 20_000
"""How much of the text in the envelopes of a pass is held against it."""
_BLANK_FORM = re.compile(r"<[^<>]{1,80}>|\.\.\.|…|rule[_-]?id")


@dataclass(frozen=True, slots=True)
class OwnWords:
    """`quotes_a_fail`: what was left out as a quote says fail, which puts a pass in doubt."""

    text: str
    quotes_a_fail: bool


def own_words(text: str, shown: Shown) -> OwnWords:
    """The text without the objects in it that are not the judge's own answer.

    Those are the ones that its prose gives to somebody else, that stand in the material word for
    word, or that are the form which was to be filled in.
    """
    foreign, fails = [], False
    for span, replies in _told(text):
        if is_quoted(text, span.start, span.end):
            foreign.append(span)
            fails |= any(fail_in(reply) for reply in replies)
        elif _is_shown(text, span, replies, shown) or any(map(is_blank_form, replies)):
            foreign.append(span)
    return OwnWords(without(text, foreign), fails)


def read(text: str, shown: Shown) -> Reply | None:
    """Read the last of them, if all of them and the text around agree with it.

    Raises:
        Doubt: they do not, or one of them leaves its verdict open.
    """
    told = _told(text)
    replies = [reply_of(one) for _, found in told for one in found]
    if not replies:
        return None
    reply = _agreed(replies, without(text, [span for span, _ in told]))
    if reply.passed and closes_what_never_began(text, told[-1][0].end):
        raise Doubt(BROKEN_OFF)
    beside = "\n".join(words for span, _ in told for words in texts_beside(span.document))
    if reply.passed and blame_in(beside[:MAX_BESIDE_CHARS], outright=True):
        raise Doubt(DISAGREE)
    return reply


def is_blank_form(reply: Mapping[str, Any]) -> bool:
    """It is the form that was to be filled in, sent back."""
    return any(_BLANK_FORM.fullmatch(text.strip()) for text in _filled(reply))


def _is_shown(text: str, span: Span, replies: Sequence[Mapping[str, Any]], shown: Shown) -> bool:
    return shown.holds(text[span.start : span.end]) or any(map(shown.holds_object, replies))


def _told(text: str) -> list[tuple[Span, list[Mapping[str, Any]]]]:
    """The objects that speak of a verdict, and what each of them says.

    Raises:
        Doubt: they are more than `MAX_OBJECTS`.
    """
    found = []
    for span in _spans(text):
        if may_speak(text, span.start, span.end) and (replies := list(replies_in(span.document))):
            found.append((span, replies))
            if len(found) > MAX_OBJECTS:
                raise Doubt(TOO_MANY)
    return found


def _spans(text: str) -> Sequence[Span]:
    if text.lstrip()[:1] == '"':  # the whole text may be JSON in a JSON string
        try:
            return (Span(0, len(text), {"text": loads(text)}),)
        except ValueError:
            pass
    return objects_in(text).whole


def _filled(reply: Mapping[str, Any]) -> Iterator[str]:
    fields = Fields(reply)
    for value in (fields.first(*RULES), fields.first(*ISSUES), fields.first(*SUGGESTION)):
        for one in value if isinstance(value, list) else [value]:
            name = Fields(one).first("rule", "ruleid", "id") if isinstance(one, Mapping) else one
            if isinstance(name, str):
                yield name


def _agreed(replies: Sequence[Reply | None], rest: str) -> Reply:
    last = replies[-1]
    if last is None or None in replies:
        raise Doubt(UNCLEAR)
    if any(one is not None and _differ(one, last) for one in replies):
        raise Doubt(DISAGREE)
    check_beside(rest, last)
    for mention in quoted_mentions(rest):
        if mention.is_form:
            continue
        if mention.is_of_the_whole and mention.truth is (not last.passed):
            raise Doubt(DISAGREE)
        if last.passed and _is_open(mention):
            raise Doubt(DISAGREE)
        if last.passed and mention.is_of_the_whole and mention.truth is None:
            raise Doubt(BROKEN_OFF)
    return last


def _is_open(mention: Mention) -> bool:
    """Whether a rule that is spoken of beside a pass is violated, or not said to be satisfied."""
    if mention.is_of_the_whole:
        return mention.verdict is FindingVerdict.VIOLATED
    return mention.verdict is not FindingVerdict.SATISFIED


def _differ(one: Reply, last: Reply) -> bool:
    """Whether they disagree, or the last leaves out what another objects to."""
    if one.passed is not last.passed or _objects(one.acceptance, last.acceptance):
        return True
    known = {answer.rule: answer.verdict for answer in last.rules}
    return any(_objects(answer.verdict, known.get(answer.rule)) for answer in one.rules)


def _objects(said: FindingVerdict | None, last: FindingVerdict | None) -> bool:
    if last is None:
        return said not in (None, FindingVerdict.SATISFIED)
    return said not in (None, last)
