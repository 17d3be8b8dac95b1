"""Whether what a judge quotes stands in the material, and where."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from processes.definition.model import Target
from verification.engine.case import Case, Ports
from verification.engine.checks.materials import is_binary, searched_files
from verification.engine.evidence import Submission
from verification.engine.grammars.text import line_and_column
from verification.engine.protocol.framing import plain
from verification.engine.protocol.sections import call_text, text_of

MAX_QUOTE_CHARS = 4_000
MAX_SEARCHED_CHARS = 8_000_000
"""Of all texts together; what lies beyond was not shown to a judge either."""
MIN_PART_CHARS = 2
_HEADING = re.compile(r"^#{1,6}[ \t]+(\S[^\n]{0,300}?)[ \t]*#*[ \t]*$", re.MULTILINE)
_ELLIPSIS = re.compile(r"\[?\s*(?:…|\.{3,})\s*\]?")
_AROUND = "\"'“”„‘’«»` \t\n"
_TYPOGRAPHIC = str.maketrans(
    {
        **dict.fromkeys("‘’‚‛`´′", "'"),
        **dict.fromkeys("“”„‟«»″", '"'),
        **dict.fromkeys("‐‑‒–—―−", "-"),
        "\u00a0": " ",
        "\u202f": " ",
    }
)


@dataclass(frozen=True, slots=True)
class Where:
    """A place in the material. The output has the path ''; `line` None: it has no lines of ours."""

    path: str = ""
    line: int | None = None
    column: int | None = None
    place: Mapping[str, Any] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class Source:
    """One text of the material. `diff` texts have the path of the file that they change."""

    text: str
    target: Target | None
    path: str = ""
    place: Mapping[str, Any] = field(default_factory=dict)
    is_diff: bool = False

    @cached_property
    def plain(self) -> str:
        return plain(self.text)

    @cached_property
    def simple(self) -> str:
        """Typographic marks made plain, each run of blank space one space."""
        return _simple(self.plain)

    def find(self, parts: Sequence[str]) -> int | None:
        """The offset in `simple` of the first part; all stand there, in their order."""
        first, at = None, 0
        for part in parts:
            at = self.simple.find(part, at)
            if at < 0:
                return None
            first = at if first is None else first
            at += len(part)
        return first

    def where(self, offset: int) -> Where:
        at = _offset_of(self.plain, len(self.simple[:offset].replace(" ", "")))
        if self.is_diff:
            return Where(path=_file_of_diff(self.plain, at))
        line, column = line_and_column(self.plain, at)
        if self.place:
            return Where(place=self.place)
        return Where(self.path, line, column)


class Quotes:
    """The texts of a submission, read once and searched for quotes."""

    def __init__(self, case: Case, ports: Ports) -> None:
        self._case, self._ports = case, ports
        task = case.submission.task
        asked = [task.description, task.plan, task.acceptance_criteria]
        asked.append(case.phase.acceptance_criteria)
        self._asked = _simple("\n".join(plain(text[:MAX_SEARCHED_CHARS]) for text in asked))

    @cached_property
    def _sources(self) -> Sequence[Source]:
        return _bounded(_sources(self._case, self._ports))

    @cached_property
    def headings(self) -> frozenset[str]:
        """Of Markdown, in small letters."""
        found = (name for one in self._sources for name in _HEADING.findall(one.plain))
        return frozenset(" ".join(name.split()).casefold() for name in found)

    def find(self, quote: str, target: Target | None = None) -> Where | None:
        """The first place that holds the quote, texts of `target` before others; None: nowhere.

        Blank space and typographic marks may differ; case may not. Parts around an ellipsis
        must stand in one text, in their order.
        """
        for parts in _readings(quote):
            for source in sorted(self._sources, key=lambda one: one.target is not target):
                if (offset := source.find(parts)) is not None:
                    return source.where(offset)
        return None

    def is_of_the_task(self, quote: str) -> bool:
        """Whether it is quoted from what was asked for: no invention, and no place either."""
        return any(all(part in self._asked for part in parts) for parts in _readings(quote))


def _readings(quote: str) -> Iterator[list[str]]:
    """As it was written; and without quotation marks around it, parted at its ellipses."""
    text = _simple(plain(quote[:MAX_QUOTE_CHARS]))
    if text:
        yield [text]
    bare = text.strip(_AROUND)
    parts = [part.strip(_AROUND) for part in _ELLIPSIS.split(bare)]
    if parts := [part for part in parts if len(part) >= MIN_PART_CHARS]:
        yield parts


def _sources(case: Case, ports: Ports) -> Iterator[Source]:
    work = case.submission
    yield Source(work.output, Target.OUTPUT)
    for file in searched_files(case):
        if file.size <= MAX_SEARCHED_CHARS:
            content = ports.workspace.read(file.path)
            if not is_binary(file.path, content):
                yield Source(text_of(content), Target.DELIVERABLES, file.path)
    yield from _other_sources(work)


def _other_sources(work: Submission) -> Iterator[Source]:
    yield Source(work.diff, None, is_diff=True)
    for item in work.evidence:
        text = f"{item.text}\n{item.source_url}"
        yield Source(text, Target.EVIDENCE, place={"evidence": item.id})
    for number, call in enumerate(work.tool_calls):
        yield Source(call_text(call), None, place={"tool_call": number})
    for number, claim in enumerate(work.claims):
        yield Source(claim.text, None, place={"claims": [number]})


def _bounded(sources: Iterator[Source]) -> tuple[Source, ...]:
    kept, left = [], MAX_SEARCHED_CHARS
    for source in sources:
        if source.text and len(source.text) <= left:
            kept.append(source)
            left -= len(source.text)
    return tuple(kept)


def _simple(text: str) -> str:
    return " ".join(text.translate(_TYPOGRAPHIC).split())


def _offset_of(text: str, characters: int) -> int:
    """Where the character stands before which there are so many that are not blank."""
    seen = 0
    for word in re.finditer(r"\S+", text.translate(_TYPOGRAPHIC)):
        length = word.end() - word.start()
        if seen + length > characters:
            return word.start() + characters - seen
        seen += length
    return len(text)


def _file_of_diff(text: str, offset: int) -> str:
    start = text.rfind("\n+++ ", 0, offset)
    if start < 0 and not text.startswith("+++ "):
        return ""
    name = text[start + 1 :].split("\n", 1)[0].removeprefix("+++ ").split("\t")[0].strip()
    return "" if name == "/dev/null" else name.removeprefix("b/")
