"""The targets as the page and the overview show them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from django.urls import reverse

from verification.runs.wording import Badge
from verification.trials.acceptance.behind import Which
from verification.trials.acceptance.measures import Target
from verification.trials.acceptance.scope import Scope
from verification.trials.acceptance.selectors import PARTS
from verification.trials.acceptance.wording import (
    AGAINST,
    STATES,
    interval_in_words,
    value_in_words,
)
from verification.trials.acceptance.wording import PARTS as WORDS


@dataclass(frozen=True, slots=True)
class Link:
    which: str
    words: str
    count: int
    url: str


@dataclass(frozen=True, slots=True)
class Line:
    """A target: its figure, and the links to the rows of its numbers."""

    target: Target
    badge: Badge
    value: str
    interval: str
    counted: Link
    all: Link
    known: Link | None
    against: Link | None


def lines(found: Sequence[Target], scope: Scope) -> list[Line]:
    return [_line(target, scope) for target in found]


def rows_url(scope: Scope, name: str, which: Which) -> str:
    there = reverse("acceptance_rows", args=[scope.project.slug, name])
    return f"{there}?{urlencode({**scope.query(), 'which': which.value})}"


def _line(target: Target, scope: Scope) -> Line:
    known = Which.KNOWN in PARTS[target.name]
    against = AGAINST[target.name]
    return Line(
        target,
        STATES[target.state],
        value_in_words(target),
        interval_in_words(target),
        _link(target, scope, Which.COUNTED, target.numerator),
        _link(target, scope, Which.ALL, target.denominator),
        _link(target, scope, Which.KNOWN, target.n) if known else None,
        _link(target, scope, against, target.rest) if against is Which.REST else None,
    )


def _link(target: Target, scope: Scope, which: Which, count: int) -> Link:
    words = WORDS[target.name][which]
    return Link(which.value, words, count, rows_url(scope, target.name, which))
