"""What litellm's answer holds, read as what a stranger sent: any field may be of any kind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from verification.engine.protocol.content_parts import Content, read_parts

MAX_TOKENS = 10_000_000
CHARS_PER_TOKEN = 4
CUT = "The answer was cut off; the connection may allow it more tokens."


@dataclass(frozen=True, slots=True)
class Reply:
    """A model's text and its count. `detail` says what is odd about it."""

    text: str
    detail: str
    is_cut: bool
    prompt_tokens: int
    completion_tokens: int


def read(response: Any, *, prompt_chars: int) -> Reply | None:
    """Read a response; None when it holds no message at all.

    Tokens that were not counted are estimated: an uncounted call is not a free one.
    """
    choices = getattr(response, "choices", None)
    choice: Any = choices[0] if isinstance(choices, list) and choices else None
    message = getattr(choice, "message", None)
    if message is None:
        return None
    is_cut = getattr(choice, "finish_reason", None) in ("length", "max_tokens")
    text, detail = _text(message, is_cut=is_cut)
    usage = getattr(response, "usage", None)
    return Reply(
        text=text,
        detail=detail,
        is_cut=is_cut,
        prompt_tokens=_tokens(usage, "prompt_tokens", prompt_chars),
        completion_tokens=_tokens(usage, "completion_tokens", len(text)),
    )


def _text(message: Any, *, is_cut: bool) -> tuple[str, str]:
    """Return the answer and what is odd about it. Reasoning is never read as an answer."""
    content = _content(getattr(message, "content", None))
    own = getattr(message, "provider_specific_fields", None)  # where litellm leaves a refusal
    refusal = content.refusal or (own.get("refusal") if isinstance(own, dict) else None)
    if content.text and is_cut:
        return content.text, CUT
    if content.text:
        return content.text, ""
    if isinstance(refusal, str) and refusal:
        return refusal, "The model refused to answer."
    if getattr(message, "reasoning_content", None):
        return "", "The model reasoned, and did not come to an answer."
    return "", "The answer is empty."


def _content(content: Any) -> Content:
    if isinstance(content, str):
        return Content(content)
    return read_parts(content) if isinstance(content, list) else Content()


def _tokens(usage: Any, name: str, chars: int) -> int:
    count = getattr(usage, name, None)
    if isinstance(count, int) and not isinstance(count, bool) and 0 < count <= MAX_TOKENS:
        return count
    return -(-chars // CHARS_PER_TOKEN)
