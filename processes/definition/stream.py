"""From source text to YAML nodes, with bounds that hold before anything is built."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, cast

import yaml

from processes.definition.model import Problem

MAX_SOURCE_BYTES = 1024 * 1024
MAX_DEPTH = 100
MAX_NODES = 50_000
MAX_ALIASES = 1_000

TAG = "tag:yaml.org,2002:"
STANDARD_TAGS = frozenset(
    f"{TAG}{name}"
    for name in (
        "null", "bool", "int", "float", "str", "timestamp", "binary",
        "merge", "value", "map", "seq", "set", "omap", "pairs",
    )
)  # fmt: skip


class Unreadable(Exception):
    """The stream cannot be read any further; the problem says why and where."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem


@dataclass(slots=True)
class _Size:
    """How large a subtree is with aliases followed."""

    nodes: int = 1
    height: int = 1
    characters: int = 0

    def hold(self, child: _Size) -> None:
        self.nodes += child.nodes
        self.height = max(self.height, child.height + 1)
        self.characters += child.characters


@dataclass(slots=True)
class _Bounds:
    """Measures the tree that a walk would see, where an alias is a copy of what it names."""

    open: list[tuple[str | None, _Size]] = field(
        default_factory=lambda: [(None, _Size(nodes=0, height=0))]
    )
    anchors: dict[str, _Size] = field(default_factory=dict)
    nodes: int = 0
    characters: int = 0
    aliases: int = 0
    documents: int = 0

    def see(self, event: Any) -> None:
        if isinstance(event, yaml.DocumentStartEvent):
            self.documents += 1
            if self.documents > 1:
                raise _stop("yaml.documents", "A process file holds one document.", event)
        elif isinstance(event, yaml.AliasEvent):
            self._add(event, self._named(event))
        elif isinstance(event, yaml.ScalarEvent):
            _check_scalar(event)
            self._end(event, event.anchor, _Size(characters=len(event.value)))
        elif isinstance(event, yaml.CollectionStartEvent):
            _check_tag(event)
            self.open.append((event.anchor, _Size()))
            self.nodes += 1
            self._check(event)
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, size = self.open.pop()
            self.nodes -= size.nodes  # they count again as part of what holds them
            self.characters -= size.characters
            self._end(event, anchor, size)

    def _named(self, event: Any) -> _Size:
        self.aliases += 1
        if self.aliases > MAX_ALIASES:
            raise _stop("yaml.aliases", f"More than {MAX_ALIASES} aliases.", event)
        if any(anchor == event.anchor for anchor, _ in self.open):
            raise _stop("yaml.recursive", f"*{event.anchor} holds itself.", event)
        if event.anchor not in self.anchors:
            raise _stop("yaml.alias_unknown", f"There is no anchor &{event.anchor}.", event)
        return self.anchors[event.anchor]

    def _end(self, event: Any, anchor: str | None, size: _Size) -> None:
        if anchor:
            self.anchors[anchor] = size
        self._add(event, size)

    def _add(self, event: Any, size: _Size) -> None:
        self.open[-1][1].hold(size)
        self.nodes += size.nodes
        self.characters += size.characters
        self._check(event)

    def _check(self, event: Any) -> None:
        if self.nodes > MAX_NODES:
            raise _stop("yaml.nodes", f"More than {MAX_NODES} values, aliases followed.", event)
        if self.characters > MAX_SOURCE_BYTES:
            message = f"More than {MAX_SOURCE_BYTES} characters, aliases followed."
            raise _stop("yaml.characters", message, event)
        if len(self.open) - 2 + self.open[-1][1].height > MAX_DEPTH:
            raise _stop("yaml.depth", f"Nested deeper than {MAX_DEPTH} levels.", event)


def compose(source: str | bytes) -> yaml.Node:
    """Return the document's root node.

    Raises:
        Unreadable: not UTF-8, not YAML, empty, or beyond a bound.
    """
    text = _decode(source)
    for _event in parse(text):
        pass
    try:
        return cast("yaml.Node", yaml.compose(text, Loader=yaml.CSafeLoader))
    except yaml.MarkedYAMLError as error:  # what parses, and names one anchor twice
        raise Unreadable(_syntax(error)) from error


def parse(source: str | bytes) -> Iterator[Any]:
    """Yield the parser's events, each checked against the bounds.

    Raises:
        Unreadable: not UTF-8, not YAML, empty, or beyond a bound.
    """
    text = _decode(source)
    bounds = _Bounds()
    try:
        for event in yaml.parse(text, Loader=yaml.CSafeLoader):
            bounds.see(event)
            yield event
    except yaml.reader.ReaderError as error:
        raise Unreadable(_unacceptable_character(text, error)) from error
    except yaml.MarkedYAMLError as error:
        raise Unreadable(_syntax(error)) from error
    if bounds.documents == 0:
        raise Unreadable(Problem("yaml.empty", "The file is empty."))


def _decode(source: str | bytes) -> str:
    try:
        raw = source if isinstance(source, bytes) else source.encode()
        if len(raw) > MAX_SOURCE_BYTES:
            message = f"A process file may hold at most {MAX_SOURCE_BYTES} bytes."
            raise Unreadable(Problem("file.too_large", message))
        return raw.decode()
    except UnicodeError as error:
        at = error.start if isinstance(error, UnicodeDecodeError | UnicodeEncodeError) else 0
        before = source[:at]
        if isinstance(before, bytes):
            before = before.decode(errors="replace")
        line, column = _place(before)
        raise Unreadable(
            Problem("file.encoding", "The file is not UTF-8 text.", "", line, column)
        ) from error


def _place(before: str) -> tuple[int, int]:
    return before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1


def _unacceptable_character(text: str, error: yaml.reader.ReaderError) -> Problem:
    # The C reader counts characters or bytes, by the kind of failure; find the character instead.
    at = next((i for i, char in enumerate(text) if _is_control(char)), int(error.position or 0))
    line, column = _place(text[:at])
    return Problem("yaml.character", "A control character stands here.", "", line, column)


def _is_control(char: str) -> bool:
    code = ord(char)
    return (
        (code < 32 and char not in "\t\n\r")
        or (0x7F <= code < 0xA0 and code != 0x85)
        or (code in (0xFFFE, 0xFFFF))
    )


def _syntax(error: yaml.MarkedYAMLError) -> Problem:
    mark = error.problem_mark or error.context_mark
    message = ", ".join(part for part in (error.context, error.problem) if part)
    line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
    return Problem("yaml.syntax", f"Not YAML: {message}.", "", line, column)


def _check_scalar(event: Any) -> None:
    _check_tag(event)
    if "\0" in event.value:  # written as an escape; PostgreSQL stores no such text
        raise _stop("yaml.character", "A NUL character stands in this text.", event)


def _check_tag(event: Any) -> None:
    if event.tag and event.tag != "!" and event.tag not in STANDARD_TAGS:
        raise _stop("yaml.tag", f"The tag {event.tag[:60]} means nothing here.", event)


def _stop(code: str, message: str, event: Any) -> Unreadable:
    mark = event.start_mark
    return Unreadable(Problem(code, message, "", mark.line + 1, mark.column + 1))
