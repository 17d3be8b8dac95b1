"""Readers of reports as data: a format, how it is recognised, and what reads it."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar
from xml.etree.ElementTree import ParseError

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import DefusedXMLParser

from verification.engine.reports.contents import as_text, bounded_json, json_at
from verification.engine.reports.model import Unreadable, name

MAX_TEXT_CHARS = 20_000

F = TypeVar("F")
R = TypeVar("R", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Shape:
    """What a report shows of itself.

    Of XML the tags of the root and of the first element in it; of JSON the keys of its first object,
    or those that all objects of its list have; `text` is how it begins.
    """

    root: str = ""
    first: str = ""
    keys: frozenset[str] = frozenset()
    is_list: bool = False
    is_empty_list: bool = False
    text: str = ""


Fits = Callable[[Shape], bool]


@dataclass(frozen=True, slots=True)
class Reader(Generic[F, R]):
    """`fits` None: a report in this format does not say so itself."""

    format: F
    read: R
    fits: Fits | None = None


def reader_table(readers: Sequence[Reader[F, R]]) -> Mapping[F, R]:
    return {one.format: one.read for one in readers}


def recognise(readers: Sequence[Reader[F, R]], content: bytes, noun: str) -> R:
    """The reader of the first format that fits.

    Raises:
        Unreadable: none does. Names what was there in its place, where that has a name.
    """
    shape = shape_of(content)
    for one in readers:
        if one.fits is not None and one.fits(shape):
            return one.read
    found = ""
    if shape.root:
        inner = f" with `{name(shape.first[:40])}` in it" if shape.first else ""
        found = f": its root is `{name(shape.root[:40])}`{inner}"
    raise Unreadable(f"The report is in no format of {noun} that is known{found}.")


def shape_of(content: bytes) -> Shape:
    text = as_text(content).lstrip()
    if text.startswith("<"):
        return _shape_of_xml(content.removeprefix(codecs.BOM_UTF8).lstrip())
    shown = text[:MAX_TEXT_CHARS]
    if not text.startswith(("{", "[")):
        return Shape(text=shown)
    try:
        whole = json_at(bounded_json(text), 0)[0]
    except Unreadable:
        # A report of lines may have one of another kind above them.
        if "\n" not in text.rstrip():
            raise
        return Shape(text=shown)
    if isinstance(whole, dict):
        return Shape(keys=frozenset(whole), text=shown)
    entries = [frozenset(one) if isinstance(one, dict) else frozenset() for one in _listed(whole)]
    keys = frozenset.intersection(*entries) if entries else frozenset()
    return Shape(keys=keys, is_list=True, is_empty_list=not entries, text=shown)


def _listed(value: object) -> list[object]:
    return value if isinstance(value, list) else []


class _HasBegun(Exception):
    """All that is to be known of it was read."""


class _Beginning:
    """Hears of the root and of the first element in it."""

    def __init__(self) -> None:
        self.root = self.first = ""

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        tag = tag.rpartition("}")[2]
        if self.root:
            self.first = tag
            raise _HasBegun
        self.root = tag

    def end(self, tag: str) -> None:
        raise _HasBegun

    def close(self) -> None:
        """A parser asks for it."""


def _shape_of_xml(content: bytes) -> Shape:
    beginning = _Beginning()
    parser = DefusedXMLParser(target=beginning, forbid_entities=True, forbid_external=True)
    try:
        parser.feed(content)
        parser.close()
    except _HasBegun:
        pass
    except (ParseError, DefusedXmlException, LookupError, ValueError):
        raise Unreadable("The report is not XML that is read here.") from None
    return Shape(beginning.root, beginning.first)


def has_root(*tags: str, first: Sequence[str] | None = None) -> Fits:
    """`first` are the elements that its root may hold first; one of nothing fits, too."""
    return lambda shape: (
        shape.root in tags and (first is None or not shape.first or shape.first in first)
    )


def has_keys(*keys: str) -> Fits:
    return lambda shape: not shape.is_list and shape.keys >= {*keys}


def lists_objects(*keys: str) -> Fits:
    return lambda shape: shape.is_list and shape.keys >= {*keys}
