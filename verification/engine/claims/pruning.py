"""Claims leave a text: what they say is gone, and every other character stays."""

from __future__ import annotations

import html
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from verification.engine.claims.spans import (
    Folded,
    SoughtInVain,
    Span,
    balanced,
    core_of,
    folded,
    kept,
    merged,
    occurrences,
    origins_of,
    phrase_of,
    without,
)

MAX_PASSES = 4
"""What is taken out may bring the same words together again, so that it is looked for anew."""
MAX_WORK = 2_000_000_000
"""Characters of a text times claims that are looked for in it."""


@dataclass(frozen=True, slots=True)
class Cut:
    """`spans` are to be taken out, in code points; `found` are the claims that stand in them.

    `remaining`: claims that are not gone when the spans are, or that could not be looked for.
    """

    spans: tuple[Span, ...] = ()
    found: frozenset[str] = frozenset()
    remaining: frozenset[str] = frozenset()


def cut(
    text: str, claims: Collection[str], widen: Callable[[Span], Span] = lambda span: span
) -> Cut:
    """Find all that says a claim, each place widened. Their order plays no part; never raises."""
    if len(text) * len(claims) > MAX_WORK:
        return Cut(remaining=frozenset(claims))
    spans: tuple[Span, ...] = ()
    found: dict[str, list[Span]] = {}
    sought, lost = set(claims), set[str]()
    for _ in range(MAX_PASSES):
        standing, in_vain = _standing(text, spans, sought)
        lost |= in_vain
        sought = set(claims) - lost
        if not standing:
            return Cut(spans, frozenset(found), frozenset(lost))
        found |= standing
        places = (widen(span) for of_claim in standing.values() for span in of_claim)
        spans = merged([*spans, *places])
    standing, in_vain = _standing(text, spans, sought)
    return Cut(spans, frozenset(found), frozenset({*lost, *in_vain, *standing}))


def places_of(text: str, claims: Collection[str]) -> tuple[Span, ...]:
    """Where claims stand; none of one that cannot be looked for."""
    if len(text) * len(claims) > MAX_WORK:
        return ()
    standing, _ = _standing(text, (), claims)
    return merged(place for places in standing.values() for place in places)


def _standing(
    text: str, taken: Sequence[Span], claims: Iterable[str]
) -> tuple[dict[str, list[Span]], set[str]]:
    """Places of each claim in what is left, told as places of the whole; and those lost."""
    left = folded(without(text, taken))
    origins = origins_of(kept(text, taken))
    standing: dict[str, list[Span]] = {}
    lost: set[str] = set()
    for claim in claims:
        try:
            spans = (origins.of(left.origins.of(span)) for span in _said(left, claim))
            places = [balanced(text, span) for span in spans]
        except SoughtInVain:
            lost.add(claim)
            continue
        if places:
            standing[claim] = places
    return standing, lost


def _said(text: Folded, claim: str) -> Iterator[Span]:
    """A claim with or without the mark that closes it."""
    for phrase in phrasings(claim):
        core = core_of(phrase)
        closing = phrase[len(core) :]
        for start, end in occurrences(text.text, core):
            closes = closing and text.text.startswith(closing, end)
            yield start, end + len(closing) if closes else end


def phrasings(claim: str) -> tuple[str, ...]:
    """A claim as a text says it, and as JSON, HTML and XML spell it."""
    spelled = (
        claim,
        json.dumps(claim)[1:-1],
        json.dumps(claim, ensure_ascii=False)[1:-1],
        html.escape(claim),
        html.escape(claim, quote=False),
    )
    return tuple(dict.fromkeys(phrase for one in spelled if (phrase := phrase_of(one))))
