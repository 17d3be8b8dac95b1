"""Conflict markers that a text shows as an example: within literal blocks of Markdown, reST, AsciiDoc.

A conflict is an example where one block holds all of it. One that reaches over the border of a block
is an unfinished merge of the text itself, and so is one after a fence that nothing closes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from processes.definition.model import Expect, Rule
from verification.engine.matching import text_of

MAX_BYTES = 4_000_000
"""A longer text has no examples."""
_OPENS, _CLOSES = b"<<<<<<<", b">>>>>>>"
_MARKER = re.compile(r"[ \t]*(<{7}|\|{7}|={7}|>{7})(?=[ \t\r]|$)")
_LOOKS_FOR_MARKERS = re.compile(r"([<>=|])(?:\1\1|\]?\{[3-7])")

Blocks = list[range]
"""The line numbers, from 0, within each block that is closed."""


def looks_for_conflicts(rule: Rule) -> bool:
    """Return whether a rule forbids conflict markers; one that asks for them wants the examples."""
    forbids = rule.expect is Expect.NO_MATCH and rule.wanted_count is None
    return forbids and bool(_LOOKS_FOR_MARKERS.search(rule.check))


def mask_conflict_examples(path: str, content: bytes) -> bytes:
    """Return the content with NULs for the markers of examples; everything else keeps its place."""
    read_blocks = _READERS.get(path.rpartition(".")[2].lower())
    if read_blocks is None or len(content) > MAX_BYTES:
        return content
    text = text_of(content)
    if _OPENS not in text and _CLOSES not in text:
        return content
    lines = text.decode().split("\n")
    examples = _example_lines(lines, read_blocks(lines))
    if not examples:
        return content
    for number in examples:
        lines[number] = re.sub(r"[<|=>]{7}", "\0" * 7, lines[number], count=1)
    return "\n".join(lines).encode()


def _example_lines(lines: Sequence[str], blocks: Blocks) -> list[int]:
    markers = {
        number: marker[1][0] for number, line in enumerate(lines) if (marker := _MARKER.match(line))
    }
    complete: set[int] = set()
    inside: set[int] = set()
    for block in blocks:
        within = [number for number in block if number in markers]
        inside.update(within)
        complete.update(_complete_conflicts(within, markers))
    rest = [number for number in sorted(markers) if number not in complete]
    opened = next((number for number in rest if markers[number] == "<"), len(lines))
    if any(markers[number] == ">" and number > opened for number in rest):
        return sorted(complete)
    return sorted(inside)


def _complete_conflicts(numbers: Sequence[int], markers: Mapping[int, str]) -> Iterator[int]:
    pending: list[int] = []
    for number in numbers:
        marker = markers[number]
        if marker == "<":
            pending = [number]
        elif pending:
            pending.append(number)
            if marker == ">":
                if any(markers[line] == "=" for line in pending):
                    yield from pending
                pending = []


@dataclass(frozen=True, slots=True)
class _Fence:
    """How a block begins, and how it ends: `closes` takes what began it, and a line."""

    begins: re.Pattern[str]
    closes: Callable[[re.Match[str], str], bool]
    follows: re.Pattern[str] = re.compile("")
    """The line before it."""


def _closes_anywhere(opening: re.Match[str], line: str) -> bool:
    fence = line.strip()
    return fence.startswith(opening["fence"]) and not fence.strip(opening["fence"][0])


def _closes_at_margin(opening: re.Match[str], line: str) -> bool:
    return _indentation(line) < 4 and _closes_anywhere(opening, line)


def _closes_pre(_opening: re.Match[str], line: str) -> bool:
    return "</pre>" in line.lower()


def _repeats(opening: re.Match[str], line: str) -> bool:
    return line.rstrip() == opening["fence"]


_FENCE = r"(?P<fence>`{3,}(?=[^`]*$)|~{3,})"
_PRE = _Fence(re.compile(r" {0,3}<pre\b(?!.*</pre>)", re.IGNORECASE), _closes_pre)
_AT_MARGIN = (_Fence(re.compile(rf" {{0,3}}{_FENCE}"), _closes_at_margin), _PRE)
_ANYWHERE = (
    _Fence(
        re.compile(rf"[ \t]*(?:(?:[-*+]|\d{{1,9}}[.)])[ \t]+){{0,9}}{_FENCE}"), _closes_anywhere
    ),
    _PRE,
)
_DELIMITED = (
    _Fence(
        re.compile(r"(?P<fence>(?:-{4,}|\.{4,}|\+{4,})(?=\s*$)|`{3,}(?=[\w,-]*\s*$))"),
        _repeats,
        follows=re.compile(r"\s*$|\[.*\]\s*$|\.\S|\+\s*$"),  # else it underlines a title
    ),
)


def _fenced(lines: Sequence[str], fences: Sequence[_Fence]) -> Blocks:
    blocks: Blocks = []
    opened: tuple[_Fence, re.Match[str], int] | None = None
    before = ""
    for number, line in enumerate(lines):
        if opened is None:
            for fence in fences:
                if fence.follows.match(before) and (opening := fence.begins.match(line)):
                    opened = (fence, opening, number)
                    break
        elif opened[0].closes(opened[1], line):
            blocks.append(range(opened[2] + 1, number))
            opened = None
        before = line
    return blocks


def _markdown_blocks(lines: Sequence[str]) -> Blocks:
    """Read fences at the margin, and those in lists too: at the margin both have to agree."""
    at_margin = {number for block in _fenced(lines, _AT_MARGIN) for number in block}
    fenced = [
        block
        for block in _fenced(lines, _ANYWHERE)
        if at_margin.issuperset(block) or _is_indented(lines, block)
    ]
    return fenced + _indented(lines, _BLANK, 4)


def _is_indented(lines: Sequence[str], block: range) -> bool:
    return all(not lines[number].strip() or lines[number][0] in " \t" for number in block)


_BLANK = re.compile(r"\s*$")
_LITERAL = re.compile(
    r"[ \t]*(?![ \t])(?:\.\. (?:code|code-block|sourcecode|parsed-literal|highlight|prompt|literal)::.*"
    r"|(?!\.\. ).*::)[ \t\r]*$"
)


def _rest_blocks(lines: Sequence[str]) -> Blocks:
    return _indented(lines, _LITERAL, 1)


def _indented(lines: Sequence[str], before: re.Pattern[str], least: int) -> Blocks:
    """Blocks that are indented further than the line before them."""
    blocks: Blocks = []
    number = 0
    while number < len(lines):
        if not before.match(lines[number]):
            number += 1
            continue
        margin = _indentation(lines[number]) if lines[number].strip() else 0
        first = end = number + 1
        while end < len(lines):
            if lines[end].strip() and _indentation(lines[end]) < margin + least:
                break
            end += 1
        if any(line.strip() for line in lines[first:end]):
            blocks.append(range(first, end))
        number = end
    return blocks


def _indentation(line: str) -> int:
    expanded = line.expandtabs(4)
    return len(expanded) - len(expanded.lstrip())


def _asciidoc_blocks(lines: Sequence[str]) -> Blocks:
    return _fenced(lines, _DELIMITED) + _indented(lines, _BLANK, 1)


_READERS: dict[str, Callable[[Sequence[str]], Blocks]] = {
    **dict.fromkeys(("md", "markdown", "mdx", "mdown", "mkd", "qmd", "rmd"), _markdown_blocks),
    **dict.fromkeys(("rst", "rest"), _rest_blocks),
    **dict.fromkeys(("adoc", "asciidoc", "asc"), _asciidoc_blocks),
}
