"""Reads YAML by version 1.2, within bounds of memory and of stack.

The reader (py-yaml12) cannot only parse: it builds values, copies them for each anchor and alias,
and recurses for each level. Nothing in it is bounded but the depth of brackets.
"""

from __future__ import annotations

import math
import re
import threading
from typing import Any

from verification.engine.evidence import NotInspected, SyntaxProblem
from verification.engine.grammars.text import sentence

MAX_CHARS = 3_000_000
"""Of the text with all its aliases written out: values take up to 300 bytes for each."""
MAX_LEVELS = 100_000
_MAX_HASHED_CHARS = 200_000_000
"""A key is hashed whole, with the keys in it."""
_MAX_DOUBLINGS = 22
"""Beyond it even one character is written out more than MAX_CHARS times."""
_STACK_PAGE = 1 << 16
"""Systems take multiples of their pages only."""
_STACK_BYTES_PER_LEVEL = 3_000
"""Measured are 1,107 at most."""
_LEVELS_OF_USUAL_STACK = 1_000
"""A thread takes longer than to parse a usual file."""
_TOO_LARGE = "It is too large for the parser of YAML 1.2."
_TOO_DEEP = "It is nested too deeply for the parser of YAML 1.2."
_FAILED = "The parser of YAML 1.2 failed."
# Its tag has a handler that raises: by then all documents are parsed, and no value is made of them.
_FIRST_DOCUMENT = "--- !_ x\n...\n"
_FIRST_LINES = _FIRST_DOCUMENT.count("\n")
_REFUSAL = re.compile(r"YAML parse error: (.*) at byte \d+ line (\d+) column (\d+)", re.DOTALL)
_DEPTH_LIMIT = "recursion limit"
_NO_ANCHOR = "unknown anchor"
_PANIC = "PanicException"
# The parser refuses tabs here, which YAML 1.2 allows: they separate, and do not indent.
_SEPARATION = re.compile(r"(?<=[?:])([ \t]++)(?![?:-](?:[ \t\r\n]|\Z))")
# It reads `]` below the first letter of its key behind plain text, and refuses it behind quotes.
_INDENTATION = "Invalid indentation."
_BEFORE_CLOSING = re.compile(r"^([^\n]*+)\n(?=[ \t]*+[\]}])", re.MULTILINE)
_BLOCK = re.compile(r"[|>][-+0-9]*[ \t]*(?:#.*)?\r?$")
# Every alias and anchor, and much in texts and comments that is none.
_START = r"(?<![^ \t\r\n\[\]{},:\ufeff])"
_MAY_BE_ALIAS = re.compile(rf"{_START}\*(?![ \t\r\n\[\]{{}},])")
_MAY_BE_ANCHOR = re.compile(rf"{_START}&(?![ \t\r\n\[\]{{}},])")
# What is replaced may stand in a text: the quote that ends the text is left.
_NAME = r"[^ \t\r\n\[\]{},\"']+"
_ALIAS = re.compile(rf"{_START}\*{_NAME}")
_PROPERTIES = re.compile(
    rf"(?P<before>{_START}![^ \t\r\n\[\]{{}},]{{0,200}}[ \t\r\n]{{1,200}})?"
    rf"(?P<anchor>{_START}&{_NAME})(?P<after>[ \t\r\n]{{1,200}}!)?"
)

_stack_size = threading.Lock()


def read_yaml_12(text: str) -> SyntaxProblem | NotInspected | None:
    """Parse all documents of a text.

    Returns:
        Why the parser refuses the text, why it was not asked, or None: it reads the text.
    """
    if len(text) > MAX_CHARS:
        return NotInspected(_TOO_LARGE)
    if _written_out(text) <= MAX_CHARS:
        refusal = _read(text)
        # A fragment that is put together with others has its anchors elsewhere.
        if not isinstance(refusal, SyntaxProblem) or _NO_ANCHOR not in refusal.message:
            return refusal
    plain = _without_aliases(text)
    return _read(plain) if _written_out(plain) <= MAX_CHARS else NotInspected(_TOO_LARGE)


