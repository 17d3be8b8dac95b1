"""A process file as a tree in which everything knows its place in the text."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field
from enum import Enum, auto
from functools import cached_property
from typing import Any

import yaml

from processes.definition.stream import parse

BREAKS = "\r\n\x85\u2028\u2029"
BLANKS = re.compile(rf"[ \t{BREAKS}\ufeff]*")
COMMENT = re.compile(rf"#[^{BREAKS}]*")
LINE_BREAK = re.compile(rf"\r\n|[{BREAKS}]")
PROPERTY = re.compile(r"!<[^>]*>|[&!][^\s,\[\]{}]*")
BYTE_ORDER_MARK = "\ufeff"
RESOLVER = yaml.resolver.Resolver()


class Kind(Enum):
    SCALAR = auto()
    LIST = auto()
    MAPPING = auto()
    ALIAS = auto()


@dataclass(slots=True, eq=False)
class Node:
    """What stands from `body` to `end`; anchor and tag stand before, from `start`.

    `end` runs past no comment, blank line or line break that is not part of the value.
    """

    kind: Kind
    start: int
    body: int
    end: int
    tag: str = ""
    text: str = ""
    style: str = ""
    in_flow: bool = False
    anchor: str | None = None
    entries: list[Entry] = field(default_factory=list)
    target: Node | None = None
    aliases: int = 0

    @property
    def is_block(self) -> bool:
        """Whether this is a list or mapping written over lines."""
        return self.kind in (Kind.LIST, Kind.MAPPING) and self.style != "flow"

    @property
    def is_block_text(self) -> bool:
        return self.style in ("|", ">")


@dataclass(slots=True, eq=False)
class Entry:
    """One entry of a list or mapping, from `start`; `after` is the place behind its `-` or `:`."""

    key: Node | None
    value: Node
    start: int
    after: int | None

    @property
    def end(self) -> int:
        return max(self.value.end, self.after or 0, self.key.end if self.key else 0)


@dataclass(frozen=True)
class Document:
    text: str
    root: Node
    size: int
    """How many nodes there are."""
    work: int = 0
    """How many nodes were read on the way to this text."""

    @cached_property
    def newline(self) -> str:
        found = LINE_BREAK.search(self.text)
        return found.group() if found and found.group() in ("\n", "\r\n", "\r") else "\n"

    @cached_property
    def _line_starts(self) -> list[int]:
        first = 1 if self.text.startswith(BYTE_ORDER_MARK) else 0
        return [first, *(found.end() for found in LINE_BREAK.finditer(self.text))]

    def line(self, at: int) -> int:
        """Count lines from 0."""
        return max(bisect_right(self._line_starts, at) - 1, 0)

    def line_start(self, at: int) -> int:
        return self._line_starts[self.line(at)]

    def line_end(self, at: int) -> int:
        """Return where this line's break stands, or the end of the text."""
        found = LINE_BREAK.search(self.text, at)
        return found.start() if found else len(self.text)

    def next_line(self, at: int) -> int:
        found = LINE_BREAK.search(self.text, at)
        return found.end() if found else len(self.text)

    def column(self, at: int) -> int:
        """Count columns from 0."""
        return at - self.line_start(at)

    def begins_line(self, at: int) -> bool:
        return not self.text[self.line_start(at) : at].strip(" \t")

    def rest_of_line(self, at: int) -> str | None:
        """Return the blanks and comment up to the line's end; None: something else stands there."""
        rest = self.text[at : self.line_end(at)]
        is_free = not rest.strip() or (rest[0] in " \t" and rest.lstrip().startswith("#"))
        return rest if is_free else None


def skip(text: str, at: int, also: str = "") -> int:
    """Return the next place that holds neither a blank nor a comment."""
    while at < len(text):
        if found := COMMENT.match(text, at):
            at = found.end()
        elif (after := BLANKS.match(text, at)) and after.end() > at:
            at = after.end()
        elif text[at] in also:
            at += 1
        else:
            break
    return at


def resolved_tag(text: str, implicit: tuple[bool, bool] = (True, False)) -> str:
    """Return what a text without a tag is read as; `implicit`: as plain text, as quoted text."""
    return str(RESOLVER.resolve(yaml.ScalarNode, text, implicit))  # type: ignore[no-untyped-call]


def read_document(source: str) -> Document:
    """Raises: Unreadable, as `stream.parse` does."""
    builder = _Builder(source, 1 if source.startswith(BYTE_ORDER_MARK) else 0)
    for event in parse(source):
        builder.see(event)
    return Document(source, builder.roots[0], builder.size)


