"""What a page shows of one content: its views as tabs, and the one that is looked at."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final
from urllib.parse import urlencode
from uuid import UUID

from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe

from verification.adapters.viewing import Opened
from verification.runs.viewing.kinds import VIEWS, Kind, View
from verification.runs.viewing.selectors import Source, Wish, is_source, kept_view, view_of

MAX_PLACES: Final = 100
_PLACE: Final = re.compile(r"([0-9]{1,8})\.(hard|advisory|observe)")

Place = tuple[int, str]
"""A line and the enforcement of the finding that stands there."""


@dataclass(frozen=True, slots=True)
class Viewable:
    """A content in a pane, with the places of findings in it. `line` is the one looked at."""

    source: Source
    places: tuple[Place, ...] = ()
    line: int = 0


@dataclass(frozen=True, slots=True)
class Link:
    """An address that opens within the page, and as a page of its own without a script."""

    words: str
    url: str
    is_current: bool = False
    is_hidden: bool = False
    """Of a sheet: whether its workbook hides it."""


@dataclass(frozen=True, slots=True)
class Row:
    number: int
    html: SafeString
    enforcement: str
    cells: int | None
    missing: range


@dataclass(frozen=True, slots=True)
class Page:
    number: int
    src: str
    words: str


@dataclass(frozen=True)
class Viewer:
    where: tuple[str, UUID]
    """Project and run, as addresses name them."""
    viewable: Viewable
    wish: Wish
    view: View
    opened: Opened | None

    @property
    def source(self) -> Source:
        return self.viewable.source

    @property
    def views(self) -> Sequence[View]:
        return VIEWS[self.source.kind]

    @property
    def is_source(self) -> bool:
        return is_source(self.view)

    @property
    def told(self) -> Mapping[str, Any]:
        return self.opened.told if self.opened else {}

    @property
    def html(self) -> SafeString:
        return _safe(self.told.get("html", ""))

    @property
    def url(self) -> str:
        """Where this view is a page of its own, and the part of one."""
        return self._url()

    @property
    def picture_url(self) -> str:
        return self._address("run_picture")

    @property
    def frame_url(self) -> str:
        return f"{self._address('run_pages')}?page={self.told.get('first', 1)}"

    @property
    def heads(self) -> list[SafeString]:
        return [_safe(cell) for cell in self.told.get("head", ())]

    @cached_property
    def rows(self) -> list[Row]:
        return [self._row(row) for row in self.told.get("rows", ())]

    @property
    def sheets(self) -> list[Link]:
        return [
            Link(
                _safe(sheet["html"]),
                self._url(sheet=number),
                number == self.told["sheet"],
                sheet["is_hidden"],
            )
            for number, sheet in enumerate(self.told.get("sheets", ()), start=1)
        ]

    @property
    def turns(self) -> list[Link]:
        """To what stands before and after the part that is shown."""
        if self.source.kind is Kind.PAGES:
            return self._page_turns()
        first, found = self.told.get("first", 1), []
        if self.told.get("before"):
            before = f"{self.told['before']:,} rows before"
            found.append(Link(before, self._url(rows=max(1, first - 200))))
        if self.told.get("after"):
            after = self.told["after"]
            words = f"{after:,} row{'' if after == 1 else 's'} more"
            found.append(Link(words, self._url(rows=self.told["next"])))
        return found

    def _page_turns(self) -> list[Link]:
        first, shown = self.told.get("first", 1), len(self.told.get("pages", ()))
        left = self.told.get("count", 0) - (first + shown - 1)
        found = []
        if first > 1:
            found.append(Link("The pages before", self._url(page=max(1, first - 4))))
        if left > 0:
            words = f"{left:,} page{'' if left == 1 else 's'} more"
            found.append(Link(words, self._url(page=first + shown)))
        return found

    def _row(self, row: Mapping[str, Any]) -> Row:
        inside = [weight for line, weight in self._marks if row["number"] <= line <= row["last"]]
        marked = next((one for one in ("hard", "advisory", "observe") if one in inside), "")
        missing = range(row.get("missing", 0))
        return Row(row["number"], _safe(row["html"]), marked, row.get("cells"), missing)

    @property
    def _marks(self) -> Sequence[Place]:
        """Of a workbook nobody can tell which row a line is."""
        return self.viewable.places if self.source.kind is Kind.TABLE else ()

    def _url(self, **changes: int) -> str:
        wished = {**self.wish.of_kind(self.source.kind), **changes}
        if "rows" in changes:
            wished["line"] = 0
        usual = {"line": 0}
        asked = {name: n for name, n in wished.items() if n != usual.get(name, 1)}
        places = ",".join(f"{line}.{weight}" for line, weight in self.viewable.places[:MAX_PLACES])
        query = urlencode({"view": self.view.value, **asked, "places": places})
        return f"{self._address('run_file_page')}?{query}"

    def _address(self, name: str) -> str:
        if not self.source.path:
            return reverse("run_output_page", args=self.where)
        return reverse(name, args=[*self.where, self.source.path])


def viewer_of(
    where: tuple[str, UUID],
    viewable: Viewable,
    query: Mapping[str, str],
    *,
    seconds: float = 0,
) -> Viewer:
    """The view that an address asks for; else the source where a finding has a place, else the first.

    A view that was not made before is made in so many seconds; in none it is left to be asked for.
    """
    views = VIEWS[viewable.source.kind]
    asked = query.get("view", "")
    view = View(asked) if asked in views else _usual(viewable, views)
    wish = Wish.of(query)
    if "rows" not in query and "line" not in query:
        wish = replace(wish, line=viewable.line)
    wish = replace(wish, view=view.value)
    if is_source(view):
        return Viewer(where, viewable, wish, view, None)
    if not seconds:
        return Viewer(where, viewable, wish, view, kept_view(viewable.source, wish))
    return Viewer(where, viewable, wish, view, view_of(viewable.source, wish, seconds=seconds))


def places_of(text: str) -> tuple[Place, ...]:
    """Places as an address says them, such as `12.hard,40.advisory`."""
    found = [_PLACE.fullmatch(one) for one in text.split(",")[:MAX_PLACES]]
    return tuple((int(one[1]), one[2]) for one in found if one)


def _usual(viewable: Viewable, views: Sequence[View]) -> View:
    return View.SOURCE if viewable.places and View.SOURCE in views else views[0]


def _safe(markup: str) -> SafeString:
    return mark_safe(markup)  # noqa: S308 - escaped or sanitised by the child that made it
