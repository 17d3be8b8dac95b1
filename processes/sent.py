"""What a browser sends of a text that nobody touched differs from the file by its line ends."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

MAX_EXAMPLES = 50
LINE_ENDS = re.compile(r"[\r\n]+")


def as_sent(text: str) -> str:
    """Browsers send every line end alike; forms read it as one character."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def kept(value: Any, present: Any) -> Any:
    """What stands in the file, where a form's value differs by its line ends at most."""
    both_texts = isinstance(value, str) and isinstance(present, str)
    return present if both_texts and as_sent(value) == as_sent(present) else value


def kept_line(value: Any, present: Any) -> Any:
    """The same for an input of one line, which drops the line ends."""
    both_texts = isinstance(value, str) and isinstance(present, str)
    return present if both_texts and value == LINE_ENDS.sub("", present).strip() else value


def differences(saved: Mapping[str, Any], mine: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Where what is saved by now says otherwise than a form that was sent late."""
    return [
        {"name": key, "saved": saved[key], "mine": value}
        for key, value in mine.items()
        if key in saved and saved[key] != value
    ]


def sent_texts(sent: Sequence[str], present: Sequence[str]) -> list[str]:
    """The examples that a form sends: emptied ones go, untouched ones stay as the file has them."""
    known = {as_sent(text): text for text in present}
    texts = [as_sent(text).replace("\0", "\ufffd") for text in sent]
    return [
        present[at] if text == _at(present, at) else known.get(text, text)
        for at, text in enumerate(texts[: max(MAX_EXAMPLES, len(present))])
        if text.strip() or text == _at(present, at)
    ]


def _at(present: Sequence[str], index: int) -> str | None:
    return as_sent(present[index]) if index < len(present) else None
