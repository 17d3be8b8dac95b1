"""The pins of one rule, each with what a rule says of it now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from django.urls import reverse

from processes.definition.model import Rule
from processes.models import Process
from verification.rules.examples.judged import heard_of
from verification.rules.examples.selectors import pins_of
from verification.rules.examples.sources import Source
from verification.rules.examples.trying import Standing, Tried, time_limit, try_pin
from verification.rules.models import Pin

EXCERPT_CHARS = 200


@dataclass(frozen=True, slots=True)
class Row:
    pin: Pin
    tried: Tried

    @property
    def excerpt(self) -> str:
        return excerpt_of(self.pin.text)

    @property
    def origin(self) -> str:
        return origin_of(self.pin)


@dataclass(frozen=True, slots=True)
class Listing:
    """`url` is the page of the rule's examples."""

    name: str
    url: str
    rows: Sequence[Row]

    @property
    def broken(self) -> int:
        return self._count(Standing.BROKEN)

    @property
    def untried(self) -> int:
        return self._count(Standing.UNTRIED)

    @property
    def holding(self) -> int:
        return self._count(Standing.HOLDS)

    def _count(self, standing: Standing) -> int:
        return sum(row.tried.standing is standing for row in self.rows)


def listing(process: Process, name: str, rule: Rule | None, *also: str) -> Listing:
    """Try `rule` on what is pinned to its name, and its other names, within the time of one lint."""
    is_time_left, heard = time_limit(), heard_of(process, [rule])
    rows = [
        Row(pin, try_pin(rule, pin, heard, is_time_left))
        for pin in pins_of(process, {name, *also})
    ]
    return Listing(name, url_of(process, name), rows)


def url_of(process: Process, name: str, pin: Pin | None = None) -> str:
    """Names hold any character, so they stand in the query."""
    query = urlencode({"process": process.slug, "rule": name})
    anchor = f"#pin-{pin.uuid}" if pin else ""
    return f"{reverse('rule_examples', args=[process.project.slug])}?{query}{anchor}"


def origin_of(pin: Pin) -> str:
    """What of a run it is, in a word; a run that is gone leaves its words behind."""
    if pin.run is not None:
        return Source(pin.run, pin.path, pin.evidence).words
    if pin.path:
        return pin.path
    return f"evidence {pin.evidence}" if pin.evidence else ""


def excerpt_of(text: str) -> str:
    shown = " ".join(text[: EXCERPT_CHARS * 2].split())
    return shown if len(shown) <= EXCERPT_CHARS else f"{shown[:EXCERPT_CHARS]}…"
