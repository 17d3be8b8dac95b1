"""Text from submissions and verifiers, made fit for the markup of the feedback."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any
from xml.sax.saxutils import quoteattr

from verification.engine.protocol.framing import cut, one_line, plain
from verification.engine.protocol.sections import levels

MAX_LINE_CHARS = 500
MAX_TEXT_CHARS = 2_000
MAX_LINES = 12
LAST_LINES = 4
"""Of a text with more lines: error messages often end with what matters."""
MAX_READ_CHARS = 40_000
MAX_FIELDS = 10
MAX_ENTRIES = 20
QUOTE = "  | "
"""Starts each further line of a text, so that no text can write a line of our own."""
FIELD = "  "
ENTRY = "  - "
"""Fields and entries are indented, too: only lines of our own begin at the margin."""

_MARKUP = re.compile(r"(<(?:[/!?]|[^\W\d_])[^<>]*)>")
_LOOKALIKES = (
    "\uff1c\ufe64\u2039\u00ab\u3008\u2329\u27e8\u276e\u2770\u02c2\u1438\u16b2\u226a\u226e\u29fc"
    "\U0001d236"
)
_TAG_WITH_LOOKALIKE = re.compile(
    rf"[{_LOOKALIKES}](?=\s{{0,3}}[/\u2044\u2215\u29f8\uff0f]?\s{{0,3}}\w{{1,40}}[_\uff3f]\w)"
)


def escape(text: str) -> str:
    """Escape `&`, `<`, and the `>` that ends markup; other `>` stay as they are.

    A character that looks like `<` counts as one before a name such as our tags have.
    """
    text = _TAG_WITH_LOOKALIKE.sub("<", text).replace("&", "&amp;")
    return _MARKUP.sub(r"\1&gt;", text).replace("<", "&lt;").replace("]]>", "]]&gt;")


def attribute(name: str, value: str) -> str:
    """Write `name="value"`, on one line."""
    return f"{name}={quoteattr(one_line(value, MAX_LINE_CHARS))}"


def on_one_line(text: str, limit: int = MAX_LINE_CHARS) -> str:
    return escape(one_line(text, limit))


def lines_of(text: str) -> list[str]:
    """Escape a text line by line, without empty lines; the middle of many lines is left out.

    Long lines are shortened until the text fits its bound.
    """
    whole = plain(cut(text, MAX_READ_CHARS))
    lines = [line.expandtabs(4).rstrip() for line in whole.split("\n") if line.strip()]
    if len(lines) > MAX_LINES:
        left_out = len(lines) - MAX_LINES
        head = lines[: MAX_LINES - LAST_LINES]
        lines = [*head, f"… {left_out} lines left out …", *lines[-LAST_LINES:]]
    rooms = levels([min(len(line), MAX_LINE_CHARS) for line in lines], MAX_TEXT_CHARS)
    shortened = (
        line if len(line) <= room else f"{line[:room]}…"
        for line, room in zip(lines, rooms, strict=True)
    )
    return [escape(line) for line in shortened]


def quoted(lines: list[str]) -> list[str]:
    return [f"{QUOTE}{line}" for line in lines]


def fields_of(metadata: Mapping[str, Any]) -> Iterator[str]:
    """Write each field under its name: a list entry by entry, everything else as text."""
    told = [(name, value) for name, value in metadata.items() if value not in (None, "", [], {})]
    for name, value in told[:MAX_FIELDS]:
        heading = on_one_line(name.replace("_", " "), 80)
        heading = f"{heading[:1].upper()}{heading[1:]}:"
        if isinstance(value, list):
            yield f"{FIELD}{heading}"
            yield from (f"{ENTRY}{on_one_line(_text(entry))}" for entry in value[:MAX_ENTRIES])
            if len(value) > MAX_ENTRIES:
                yield f"{ENTRY}{len(value) - MAX_ENTRIES} more, listed with the run."
        else:
            first, *further = lines_of(_text(value)) or [""]
            yield f"{FIELD}{heading} {first.strip()}"
            yield from quoted(further)
    if len(told) > MAX_FIELDS:
        yield f"{FIELD}{len(told) - MAX_FIELDS} more fields, listed with the run."


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
