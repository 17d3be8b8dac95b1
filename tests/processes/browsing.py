"""What a browser sends of a page's form that nobody touched."""

from __future__ import annotations

import re
from html.parser import HTMLParser

Sent = list[tuple[str, str]]


def untouched(page: str) -> Sent:
    """The fields of the guarded form. Texts of several lines go with CR LF, others with none."""
    reader = _Form()
    reader.feed(page.replace("\r\n", "\n").replace("\r", "\n"))
    return [(name, value.replace("\n", "\r\n")) for name, value in reader.sent]


class _Form(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.sent: Sent = []
        self.is_inside = False
        self.area: tuple[str, list[str]] | None = None
        self.options: tuple[str, list[tuple[str, bool]]] | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        own = {key: value or "" for key, value in attrs}
        if tag == "form":
            self.is_inside = "data-guard" in own
        elif not self.is_inside:
            return
        elif tag == "input":
            self._input(own)
        elif tag == "textarea":
            self.area = (own["name"], [])
        elif tag == "select":
            self.options = (own["name"], [])
        elif tag == "option" and self.options:
            self.options[1].append((own["value"], "selected" in own))

    def _input(self, own: dict[str, str]) -> None:
        kind, value = own.get("type", "text"), own.get("value", "")
        if kind in ("radio", "checkbox"):
            if "checked" in own:
                self.sent.append((own["name"], own.get("value", "on")))
        elif kind == "hidden":
            self.sent.append((own["name"], value))
        else:
            self.sent.append((own["name"], re.sub(r"[\r\n]", "", value)))

    def handle_data(self, data: str) -> None:
        if self.area:
            self.area[1].append(data)

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self.is_inside = False
        elif tag == "textarea" and self.area:
            name, texts = self.area
            self.sent.append((name, "".join(texts).removeprefix("\n")))
            self.area = None
        elif tag == "select" and self.options:
            name, found = self.options
            chosen = [value for value, is_chosen in found if is_chosen] or [found[0][0]]
            self.sent += [(name, value) for value in chosen]
            self.options = None
