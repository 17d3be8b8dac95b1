"""Wherever a text speaks of a verdict in the manner of JSON, whole or not."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from verification.engine.outcome import FindingVerdict
from verification.engine.protocol.words import (
    PASSED_KEYS,
    plain_key,
    rule_verdict_of,
    truth_of,
)

_QUOTES = "\"'“”‘’„«»＂"
_KEY = r"(is[_ ]?passed|has[_ ]?passed|overall[_ ]?passed|passed|pass|verdict)"
_VALUE = rf"\\{{0,4}}[{_QUOTES}]?\s{{0,3}}([^\s,;}}\]{_QUOTES}\\][^,;}}\]\n{_QUOTES}\\]{{0,40}})?"
_SEPARATOR = r"\s{0,9}(?:=>|[:：=])\s{0,9}"
_QUOTED_KEY = re.compile(
    rf"[{_QUOTES}]\s{{0,3}}{_KEY}\s{{0,3}}\\{{0,4}}[{_QUOTES}]{_SEPARATOR}{_VALUE}", re.IGNORECASE
)
_ANY_KEY = re.compile(rf"(?<![\w.]){_KEY}\\{{0,4}}[{_QUOTES}]?{_SEPARATOR}{_VALUE}", re.IGNORECASE)
_RULE = re.compile(rf"(?<![\w.])(?:rule|rule_id)\\{{0,4}}[{_QUOTES}]?{_SEPARATOR}", re.IGNORECASE)
_GOES_ON = re.compile(rf"\\{{0,4}}[{_QUOTES}]?\s{{0,3}}[:：=]")
"""What was taken for a value is a key: `"passed": "passed": false`."""
_COMMENT = re.compile(r"\s*(?://|/\*|#)")
_CHOICE = re.compile(r"\||/|\bor\b|<|\?")
_TYPES = frozenset(("bool", "boolean", "string", "str", "enum"))


@dataclass(frozen=True, slots=True)
class Mention:
    """One place. `truth` is None where the value is no whole word of a verdict."""

    start: int
    is_of_the_whole: bool
    value: str

    @property
    def truth(self) -> bool | None:
        return truth_of(self.value)

    @property
    def verdict(self) -> FindingVerdict:
        return rule_verdict_of(self.value)

    @property
    def is_form(self) -> bool:
        """It shows what may stand there: `true | false`, `<bool>`, `boolean`."""
        return _CHOICE.search(self.value) is not None or self.value.lower() in _TYPES


def quoted_mentions(text: str) -> list[Mention]:
    """Those with a quoted key: nobody writes `"passed":` in a sentence of their own."""
    return list(_mentions(_QUOTED_KEY, text))


def all_mentions(text: str) -> list[Mention]:
    return list(_mentions(_ANY_KEY, text))


def rules_named(text: str) -> int:
    return sum(1 for _ in _RULE.finditer(text))


def rule_verdicts(mentions: list[Mention]) -> Counter[FindingVerdict]:
    return Counter(mention.verdict for mention in mentions if not mention.is_of_the_whole)


def _mentions(pattern: re.Pattern[str], text: str) -> Iterator[Mention]:
    for found in pattern.finditer(text):
        value = _COMMENT.split(found[2] or "")[0].strip()
        if value[:1] in ("{", "["):
            continue  # an envelope
        if value and (_GOES_ON.match(text, found.end()) or _is_a_tail(text, found)):
            value += ":"
        yield Mention(found.start(), plain_key(found[1]) in PASSED_KEYS, value)


def _is_a_tail(text: str, found: re.Match[str]) -> bool:
    """Whether a text ends here that did not begin here: what came before it is lost."""
    closes = text[found.end() : found.end() + 1] in tuple(_QUOTES) and not found[2][-1].isspace()
    return closes and not any(mark in _QUOTES for mark in text[found.end(1) + 1 : found.start(2)])
