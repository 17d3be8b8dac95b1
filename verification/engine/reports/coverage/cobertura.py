"""Cobertura's XML, as coverage.py, Istanbul, gcovr, Coverlet and PHPUnit write it too."""

from __future__ import annotations

import posixpath
from collections.abc import Set as AbstractSet
from xml.etree.ElementTree import ParseError

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import DefusedXMLParser

from verification.engine.reports.contents import bounded
from verification.engine.reports.coverage.tally import Tally, is_covered
from verification.engine.reports.model import (
    Coverage,
    Unreadable,
    inner_path,
    number,
)

MAX_SOURCES = 10
MAX_CLASSES = 100_000
MAX_SOURCE_CHARS = 500


def read(content: bytes, folder: str = "", *, known: AbstractSet[str] = frozenset()) -> Coverage:
    """`known` are the files there are: among several sources, the one that holds a file is its."""
    reader = _Reader(folder, known)
    parser = DefusedXMLParser(target=reader, forbid_entities=True, forbid_external=True)
    parser.parser.StartDoctypeDeclHandler = _refuse_declarations
    try:
        parser.feed(bounded(content))
        parser.close()
    except (ParseError, DefusedXmlException, LookupError, ValueError):
        raise Unreadable("The report is not XML that is read here.") from None
    return reader.tally.coverage()


def _refuse_declarations(
    name: str, system: str | None, public: str | None, has_own: bool, /
) -> None:
    """Real reports name a DTD, which is not fetched."""
    # Attributes by default would stand at every element: many of both take too long.
    if has_own:
        raise Unreadable("The report declares what it is made of.")


class _Reader:
    """Hears of one element after the other, so that no tree stands in memory."""

    def __init__(self, folder: str, known: AbstractSet[str]) -> None:
        self.tally = Tally()
        self._folder, self._known = folder, known
        self._sources: list[str] = []
        self._source: str | None = None
        self._path = ""
        self._classes = 0
        self._is_rooted = False

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        if not self._is_rooted and tag != "coverage":
            raise Unreadable("The report's root is not `coverage`.")
        self._is_rooted = True
        if self._classes > MAX_CLASSES:
            raise Unreadable("The report tells of too many classes.")
        if tag == "coverage":  # several reports in one have sources of their own
            self._sources = []
        elif tag == "source":
            self._source = ""
        elif tag == "class":
            self._classes += 1
            self._path = self._path_of(attributes.get("filename", ""))
            self.tally.add(self._path, (), covered=True)
        elif tag == "line" and (line := number(attributes.get("number"))):
            self.tally.add(self._path, (line,), covered=is_covered(attributes.get("hits")))

    def data(self, text: str) -> None:
        if self._source is not None:
            self._source = (self._source + text).lstrip()[:MAX_SOURCE_CHARS]

    def end(self, tag: str) -> None:
        if tag == "source" and self._source is not None:
            # One that lies elsewhere is of the machine on which the report was written.
            if inner_path(f"{self._source}/x", self._folder) and len(self._sources) < MAX_SOURCES:
                self._sources.append(self._source)
            self._source = None
        elif tag == "class":
            self._path = ""

    def close(self) -> None:
        """A parser asks for it."""

    def _path_of(self, filename: str) -> str:
        if not filename:
            return ""
        places = [inner_path(posixpath.join(one, filename), self._folder) for one in self._sources]
        inner = [path for path in (*places, inner_path(filename, self._folder)) if path]
        return next((path for path in inner if path in self._known), inner[0] if inner else "")
