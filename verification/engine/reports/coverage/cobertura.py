"""Cobertura's XML, as coverage.py, Istanbul, gcovr, Coverlet and PHPUnit write it too."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from verification.engine.reports.coverage.places import Places
from verification.engine.reports.coverage.tally import is_covered
from verification.engine.reports.coverage.xml_stream import ElementReader, read_elements
from verification.engine.reports.model import Coverage, Unreadable, name, number

MAX_SOURCES = 10
MAX_CLASSES = 100_000
MAX_SOURCE_CHARS = 500
_KNOWN = frozenset({"sources", "packages", "coverage"})


def read(content: bytes, folder: str = "", *, known: AbstractSet[str] = frozenset()) -> Coverage:
    """`known` are the files there are: among several sources, the one that holds a file is its."""
    return read_elements(content, _Reader(Places(folder, known)))


class _Reader(ElementReader):
    root = "coverage"

    def __init__(self, places: Places) -> None:
        super().__init__(places)
        self._has_packages = False
        self._sources: list[str] = []
        self._source: str | None = None
        self._path = ""
        self._classes = 0

    def check(self) -> None:
        if not self._has_packages:
            raise Unreadable("The report holds no packages: it is not Cobertura's.")

    def opened(self, tag: str, attributes: dict[str, str]) -> None:
        if self.above[-1:] == ["coverage"] and tag not in _KNOWN:
            raise Unreadable(f"The report holds `{name(tag[:40])}`: it is not Cobertura's.")
        if self._classes > MAX_CLASSES:
            raise Unreadable("The report has too many classes.")
        if tag == "coverage":  # several reports in one have sources of their own
            self._sources = []
        elif tag == "packages":
            self._has_packages = True
        elif tag == "source":
            self._source = ""
        elif tag == "class":
            self._classes += 1
            self._path = self.places.path_of(attributes.get("filename", ""), self._sources)
            self.tally.add(self._path, (), covered=True)
        elif tag == "line" and (line := number(attributes.get("number"))):
            self.tally.add(self._path, (line,), covered=is_covered(attributes.get("hits")))

    def data(self, text: str) -> None:
        if self._source is not None:
            self._source = (self._source + text).lstrip()[:MAX_SOURCE_CHARS]

    def closed(self, tag: str) -> None:
        if tag == "source" and self._source is not None:
            if self._source and len(self._sources) < MAX_SOURCES:
                self._sources.append(self._source.rstrip())
            self._source = None
        elif tag == "class":
            self._path = ""
