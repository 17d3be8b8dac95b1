"""The targets with their figures as they are now: a fixed number of statements."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db.models import QuerySet

from verification.trials.acceptance import compared, corpus, escaped, hours, measures
from verification.trials.acceptance.behind import Which
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
    found, heard = hours.counts(scope), corpus.corpus(scope)
    return [
        measures.share_under(measures.UNREADABLE, *found[measures.UNREADABLE.name]),
        measures.share_from(measures.RETRIES, *found[measures.RETRIES.name]),
        measures.halved(hours.false_fails(found).plus(heard.false_fails)),
        _escaped(scope),
        measures.all_of(measures.NAMED, *found[measures.NAMED.name]),
        measures.all_of(measures.TRACED, *found[measures.TRACED.name]),
        _cross_phase(heard),
        measures.share_from(measures.COMPLETING, *found[measures.COMPLETING.name]),
        _recommendations(*found[measures.RECOMMENDATIONS.name], found[hours.CLAIMS][0]),
    ]


def _escaped(scope: Scope) -> Target:
    found = escaped.canaries(scope)
    if found.first is None:
        return measures.no_rise((0, 0), (0, 0), "No promotion is in force.")
    was = escaped.counts(escaped.before(scope, found))
    now = escaped.counts(escaped.since(scope, found))
    names = f"{len(found.cuts):,} process{'es' if len(found.cuts) != 1 else ''}"
    when = f"{found.first:%-d %b %Y}"
    return measures.no_rise(was, now, f"{names} since {when}; before: {was[0]:,} of {was[1]:,}.")


def _cross_phase(heard: Corpus) -> Target:
    note = "Not replayed yet by the verifier that judges now."
    if heard.replay:
        note = f"Replayed {heard.replay.created_at:%-d %b %Y}."
    return measures.none_of(measures.CROSS_PHASE, len(heard.cross_phase), len(heard.judged), note)


def _recommendations(count: int, n: int, claims: int) -> Target:
    note = f"{claims:,} unconfirmed claim{'s' if claims != 1 else ''} in all." if n else ""
    return measures.none_of(measures.RECOMMENDATIONS, count, n, note)


Rows = QuerySet[Any]


def rows(scope: Scope, name: str, which: Which) -> Sequence[Rows]:
    """Exactly what a number of a target counts; of some there are rows of two kinds."""
    if name == measures.FALSE_FAILS.name:
        heard = corpus.corpus(scope)
        return compared.false_fail_rows(scope, which), heard.false_fail_rows(which)
    if name == measures.CROSS_PHASE.name:
        return (corpus.corpus(scope).cross_phase_rows(which),)
    if name == measures.ESCAPED.name:
        return (_sampled(scope, which),)
    return (hours.COUNTED[name](scope).pick(which),)


def page_rows(
    scope: Scope, name: str, which: Which, *, until: datetime | None, limit: int
) -> Sequence[Rows]:
    """Of `rows` the newest `limit` made until then, and more: no hour is read for nothing."""
    if name in hours.COUNTED or name == measures.FALSE_FAILS.name:
        scope = hours.narrowed(scope, name, which, until=until, rows=limit)
    return rows(scope, name, which)


def count_of(scope: Scope, name: str, which: Which) -> int:
    """How many `rows` there are."""
    if name == measures.FALSE_FAILS.name:
        heard = hours.false_fails(hours.counts(scope)).plus(corpus.corpus(scope).false_fails)
        return {Which.COUNTED: heard.new, Which.ALL: heard.old, Which.KNOWN: heard.known}[which]
    if name not in hours.COUNTED:
        return sum(one.order_by().count() for one in rows(scope, name, which))
    counted, of_all = hours.counts(scope)[name]
    return {Which.COUNTED: counted, Which.ALL: of_all, Which.REST: of_all - counted}[which]


def _sampled(scope: Scope, which: Which) -> Rows:
    found = escaped.canaries(scope)
    if which is Which.BEFORE:
        return escaped.before(scope, found).all
    if which is Which.ESCAPED_BEFORE:
        return escaped.before(scope, found).counted
    return escaped.since(scope, found).pick(which)