@dataclass(slots=True)
class _Builder:
    text: str
    shift: int
    """Marks do not count the byte order mark."""
    roots: list[Node] = field(default_factory=list)
    open: list[Node] = field(default_factory=list)
    keys: list[Node | None] = field(default_factory=list)
    anchors: dict[str, Node] = field(default_factory=dict)
    size: int = 0

    def see(self, event: Any) -> None:
        if isinstance(event, yaml.AliasEvent):
            self._add(self._alias(event))
        elif isinstance(event, yaml.ScalarEvent):
            self._add(self._named(self._scalar(event)))
        elif isinstance(event, yaml.CollectionStartEvent):
            self.open.append(self._collection(event))
            self.keys.append(None)
        elif isinstance(event, yaml.CollectionEndEvent):
            node = self.open.pop()
            self.keys.pop()
            if node.style == "flow":
                node.end = self._span(event)[1]
            elif node.entries:
                node.end = node.entries[-1].end
            self._add(self._named(node))

    def _alias(self, event: Any) -> Node:
        target = self.anchors[event.anchor]
        target.aliases += 1
        start, end = self._span(event)
        return Node(Kind.ALIAS, start, start, end, target=target)

    def _scalar(self, event: Any) -> Node:
        tag = event.tag
        if tag is None or tag == "!":
            tag = resolved_tag(event.value, event.implicit)
        start, end = self._span(event)
        node = Node(Kind.SCALAR, start, start, end, tag, event.value, event.style or "")
        node.anchor = event.anchor
        if event.anchor or event.tag:
            node.body = min(self._past_properties(start), end)
        if node.is_block_text:
            node.end = self._end_of_block(node.body, end)
        return node

    def _collection(self, event: Any) -> Node:
        kind = Kind.LIST if isinstance(event, yaml.SequenceStartEvent) else Kind.MAPPING
        start, end = self._span(event)
        node = Node(kind, start, start, end, event.tag or "", anchor=event.anchor)
        node.style = "flow" if event.flow_style else ""
        if event.anchor or event.tag:
            node.body = self._past_properties(start)
        return node

    def _span(self, event: Any) -> tuple[int, int]:
        return event.start_mark.index + self.shift, event.end_mark.index + self.shift

    def _past_properties(self, at: int) -> int:
        for _anchor_and_tag in range(2):
            if found := PROPERTY.match(self.text, at):
                at = skip(self.text, found.end())
        return at

    def _end_of_block(self, body: int, end: int) -> int:
        """Leave the blank lines behind a block to what follows, unless `+` makes them its own."""
        text = self.text[body:end]
        header = text.splitlines()[0].partition("#")[0] if text else ""
        if "+" in header:
            found = LINE_BREAK.search(text[-2:] if text.endswith("\r\n") else text[-1:])
            return end - len(found.group()) if found else end
        return body + len(text.rstrip(" \t" + BREAKS))

    def _named(self, node: Node) -> Node:
        if node.anchor:
            self.anchors[node.anchor] = node
        return node

    def _add(self, node: Node) -> None:
        self.size += 1
        if not self.open:
            self.roots.append(node)
            return
        parent = self.open[-1]
        node.in_flow = parent.style == "flow"
        if parent.kind is Kind.LIST:
            parent.entries.append(self._list_entry(parent, node))
        elif self.keys[-1] is None:
            self.keys[-1] = node
        else:
            parent.entries.append(self._pair(parent, self.keys[-1], node))
            self.keys[-1] = None

    def _cursor(self, parent: Node) -> int:
        if parent.entries:
            return parent.entries[-1].end
        return parent.body + (self.text[parent.body : parent.body + 1] in ("[", "{"))

    def _list_entry(self, parent: Node, node: Node) -> Entry:
        if parent.style == "flow":
            return Entry(None, node, node.start, None)
        dash = skip(self.text, self._cursor(parent))
        if not parent.entries:
            parent.body = dash
        return Entry(None, node, dash, dash + 1)

    def _pair(self, parent: Node, key: Node, node: Node) -> Entry:
        also = "," if parent.style == "flow" else ""
        at = skip(self.text, self._cursor(parent), also)
        start = at if self.text[at : at + 1] == "?" and at < key.start else key.start
        if not parent.entries and parent.style != "flow":
            parent.body = start
        colon = skip(self.text, key.end)
        if self.text[colon : colon + 1] == ":":
            return Entry(key, node, start, colon + 1)
        if node.start == node.end:  # a key without a colon: its empty value may lie lines below
            node.start = node.body = node.end = key.end
        return Entry(key, node, start, None)
