"""An XML report of coverage, one element after the other: no tree of it stands in memory."""

from __future__ import annotations

from xml.etree.ElementTree import ParseError

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import DefusedXMLParser

from verification.engine.reports.contents import bounded
from verification.engine.reports.coverage.places import Places
from verification.engine.reports.coverage.tally import Tally
from verification.engine.reports.model import Coverage, Unreadable, name
from verification.engine.reports.testing.contents import count

MAX_DEPTH = 60
MAX_ELEMENTS = 2_000_000


class ElementReader:
    """Reads a report by `opened` and `closed` into `tally`.

    `above` are the tags around the element, outermost first. `places` tells the files that are meant.
    """

    root = ""

    def __init__(self, places: Places) -> None:
        self.tally = Tally()
        self.places = places
        self.above: list[str] = []
        self._elements = 0

    def opened(self, tag: str, attributes: dict[str, str]) -> None:
        """An element begins."""

    def closed(self, tag: str) -> None:
        """An element ends."""

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        tag = tag.rpartition("}")[2]
        if not self.above and tag != self.root:
            raise Unreadable(f"The report's root is `{name(tag[:40])}`, and not `{self.root}`.")
        self._elements += 1
        if self._elements > MAX_ELEMENTS or len(self.above) >= MAX_DEPTH:
            raise Unreadable("The report has more elements, or deeper ones, than are read.")
        self.opened(tag, attributes)
        self.above.append(tag)

    def end(self, tag: str) -> None:
        self.above.pop()
        self.closed(tag.rpartition("}")[2])

    def data(self, text: str) -> None:
        """Text between elements."""

    def close(self) -> None:
        """A parser asks for it."""

    def check(self) -> None:
        """Raise where the whole report, read to its end, is not what it should be."""


def read_elements(content: bytes, reader: ElementReader) -> Coverage:
    """Read a report to its end.

    Raises:
        Unreadable: it is no XML that is read here, or the reader refuses it.
    """
    parser = DefusedXMLParser(target=reader, forbid_entities=True, forbid_external=True)
    parser.parser.StartDoctypeDeclHandler = _refuse_declarations
    try:
        parser.feed(bounded(content))
        parser.close()
    except (ParseError, DefusedXmlException, LookupError, ValueError):
        raise Unreadable("The report is not XML that is read here.") from None
    reader.check()
    return reader.tally.coverage_of_work()


def _refuse_declarations(
    name: str, system: str | None, public: str | None, has_own: bool, /
) -> None:
    """Real reports name a DTD, which is not fetched."""
    # Attributes by default would stand at every element: many of both take too long.
    if has_own:
        raise Unreadable("The report declares what it is made of.")


class Totals:
    """How many of something there are, and how many of them were run, as an element counts them."""

    def __init__(self, attributes: dict[str, str], every: str, covered: str) -> None:
        """`attributes` that count neither leave nothing to compare."""
        given = attributes.get(every), attributes.get(covered)
        self.is_given = None not in given
        self.every, self.covered = (count(one or "0") for one in given)
        if self.is_given and self.covered > self.every:
            raise Unreadable(NOT_ALIKE)

    def check(self, lines: list[bool]) -> None:
        """Raise where the lines, each run or not, speak against it.

        Several statements may stand in one line, so that their numbers may differ.
        """
        if not self.is_given:
            return
        is_wrong = (any(lines) and not self.covered) or (
            not all(lines) and self.covered == self.every
        )
        if is_wrong or (not lines and self.every):
            raise Unreadable(NOT_ALIKE)


NOT_ALIKE = "The numbers that the report gives are not those of its lines."
