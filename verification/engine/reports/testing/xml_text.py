"""An XML report as a tree: no entities, no DTD, so many elements, so deep."""

from __future__ import annotations

from xml.etree.ElementTree import Element, ParseError, TreeBuilder

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import XMLParser

from verification.engine.reports.contents import bounded
from verification.engine.reports.model import Unreadable

MAX_ELEMENTS = 400_000
MAX_DEPTH = 60


class _Bounded(TreeBuilder):
    def __init__(self) -> None:
        super().__init__(insert_comments=True)
        self.depth = self.elements = 0

    def start(self, tag: str, attrs: dict[str, str]) -> Element:
        self.depth += 1
        self.elements += 1
        if self.depth > MAX_DEPTH or self.elements > MAX_ELEMENTS:
            raise Unreadable("The report has more elements, or deeper ones, than are read.")
        return super().start(tag, attrs)

    def end(self, tag: str) -> Element:
        self.depth -= 1
        return super().end(tag)


def tree_of(content: bytes) -> Element:
    """The root, whose comments stand among its elements."""
    parser = XMLParser(target=_Bounded(), forbid_dtd=True)
    try:
        parser.feed(bounded(content))
        root = parser.close()
    except DefusedXmlException as error:
        raise Unreadable("The report defines entities or a document type.") from error
    except (ParseError, ValueError, LookupError) as error:
        raise Unreadable("The report is not XML, or not all of it is there.") from error
    if not isinstance(root, Element):
        raise Unreadable("The report is empty.")
    return root


def kind(element: Element) -> str:
    """The tag without its namespace; '' for a comment."""
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def within(element: Element, tag: str) -> list[Element]:
    return [child for child in element if kind(child) == tag]
