"""A synthesis is parted: what holds, and in an appendix what nothing confirms."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from verification.engine.claims.labels import CONFIRMED
from verification.engine.claims.passages import passages
from verification.engine.claims.pruning import cut, places_of
from verification.engine.claims.settlement import Artefact, ArtefactKind, CountedClaim
from verification.engine.claims.spans import Span, without
from verification.engine.claims.submitted_texts import SubmittedText
from verification.engine.grammars import grammar_of
from verification.engine.grammars.registry import HTML

HEADING = "# Unconfirmed Appendix\n\nNothing that was submitted confirms these claims.\n"
NOWHERE = "stands nowhere in the texts"
_LINE_END = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Parted:
    """`spans` are what moved: `verified` and they, each at its place, are the whole text.

    `found` are the claims that moved; `remaining` those that could not be.
    """

    verified: str
    spans: tuple[Span, ...] = ()
    found: frozenset[str] = frozenset()
    remaining: frozenset[str] = frozenset()


def part(text: str, claims: Sequence[CountedClaim]) -> Parted:
    """Move the sentence, list item or row of each unconfirmed claim, and headings left bare.

    Where a confirmed claim stands in the same passage, only the unconfirmed words move.
    """
    unconfirmed = {one.text for one in claims if one.label != CONFIRMED}
    confirmed = {one.text for one in claims if one.label == CONFIRMED} - unconfirmed
    kept = places_of(text, confirmed)
    whole = passages(text)

    def widened(span: Span) -> Span:
        wide = whole.around(span)
        return span if any(start < wide[1] and end > wide[0] for start, end in kept) else wide

    found = cut(text, unconfirmed, widened)
    spans = whole.with_bare_headings(found.spans)
    return Parted(without(text, spans), spans, found.found, found.remaining)


def _is_prose(path: str) -> bool:
    grammar = grammar_of(path)
    return grammar is None or grammar.language == HTML


def parted(texts: Sequence[SubmittedText], claims: Sequence[CountedClaim]) -> tuple[Artefact, ...]:
    """Part the output and each text file that holds an unconfirmed claim.

    Files with a grammar are left whole: in parts they would not be of their form. A page of HTML is
    prose all the same.
    """
    results = {one.path: part(one.text, claims) for one in texts if _is_prose(one.path)}
    found = frozenset[str]().union(*(one.found for one in results.values()))
    made: list[Artefact] = []
    for one in texts:
        result = results.get(one.path)
        if result is None or result.remaining or (one.path and not result.spans):
            continue
        listed = [claim for claim in claims if claim.label != CONFIRMED]
        listed = [
            claim
            for claim in listed
            if claim.text in result.found or (not one.path and claim.text not in found)
        ]
        moved = [one.text[start:end] for start, end in result.spans]
        appendix = "".join(_appendix(listed, moved, found))
        made += (
            Artefact(ArtefactKind.VERIFIED_FINDINGS, one.path, one.encoded(result.verified)),
            Artefact(ArtefactKind.UNCONFIRMED_APPENDIX, one.path, one.encoded(appendix)),
        )
    return tuple(made)


def _appendix(
    claims: Sequence[CountedClaim], moved: Sequence[str], found: frozenset[str]
) -> Iterator[str]:
    yield HEADING
    for claim in claims:
        evidence = f"evidence: {', '.join(claim.evidence)}" if claim.evidence else "no evidence"
        told = [claim.label, claim.section or "other", evidence]
        if claim.text not in found:
            told.append(NOWHERE)
        yield f"\n- {_LINE_END.sub(' ', claim.text)}\n  ({', '.join(told)})\n"
    if moved:
        yield "\n## Where they stood\n"
    for passage in moved:
        yield f"\n{passage}" + ("" if passage.endswith("\n") else "\n")
