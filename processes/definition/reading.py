"""YAML nodes, read within bounds; every complaint is collected with its place."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import yaml

from processes.definition.model import Level, Problem
from processes.definition.plain import FALSE_WORDS, INTEGER, NUMBER, TRUE_WORDS
from processes.definition.stream import TAG

MAX_SHOWN_KEY = 100
MAX_LISTED = 5
NOT_IN_A_NAME = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
"""Control characters and line breaks: a name stands in addresses, logs and one-line fields."""

R = TypeVar("R")


@dataclass(slots=True)
class Log:
    """What was found so far, in the order of reading.

    `is_stored`: the text was accepted once. What was no error then is none now.
    """

    problems: list[Problem] = field(default_factory=list)
    places: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Line and column of what was read, by path."""
    is_stored: bool = False

    @property
    def has_errors(self) -> bool:
        return any(problem.level is Level.ERROR for problem in self.problems)

    def add(self, code: str, message: str, *, path: str, mark: Any, level: Level) -> None:
        self.problems.append(
            Problem(code, message, path, mark.line + 1, mark.column + 1, level=level)
        )


@dataclass(frozen=True, slots=True)
class Value:
    """A node and the key path that leads to it. A reader answers None after a complaint."""

    node: yaml.Node
    path: str
    log: Log

    @property
    def line(self) -> int:
        return int(self.node.start_mark.line) + 1

    @property
    def kind(self) -> str:
        if isinstance(self.node, yaml.MappingNode):
            return "a mapping"
        if isinstance(self.node, yaml.SequenceNode):
            return "a list"
        return "nothing" if self.node.tag == f"{TAG}null" else "text"

    @property
    def is_scalar(self) -> bool:
        return self.kind == "text"

    def mark_place(self) -> None:
        mark = self.node.start_mark
        self.log.places[self.path] = (mark.line + 1, mark.column + 1)

    def complain(self, code: str, message: str, level: Level = Level.ERROR) -> None:
        self.log.add(code, message, path=self.path, mark=self.node.start_mark, level=level)

    def _wrong_kind(self, wanted: str) -> None:
        self.complain("value.kind", f"{self.path or 'The file'} must be {wanted}, not {self.kind}.")

    def text(self, *, limit: int | None = None, strip: bool = True) -> str | None:
        """Read text. Without `strip` its spaces count; a block's last line break never does."""
        if not self.is_scalar:
            self._wrong_kind("text")
            return None
        text = str(self.node.value)
        if strip:
            text = text.strip()
        elif getattr(self.node, "style", None) in ("|", ">"):
            text = text.rstrip("\n")
        if limit is not None and len(text) > limit:
            self.complain("value.too_long", f"{self.path} may hold at most {limit} characters.")
            return None
        return text

    def name(self, *, limit: int) -> str | None:
        """Read text that names something: one line."""
        text = self.text(limit=limit)
        if text and (found := NOT_IN_A_NAME.search(text)):
            self.complain(
                "value.one_line",
                f"{self.path} is a name: one line, without control characters such as "
                f"{found[0]!a}.",
                Level.WARNING if self.log.is_stored else Level.ERROR,
            )
            return text if self.log.is_stored else None
        return text

    def flag(self) -> bool | None:
        word = str(self.node.value).strip().lower() if self.is_scalar else ""
        if word in TRUE_WORDS | FALSE_WORDS:
            return word in TRUE_WORDS
        self._wrong_kind("true or false")
        return None

    def integer(self, low: int, high: int) -> int | None:
        text = str(self.node.value).strip() if self.is_scalar else ""
        if not INTEGER.fullmatch(text):
            self._wrong_kind("a whole number")
            return None
        return self._within(int(text), low, high)

    def number(self, low: float, high: float) -> float | None:
        text = str(self.node.value).strip() if self.is_scalar else ""
        if not NUMBER.fullmatch(text):
            self._wrong_kind("a number")
            return None
        return self._within(float(text), low, high)

    def _within(self, number: R, low: Any, high: Any) -> R | None:
        if low <= number <= high:
            return number
        self.complain("value.range", f"{self.path} must be from {low} to {high}.")
        return None

    def word(self, words: Sequence[str]) -> str | None:
        """Read one of the words, in any case."""
        text = self.text()
        if text is None:
            return None
        if text.lower() in words:
            return text.lower()
        self.complain(
            "value.choice", f"{self.path} must be one of {', '.join(words)}, not {text[:60]!r}."
        )
        return None

    def entries(self, wanted: str = "a list") -> list[Value] | None:
        if not isinstance(self.node, yaml.SequenceNode):
            self._wrong_kind(wanted)
            return None
        return [
            Value(child, f"{self.path}[{index}]", self.log)
            for index, child in enumerate(self.node.value)
        ]

    def texts(self, *, strip: bool = True) -> tuple[str, ...] | None:
        """Read a list of texts; one text is a list of one."""
        entries = [self] if self.is_scalar else self.entries("a list of texts")
        if entries is None:
            return None
        found = [entry.text(strip=strip) for entry in entries]
        return tuple(text for text in found if text is not None)

    def mapping(self) -> Fields | None:
        if not isinstance(self.node, yaml.MappingNode):
            self._wrong_kind("a mapping")
            return None
        self.mark_place()
        return Fields(self, dict(self._pairs()))

    def _pairs(self) -> Iterator[tuple[str, Value]]:
        seen: set[str] = set()
        merged: list[tuple[str, Value]] = []
        own: list[tuple[str, Value]] = []
        for key, node in self.node.value:
            if key.tag == f"{TAG}merge":
                merged += self._merged(node)
            elif not isinstance(key, yaml.ScalarNode):
                Value(key, self.path, self.log).complain("key.kind", "A key must be text.")
            else:
                if key.value in seen:
                    message = f"{self._below(key.value)} stands here twice; the last one counts."
                    Value(key, self._below(key.value), self.log).complain(
                        "key.duplicate", message, Level.WARNING
                    )
                seen.add(key.value)
                own.append((key.value, Value(node, self._below(key.value), self.log)))
        yield from merged
        yield from own

    def _merged(self, node: yaml.Node) -> list[tuple[str, Value]]:
        sources = node.value if isinstance(node, yaml.SequenceNode) else [node]
        found: list[tuple[str, Value]] = []
        for source in reversed(sources):
            fields = Value(source, f"{self.path}.<<".lstrip("."), self.log).mapping()
            for key, value in fields.values.items() if fields else ():
                found.append((key, Value(value.node, self._below(key), self.log)))
        return found

    def _below(self, key: str) -> str:
        if len(key) > MAX_SHOWN_KEY:  # it stands in the path of every complaint below it
            key = f"{key[:MAX_SHOWN_KEY]}…"
        return f"{self.path}.{key}" if self.path else key