def _written_out(text: str) -> float:
    """At most so many characters are read and copied."""
    anchors = len(_MAY_BE_ANCHOR.findall(text)) if "&" in text else 0
    aliases = len(_MAY_BE_ALIAS.findall(text)) if anchors and "*" in text else 0
    levels = min(anchors, aliases)
    # An anchor holds anchors, which are copied with it. An alias holds what stands before it, with
    # the aliases in it: together most where all anchors have equally many.
    if levels > _MAX_DOUBLINGS:
        return math.inf
    return len(text) * (1 + anchors) * ((1 + aliases / levels) ** levels if levels else 1)


def _without_aliases(text: str) -> str:
    """Put a text for each alias and a tag for each anchor; everything keeps its place."""
    text = _ALIAS.sub(lambda alias: "x" * len(alias[0]), text)
    return _PROPERTIES.sub(_anchor_as_tag, text)


def _anchor_as_tag(properties: re.Match[str]) -> str:
    # A node has one tag: beside another the anchor stays.
    if properties["before"] or properties["after"]:
        return properties[0]
    return "!" + "x" * (len(properties["anchor"]) - 1)


def _read(text: str) -> SyntaxProblem | NotInspected | None:
    keys, *others = (_count_indicators(text, mark) for mark in "?-:")
    levels = keys + sum(others)
    if levels > MAX_LEVELS or keys * len(text) > _MAX_HASHED_CHARS:
        return NotInspected(_TOO_LARGE)
    if levels <= _LEVELS_OF_USUAL_STACK:
        return _parse(text)
    answers: list[SyntaxProblem | NotInspected | None] = []
    thread = threading.Thread(target=lambda: answers.append(_parse(text)), daemon=True)
    with _stack_size:
        usual = threading.stack_size(
            _STACK_PAGE * (16 + levels * _STACK_BYTES_PER_LEVEL // _STACK_PAGE)
        )
        try:
            thread.start()
        except RuntimeError:
            return NotInspected(_FAILED)
        finally:
            threading.stack_size(usual)
    thread.join()
    return answers[0] if answers else NotInspected(_FAILED)


def _count_indicators(text: str, mark: str) -> int:
    return 1 + sum(text.count(mark + end) for end in " \t\r\n")


def _parse(text: str) -> SyntaxProblem | NotInspected | None:
    if "\t" in text:
        text = _SEPARATION.sub(lambda blanks: " " * len(blanks[0]), text)
    refusal = _parse_strictly(text)
    if isinstance(refusal, SyntaxProblem) and refusal.message == _INDENTATION:
        indented = _BEFORE_CLOSING.sub(_indent_closing, text)
        if indented != text and _parse_strictly(indented) is None:
            return None
    return refusal


def _indent_closing(before: re.Match[str]) -> str:
    # The first line of a block says how far the block is indented.
    return before[0] if _BLOCK.search(before[1]) else f"{before[0]} "


def _parse_strictly(text: str) -> SyntaxProblem | NotInspected | None:
    import yaml12

    try:
        yaml12.parse_yaml(_FIRST_DOCUMENT + text, multi=True, handlers={"!_": _stop})
    except _Parsed:
        return None
    except ValueError as error:
        return _refusal(str(error))
    except BaseException as error:
        # A panic of the parser is no Exception. Its limits blame no file.
        if not isinstance(error, MemoryError) and type(error).__name__ != _PANIC:
            raise
    return NotInspected(_FAILED)


class _Parsed(Exception):
    """All documents are parsed."""


def _stop(_value: Any) -> None:
    raise _Parsed


def _refusal(message: str) -> SyntaxProblem | NotInspected:
    match = _REFUSAL.match(message)
    if not match:
        return NotInspected(_FAILED)
    if _DEPTH_LIMIT in match[1]:
        return NotInspected(_TOO_DEEP)
    return SyntaxProblem(sentence(match[1]), max(1, int(match[2]) - _FIRST_LINES), int(match[3]))
