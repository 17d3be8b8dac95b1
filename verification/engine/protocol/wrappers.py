"""A reply within what carries it: an envelope, a list of one, a tool call, JSON in a text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from verification.engine.protocol.objects import loads
from verification.engine.protocol.prose import without_fences
from verification.engine.protocol.reading import speaks_of_a_verdict
from verification.engine.protocol.words import plain_key

MAX_DEPTH = 8
MAX_ITEMS = 50
_SPEAKS = re.compile(r"pass|verdict|result|outcome|decision|judg|overall|\\u00", re.IGNORECASE)
_ENVELOPES = frozenset(
    (
        *("answer", "arguments", "args", "assessment", "body", "choices", "content", "data"),
        *("evaluation", "final", "finalanswer", "function", "functioncall", "json", "judgement"),
        *("judgment", "message", "object", "overall", "parameters", "parsed", "payload", "reply"),
        *("response", "result", "return", "review", "text", "toolcall", "toolcalls", "value"),
        *("verdict", "verification", "verificationresult", "finalverdict", "toolinput"),
    )
)
_NOT_ITS_OWN = frozenset(
    (
        *("analysis", "artifact", "chainofthought", "claims", "context", "deliverable"),
        *("deliverables", "echo", "evidence", "example", "examples", "expected", "input", "inputs"),
        *("issues", "log", "logs", "material", "output", "previous", "prompt", "properties"),
        *("quote", "quoted", "reasoning", "reasoningcontent", "reasoningdetails", "reasoningtext"),
        *("request", "rules", "sample", "schema", "scratchpad", "stdout", "submission"),
        *("suggestion", "task", "template", "thinking", "thinkingblocks", "thinkingcontent"),
        *("thought", "thoughts", "toolresult", "toolresults", "why"),
    )
)
"""Keys whose content is material, a part of the answer, or reasoning."""


def may_speak(text: str, start: int = 0, end: int | None = None) -> bool:
    """Whether a reply can stand there at all: a quick look at much text."""
    return _SPEAKS.search(text, start, len(text) if end is None else end) is not None


def replies_in(value: Any, depth: int = 0) -> Iterator[Mapping[str, Any]]:
    """Yield each object that speaks of a verdict, with those in its envelopes."""
    if depth > MAX_DEPTH:
        return
    if isinstance(value, str):
        yield from replies_in(_json_in(value), depth + 1)
    elif isinstance(value, list):
        for one in value[:MAX_ITEMS]:
            yield from replies_in(one, depth + 1)
    elif isinstance(value, Mapping):
        if speaks_of_a_verdict(value):
            yield value
        for inner in _carried(value):
            yield from replies_in(inner, depth + 1)


def texts_beside(value: Any, depth: int = 0) -> Iterator[str]:
    """Yield the texts that stand in the envelopes of replies, beside the replies."""
    if depth > MAX_DEPTH:
        return
    if isinstance(value, str):
        if "{" not in value:
            yield value
    elif isinstance(value, list):
        for item in value[:MAX_ITEMS]:
            yield from texts_beside(item, depth + 1)
    elif isinstance(value, Mapping) and not speaks_of_a_verdict(value):
        for key, inner in value.items():
            if plain_key(key) not in _NOT_ITS_OWN:
                yield from texts_beside(inner, depth + 1)


def _json_in(text: str) -> Any:
    """What a text that is JSON as a whole says; prose around it would need to be understood."""
    if "{" not in text:
        return None
    try:
        return loads(without_fences(text).strip())
    except ValueError:
        return None


def _carried(document: Mapping[str, Any]) -> Iterator[Any]:
    is_call = document.get("type") == "tool_use"
    for key, value in document.items():
        plain = plain_key(key)
        alone = len(document) == 1 and plain not in _NOT_ITS_OWN
        if plain in _ENVELOPES or alone or (is_call and plain == "input"):
            yield value
