"""Ways to write a value that is neither list nor mapping, the most fitting first."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from processes.definition.patching.tree import BREAKS, resolved_tag
from processes.definition.plain import FALSE_WORDS, TRUE_WORDS
from processes.definition.stream import TAG

OPPOSITES = (("yes", "no"), ("on", "off"), ("true", "false"))
UNPRINTABLE = re.compile(
    r"[^\t\n\x20-\x7e\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)
BREAKING = re.compile(rf"[{BREAKS}]")
NO_PLAIN_START = re.compile(r"[,\[\]{}#&*!|>'\"%@`]|[-?:](?:\s|$)|---|\.\.\.")
NO_PLAIN = re.compile(r":(?:\s|$)|\s#")
NO_PLAIN_IN_FLOW = re.compile(r"[,\[\]{}]|^[-?:]|:[,\[\]{}]")
ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}
ESCAPED = re.compile(rf'[\\"\n\r\t{BREAKS[2:]}]|{UNPRINTABLE.pattern}')


def one_line(value: Any, *, style: str = "", in_flow: bool = False, old: str = "") -> Iterator[str]:
    """Yield texts of one line that mean this scalar; `old` is what stood there, `style` how."""
    if isinstance(value, bool):
        yield from _flag(value, old)
    elif value is None:
        yield "~" if old == "~" else "null"
    elif isinstance(value, int):
        yield str(value)
    elif isinstance(value, float):
        yield _decimal(value)
    else:
        yield from _quoted(str(value), style, in_flow)


def _flag(value: bool, old: str) -> Iterator[str]:
    for pair in OPPOSITES:
        if old.lower() in pair:
            word = pair[0 if value else 1]
            yield word.upper() if old.isupper() else word.capitalize() if old.istitle() else word
    yield "true" if value else "false"


def _decimal(value: float) -> str:
    """YAML 1.1 wants a point in a number with an exponent, and a sign after its e."""
    number, e, exponent = repr(value).partition("e")
    point = "" if "." in number else ".0"
    return f"{number}{point}{e}{exponent}"


def _quoted(text: str, style: str, in_flow: bool) -> Iterator[str]:
    is_short = not BREAKING.search(text) and not UNPRINTABLE.search(text)
    single = "'" + text.replace("'", "''") + "'"
    double = '"' + ESCAPED.sub(_escape, text) + '"'
    if style == '"':
        yield double
    if style in ("", "|", ">") and is_short and is_plain(text, in_flow=in_flow):
        yield text
    prefers_double = style != "'" and "\\" not in text and '"' not in text
    if is_short and not prefers_double:
        yield single
    yield double


def _escape(found: re.Match[str]) -> str:
    char = found.group()
    code = ord(char)
    if char in ESCAPES:
        return ESCAPES[char]
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def is_plain(text: str, *, in_flow: bool) -> bool:
    """Whether the text can stand without quotes and still is text."""
    if not text or text != text.strip() or NO_PLAIN_START.match(text) or NO_PLAIN.search(text):
        return False
    if in_flow and NO_PLAIN_IN_FLOW.search(text):
        return False
    # Other readers know more words than this one.
    is_word = text.lower() in TRUE_WORDS | FALSE_WORDS
    return resolved_tag(text) == f"{TAG}str" and not is_word


def literal(text: str, indent: int, owner: int) -> tuple[str, str] | None:
    """Return header and lines of a `|` block; `owner` is the column of what holds it."""
    body = text.rstrip("\n")
    if not body or _is_unfit(text):
        return None
    pad = " " * indent
    lines = "\n".join(pad + line if line else "" for line in text.removesuffix("\n").split("\n"))
    return "|" + _indicator(body, indent - owner) + _chomping(text), lines


def folded(text: str, indent: int, owner: int, width: int) -> tuple[str, str] | None:
    """Return header and lines of a `>` block; None where folding would change the text."""
    body = text.rstrip("\n")
    if not body or _is_unfit(text) or re.search(r"(?:^|\n)[ \t\n]", body.split("\n")[0]):
        return None
    if any(line[:1] in (" ", "\t") for line in body.split("\n")):
        return None
    pad = " " * indent
    parts = [
        "\n".join(pad + line for line in _wrap(line, width)) if line else ""
        for line in body.split("\n")
    ]
    lines = _join_folded(parts) + "\n" * max(len(text) - len(body) - 1, 0)
    return ">" + _indicator(body, indent - owner) + _chomping(text), lines


def _join_folded(parts: list[str]) -> str:
    """A single break would be read as a space: between two lines that hold text, write one more."""
    joined = parts[0]
    for before, part in pairwise(parts):
        joined += ("\n\n" if before else "\n") + part
    return joined


def _wrap(line: str, width: int) -> list[str]:
    lines = [""]
    for word in re.split(r"(?<=[^\s]) (?=[^\s])", line):
        if lines[-1] and len(lines[-1]) + 1 + len(word) > width:
            lines.append(word)
        else:
            lines[-1] += f" {word}" if lines[-1] else word
    return lines


def _is_unfit(text: str) -> bool:
    return bool(UNPRINTABLE.search(text)) or any(char in text for char in BREAKS if char != "\n")


def _indicator(body: str, columns: int) -> str:
    """Lines that begin with a space do not show where the block begins."""
    first = next(line for line in body.split("\n") if line)
    return str(columns) if first[0] in " \t" else ""


def _chomping(text: str) -> str:
    if not text.endswith("\n"):
        return "-"
    return "+" if text.endswith("\n\n") else ""
