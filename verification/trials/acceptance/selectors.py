"""The targets with their figures as they are now: a fixed number of statements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from django.db.models import QuerySet

from verification.trials.acceptance import compared, corpus, escaped, measures, runs
from verification.trials.acceptance.behind import Behind, Which
from verification.trials.acceptance.corpus import Corpus
from verification.trials.acceptance.measures import ABOUT, Target
from verification.trials.acceptance.scope import Scope

PARTS: dict[str, Sequence[Which]] = {
    **dict.fromkeys(ABOUT, (Which.COUNTED, Which.ALL, Which.REST)),
    measures.FALSE_FAILS.name: (Which.COUNTED, Which.ALL, Which.KNOWN),
    measures.ESCAPED.name: (*list(Which)[:3], Which.BEFORE, Which.ESCAPED_BEFORE),
}
"""Which rows of each target can be listed."""


def targets(scope: Scope) -> list[Target]:
    """All nine, in the order of `ABOUT`."""
    heard = corpus.corpus(scope)
    return [
        measures.share_under(measures.UNREADABLE, *runs.unreadable(scope).counts()),
        measures.share_from(measures.RETRIES, *runs.retries(scope).counts()),
        measures.halved(compared.false_fails(scope).plus(heard.false_fails)),
        _escaped(scope),
        measures.all_of(measures.NAMED, *runs.named(scope).counts()),
        measures.all_of(measures.TRACED, *runs.traced(scope).counts()),
        _cross_phase(heard),
        measures.share_from(measures.COMPLETING, *compared.completing(scope).counts()),
        _recommendations(scope),
    ]


def _escaped(scope: Scope) -> Target:
    found = escaped.canaries(scope)
    if found.first is None:
        return measures.no_rise((0, 0), (0, 0), "No promotion is in force.")
    was = escaped.before(scope, found).counts()
    now = escaped.since(scope, found).counts()
    names = f"{len(found.cuts):,} process{'es' if len(found.cuts) != 1 else ''}"
    when = f"{found.first:%-d %b %Y}"
    return measures.no_rise(was, now, f"{names} since {when}; before: {was[0]:,} of {was[1]:,}.")


def _cross_phase(heard: Corpus) -> Target:
    note = f"Replayed {heard.replay.created_at:%-d %b %Y}." if heard.replay else "No replay yet."
    return measures.none_of(measures.CROSS_PHASE, len(heard.cross_phase), len(heard.judged), note)


def _recommendations(scope: Scope) -> Target:
    count, n = runs.recommendations(scope).counts()
    claims = runs.unconfirmed_claims(scope) if count else 0
    note = f"{claims:,} unconfirmed claim{'s' if claims != 1 else ''} in all." if n else ""
    return measures.none_of(measures.RECOMMENDATIONS, count, n, note)


Rows = QuerySet[Any]
_BY_RUN: dict[str, Callable[[Scope], Behind[Any]]] = {
    measures.UNREADABLE.name: runs.unreadable,
    measures.RETRIES.name: runs.retries,
    measures.NAMED.name: runs.named,
    measures.TRACED.name: runs.traced,
    measures.RECOMMENDATIONS.name: runs.recommendations,
    measures.COMPLETING.name: compared.completing,
}


def rows(scope: Scope, name: str, which: Which) -> Sequence[Rows]:
    """Exactly what a number of a target counts; of some there are rows of two kinds."""
    if name == measures.FALSE_FAILS.name:
        heard = corpus.corpus(scope)
        return compared.false_fail_rows(scope, which), heard.false_fail_rows(which)
    if name == measures.CROSS_PHASE.name:
        return (corpus.corpus(scope).cross_phase_rows(which),)
    if name == measures.ESCAPED.name:
        return (_sampled(scope, which),)
    return (_BY_RUN[name](scope).pick(which),)


def _sampled(scope: Scope, which: Which) -> Rows:
    found = escaped.canaries(scope)
    if which is Which.BEFORE:
        return escaped.before(scope, found).all
    if which is Which.ESCAPED_BEFORE:
        return escaped.before(scope, found).counted
    return escaped.since(scope, found).pick(which)
