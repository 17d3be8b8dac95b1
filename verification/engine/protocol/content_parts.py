"""Reads content that came as a list of parts: its text is the answer, its reasoning is not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

MAX_DEPTH = 8
MAX_PARTS = 200
_TEXT_TYPES = frozenset(("text", "output_text"))
_REFUSAL_TYPES = frozenset(("refusal",))
_NESTED = ("choices", "candidates", "output", "message", "content", "parts")
"""Where the responses of providers' APIs hold their parts, outermost first."""


@dataclass(frozen=True, slots=True)
class Content:
    """What all parts say. `text` is '' where there are only reasoning, calls and images."""

    text: str = ""
    refusal: str = ""


def read_parts(parts: Sequence[Any]) -> Content:
    """Join the text parts of one message. A refusal part makes the whole a refusal."""
    texts, refusals = [], []
    for part in parts[:MAX_PARTS]:
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, Mapping):
            refusals += _refusals(part)
            if _is_text(part):
                texts.append(part["text"])
    return Content("" if refusals else "".join(texts), " ".join(refusals))


def content_in(document: Any) -> Content | None:
    """Read a message or a whole response that holds a list of parts; None: it is neither."""
    messages = list(_messages(document, 0))
    if not messages:
        return None
    refusal = " ".join(message.refusal for message in messages if message.refusal)
    text = "" if refusal else "\n".join(message.text for message in messages)
    return Content(text, refusal)


def _messages(document: Any, depth: int) -> Iterator[Content]:
    if depth > MAX_DEPTH:
        return
    if _is_list_of_parts(document):
        yield read_parts(document)
    elif isinstance(document, list):
        for item in document[:MAX_PARTS]:
            yield from _messages(item, depth + 1)
    elif isinstance(document, Mapping):
        refusals = _refusals(document)
        if refusals and any(key in document for key in ("content", "role")):
            yield Content(refusal=" ".join(refusals))
        for key in _NESTED:
            if isinstance(document.get(key), list | Mapping):
                yield from _messages(document[key], depth + 1)


def _is_list_of_parts(value: Any) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(part, Mapping) and _is_part(part) for part in value)
    )


def _is_part(part: Mapping[Any, Any]) -> bool:
    if isinstance(part.get("type"), str):
        return not any(isinstance(part.get(key), list) for key in ("content", "parts"))
    return isinstance(part.get("text"), str) and part.keys() <= {
        "text",
        "thought",
        "thoughtSignature",
    }


def _is_text(part: Mapping[Any, Any]) -> bool:
    is_text = part.get("type", "text") in _TEXT_TYPES and part.get("thought") is not True
    return is_text and isinstance(part.get("text"), str)


def _refusals(part: Mapping[Any, Any]) -> list[str]:
    refusal = part.get("refusal")
    if isinstance(refusal, str) and refusal.strip():
        return [refusal]
    is_refusal = part.get("type") in _REFUSAL_TYPES
    return [str(part.get("text") or "The model refused to answer.")] if is_refusal else []