@dataclass(slots=True)
class Fields:
    """A mapping's keys, each read at most once; `close` lists what nobody asked for."""

    value: Value
    values: dict[str, Value]
    asked: set[str] = field(default_factory=set)

    def get(self, key: str) -> Value | None:
        self.asked.add(key)
        value = self.values.get(key)
        if value is not None:
            value.mark_place()
        return value

    def has(self, key: str) -> bool:
        return key in self.values

    def read(self, key: str, reader: Callable[[Value], R | None], default: R) -> R:
        value = self.get(key)
        found = None if value is None else reader(value)
        return default if found is None else found

    def text(self, key: str, default: str = "", *, limit: int | None = None) -> str:
        return self.read(key, lambda value: value.text(limit=limit), default)

    def required_text(self, key: str, *, strip: bool = True) -> str:
        return self._required(key, lambda value: value.text(strip=strip))

    def required_name(self, key: str, *, limit: int) -> str:
        return self._required(key, lambda value: value.name(limit=limit))

    def _required(self, key: str, reader: Callable[[Value], str | None]) -> str:
        value = self.get(key)
        if value is None:
            self.complain("key.missing", f"{self.value._below(key)} is required.", key)
            return ""
        text = reader(value)
        if text == "":
            value.complain("value.empty", f"{value.path} must not be empty.")
        return text or ""

    def flag(self, key: str) -> bool:
        return self.read(key, Value.flag, False)

    def texts(self, key: str, *, strip: bool = True) -> tuple[str, ...]:
        value = self.get(key)
        return (value.texts(strip=strip) or ()) if value else ()

    def entries(self, key: str, wanted: str) -> list[Value]:
        value = self.get(key)
        return (value.entries(wanted) or []) if value else []

    def word(self, key: str, words: Sequence[str], default: str) -> str:
        return self.read(key, lambda value: value.word(words), default)

    def mapping(self, key: str) -> Fields:
        """Read a mapping; where there is none, an empty one."""
        empty = Fields(self.value, {})
        return self.read(key, Value.mapping, empty)

    def complain(self, code: str, message: str, key: str = "", level: Level = Level.ERROR) -> None:
        path = self.value._below(key) if key else self.value.path
        mark = self.value.node.start_mark
        self.value.log.add(code, message, path=path, mark=mark, level=level)

    def close(self, *, kept: Sequence[str] = ()) -> None:
        for key, value in self.values.items():
            if key in self.asked:
                continue
            if key in kept:
                value.complain(
                    "key.kept", f"{value.path} is kept, and has no effect here.", Level.NOTE
                )
            else:
                message = f"{value.path} is not a known key: nothing reads it."
                value.complain("key.unknown", message, Level.WARNING)


def listed(names: Sequence[str]) -> str:
    """Name the first of some names that may be many, and long."""
    shown = ", ".join(repr(name[:MAX_SHOWN_KEY]) for name in names[:MAX_LISTED])
    more = len(names) - MAX_LISTED
    return f"{shown} and {more} more" if more > 0 else shown
