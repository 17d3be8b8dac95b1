"""Hostile text made fit to be shown: nothing hidden, nothing that ends its frame, bounded."""

from __future__ import annotations

import re

MAX_TOLD_RUN = 3
_ESCAPES = re.compile(
    r"\x1b(?:\[[0-?]{0,64}[ -/]{0,8}[@-~]|\][^\x07\x1b]{0,200}(?:\x07|\x1b\\)|[@-Z\\-_])"
)
_ENDS = re.compile("\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_WITHOUT_WIDTH = re.compile(
    "[\u00ad\u034f\u115f\u1160\u180e\u200b-\u200d\u2060-\u2064\u3164\ufe00-\ufe0f\ufeff\uffa0"
    "\U000e0100-\U000e01ef]"
)
_HIDDEN = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f"
    "\ud800-\udfff\ufff9-\ufffb\ufffe\uffff\U000e0000-\U000e007f]+"
)


def plain(text: str) -> str:
    """Take out what has no width, and write what else cannot be seen as its code point.

    Colours of a terminal are taken out, ends of lines become one, and a long run of characters
    that cannot be seen becomes its number: nothing can be read from it any more.
    """
    if text.isascii() and text.isprintable():
        return text
    text = _ENDS.sub("\n", _ESCAPES.sub("", text))
    return _HIDDEN.sub(_told, _WITHOUT_WIDTH.sub("", text))


def one_line(text: str, limit: int) -> str:
    """For names and headings: one line, at most so many characters."""
    line = " ".join(plain(text[: limit * 4]).split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


def cut(text: str, limit: int, *, gone: int = 0) -> str:
    """Keep the start and the end, and say between them how much was left out.

    `gone` counts what was taken out of the middle before.
    """
    if len(text) <= limit:
        return text
    note = f"\n[… {len(text) - limit + gone:,} characters left out …]\n"
    return note.join(_ends(text, max(0, limit - len(note))))


def halved(text: str, limit: int) -> tuple[str, int]:
    """Start and end alone, plain, and how much is gone between them."""
    ends = "".join(_ends(text, limit)) if len(text) > limit else text
    return plain(ends), len(text) - len(ends)


def shown(text: str, limit: int) -> str:
    """Plain and bounded."""
    return cut(plain(cut(text, limit)), limit)


def framed(fence: str, name: str, text: str) -> str:
    """Between two marks that the text itself cannot hold."""
    inside = re.sub(re.escape(fence), "[mark]", text, flags=re.IGNORECASE)
    return f"[{fence} begin {name}]\n{inside}\n[{fence} end {name}]"


def _ends(text: str, room: int) -> tuple[str, str]:
    tail = room // 3
    return text[: room - tail], text[len(text) - tail :]


def _told(run: re.Match[str]) -> str:
    hidden = run.group()
    if len(hidden) > MAX_TOLD_RUN:
        return f"⟨{len(hidden)} hidden characters⟩"
    return "".join(f"⟨U+{ord(one):04X}⟩" for one in hidden)
