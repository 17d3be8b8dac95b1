"""YAML from strangers, as the values that JSON has: bounded, without tags, every key once."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import yaml

from loomverify.errors import InputError, Loc

MAX_DEPTH = 100
MAX_VALUES = 300_000
MAX_CHARS = 16 * 1024 * 1024
"""Aliases followed, as for the values: an alias is a copy of what it names."""
MAX_DIGITS = 30

_STR_TAG = "tag:yaml.org,2002:str"
_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_WORDS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_INTEGER = re.compile(r"[-+]?(0|[1-9][0-9]*)")
_NUMBER = re.compile(r"[-+]?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]{1,4})?")
_NO_NUMBER = re.compile(r"[-+]?\.(inf|Inf|INF|nan|NaN|NAN)")
_NO_KEY: Any = object()


@dataclass(slots=True)
class Built:
    """A value, and how large it is with aliases followed."""

    value: Any
    values: int = 1
    chars: int = 0
    height: int = 1


@dataclass(slots=True)
class _Open:
    """A collection whose end has not come."""

    built: Built
    anchor: str | None
    key: Any = _NO_KEY


@dataclass(slots=True)
class _Builder:
    stack: list[_Open] = field(default_factory=list)
    anchors: dict[str, Built] = field(default_factory=dict)
    documents: int = 0
    values: int = 0
    chars: int = 0
    root: Any = None

    def see(self, event: Any) -> None:
        if isinstance(event, yaml.DocumentStartEvent):
            self.documents += 1
            if self.documents > 1:
                raise stop("yaml.documents", "A file of cases holds one document.", event)
        elif isinstance(event, yaml.AliasEvent):
            self._put(self._named(event), event)
        elif isinstance(event, yaml.ScalarEvent):
            is_key = self._takes_key()
            value = event.value if is_key else _scalar(event)
            _check_tag(event)
            built = Built(value, chars=len(event.value))
            self._keep(event.anchor, built)
            self._put(built, event)
        elif isinstance(event, yaml.CollectionStartEvent):
            self._begin(event)
        elif isinstance(event, yaml.CollectionEndEvent):
            ended = self.stack.pop()
            self._keep(ended.anchor, ended.built)
            self._put(ended.built, event, is_counted=True)

    def _begin(self, event: Any) -> None:
        if event.tag and event.tag != "!":
            raise _tag(event)
        if self._takes_key():
            raise stop("yaml.key", "A key must be text.", event)
        if len(self.stack) >= MAX_DEPTH:
            raise stop("yaml.depth", f"Nested deeper than {MAX_DEPTH} levels.", event)
        value: Any = {} if isinstance(event, yaml.MappingStartEvent) else []
        self.values += 1
        self.stack.append(_Open(Built(value), event.anchor))

    def _takes_key(self) -> bool:
        top = self.stack[-1] if self.stack else None
        return top is not None and isinstance(top.built.value, dict) and top.key is _NO_KEY

    def _keep(self, anchor: str | None, built: Built) -> None:
        if anchor:
            self.anchors[anchor] = built

    def _named(self, event: Any) -> Built:
        if any(one.anchor == event.anchor for one in self.stack):
            raise stop("yaml.recursive", f"*{event.anchor[:60]} holds itself.", event)
        if event.anchor not in self.anchors:
            raise stop("yaml.alias_unknown", f"There is no &{event.anchor[:60]} above.", event)
        return self.anchors[event.anchor]

    def _put(self, built: Built, event: Any, *, is_counted: bool = False) -> None:
        if not is_counted:
            self.values += built.values
            self.chars += built.chars
        if self.values > MAX_VALUES:
            raise stop("yaml.values", f"More than {MAX_VALUES} values, aliases followed.", event)
        if self.chars > MAX_CHARS:
            raise stop("yaml.chars", f"More than {MAX_CHARS} characters, aliases followed.", event)
        if len(self.stack) + built.height > MAX_DEPTH + 1:
            raise stop("yaml.depth", f"Nested deeper than {MAX_DEPTH} levels.", event)
        if not self.stack:
            self.root = built.value
            return
        top = self.stack[-1]
        top.built.values += built.values
        top.built.chars += built.chars
        top.built.height = max(top.built.height, built.height + 1)
        if isinstance(top.built.value, list):
            top.built.value.append(built.value)
        elif top.key is _NO_KEY:
            top.key = _key(built.value, top.built.value, event)
        else:
            top.built.value[top.key] = built.value
            top.key = _NO_KEY


def read_yaml(text: str) -> Any:
    """Return the document's value.

    Raises:
        InputError: 422 with line and column: not YAML, beyond a bound, tags, a key twice.
    """
    builder = _Builder()
    for event in _events(text):
        builder.see(event)
    if not builder.documents:
        raise InputError("yaml.empty", "The file is empty.", loc=("body",))
    return builder.root


def is_plain_text(text: str) -> bool:
    """Whether this, without quotes, is read as text and not as a number, a word or nothing."""
    return not (
        text in _NULLS or text in _WORDS or _NO_NUMBER.fullmatch(text) or _NUMBER.fullmatch(text)
    )


def places(text: str, wanted: set[Loc]) -> dict[Loc, tuple[int, int]]:
    """Line and column of each place that is there, from 1; a text that was read before."""
    found: dict[Loc, tuple[int, int]] = {}
    path: list[Any] = []
    for event in _events(text):
        if isinstance(event, yaml.CollectionEndEvent):
            path.pop()
            _step(path)
            continue
        if not isinstance(event, yaml.NodeEvent):
            continue
        if path and path[-1] is _NO_KEY:  # a key: what it leads to stands where it does
            path[-1] = getattr(event, "value", None)
            _note(found, path, wanted, event)
            continue
        if not path or isinstance(path[-1], int):
            _note(found, path, wanted, event)
        if isinstance(event, yaml.MappingStartEvent):
            path.append(_NO_KEY)
        elif isinstance(event, yaml.SequenceStartEvent):
            path.append(0)
        else:
            _step(path)
    return found


def stop(code: str, msg: str, event: Any) -> InputError:
    return _at(code, msg, event.start_mark)


def _step(path: list[Any]) -> None:
    """On to the next entry, or the next key."""
    if path:
        path[-1] = path[-1] + 1 if isinstance(path[-1], int) else _NO_KEY


def _note(found: dict[Loc, tuple[int, int]], path: list[Any], wanted: set[Loc], event: Any) -> None:
    loc = tuple(path)
    if loc in wanted and loc not in found:
        found[loc] = (event.start_mark.line + 1, event.start_mark.column + 1)


def _events(text: str) -> Iterator[Any]:
    try:
        yield from yaml.parse(text, Loader=yaml.CSafeLoader)
    except yaml.reader.ReaderError as error:
        msg = "A control character stands in the file."
        raise InputError("yaml.character", msg, loc=("body",)) from error
    except yaml.MarkedYAMLError as error:
        said = ", ".join(part for part in (error.context, error.problem) if part)
        raise _at("yaml.syntax", f"Not YAML: {said}.", error.problem_mark) from error


def _at(code: str, msg: str, mark: Any) -> InputError:
    place = f"Line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
    return InputError(code, f"{place}{msg}", loc=("body",))


def _scalar(event: Any) -> Any:
    text = str(event.value)
    if event.style or event.tag == _STR_TAG:
        return text
    if text in _NULLS:
        return None
    if text in _WORDS:
        return _WORDS[text]
    if _NO_NUMBER.fullmatch(text):
        raise stop("yaml.number", f"{text} is no number here.", event)
    if not _NUMBER.fullmatch(text):
        return text
    if len(text) > MAX_DIGITS:
        raise stop("yaml.number", f"A number of more than {MAX_DIGITS} digits.", event)
    return int(text) if _INTEGER.fullmatch(text) else float(text)


def _check_tag(event: Any) -> None:
    if event.tag and event.tag not in ("!", _STR_TAG):
        raise _tag(event)


def _tag(event: Any) -> InputError:
    return stop("yaml.tag", f"The tag {event.tag[:60]} means nothing here.", event)


def _key(key: Any, mapping: dict[str, Any], event: Any) -> str:
    if not isinstance(key, str):
        raise stop("yaml.key", "A key must be text.", event)
    if key == "<<" and not event.style:
        raise stop("yaml.merge", "Merge keys (<<) are not read: write it out.", event)
    if key in mapping:
        raise stop("yaml.key_twice", f"The key {key[:120]!r} is there twice.", event)
    return key
