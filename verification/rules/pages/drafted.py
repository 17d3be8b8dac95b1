"""Search over the rules that stand in somebody's own drafts alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django.db.models import F, Q

from loomverify.accounts.models import Project, User
from processes import selectors
from processes.definition.load import load
from processes.definition.model import ANY_PHASE, Definition, Rule
from processes.definition.renaming import renamed
from processes.models import Draft, Process
from verification.rules.pages.searching import LOOKED_IN, MAX_WORDS, RuleFilters

MAX_DRAFTS = 20
MAX_READ_CHARS = 500_000
"""Of all drafts together: they are read anew for each search."""
MAX_SHOWN = 50
FIELDS = tuple(place.rpartition("__")[2] for place in LOOKED_IN)


@dataclass(frozen=True, slots=True)
class Drafted:
    """`formerly`: under which name it is published, '' where it is new."""

    process: Process
    rule: Rule
    formerly: str


@dataclass(frozen=True, slots=True)
class InDrafts:
    """`unread`: drafts that were left out, because all of them together are too long."""

    rows: list[Drafted]
    count: int
    unread: int


def drafted_rules(project: Project, user: User, filters: RuleFilters) -> InDrafts:
    """The rules that pass the filters and that the published version of their process lacks.

    Filters are sound: the search over the published rules refuses others.
    """
    drafts = (
        Draft.objects.filter(editor=user, discarded_at=None, process__project=project)
        .filter(Q(process__published=None) | ~Q(source_text=F("process__published__source_text")))
        .select_related("process")
        .order_by("-updated_at", "pk")
    )
    if filters.process:
        drafts = drafts.filter(process__slug=filters.process)
    found = list(drafts[: MAX_DRAFTS + 1])
    read = list(_readable(found[:MAX_DRAFTS]))
    published = selectors.definitions_of(
        draft.process.published_id for draft in read if draft.process.published_id
    )
    rows = [
        one
        for draft in read
        for one in _rules_of(draft, published.get(draft.process.published_id or 0))
        if _passes(one.rule, filters)
    ]
    return InDrafts(rows[:MAX_SHOWN], len(rows), len(found) - len(read))


def _readable(drafts: list[Draft]) -> Iterator[Draft]:
    left = MAX_READ_CHARS
    for draft in drafts:
        left -= len(draft.source_text)
        if left >= 0:
            yield draft


def _rules_of(draft: Draft, published: Definition | None) -> Iterator[Drafted]:
    """None of a draft that holds errors: what its rules say is not known."""
    definition = load(draft.source_text).definition
    if definition is None:
        return
    names = {rule.name for rule in published.rules} if published else set()
    formerly = renamed(published, definition) if published else {}
    for rule in definition.rules:
        if rule.name not in names:
            yield Drafted(draft.process, rule, formerly.get(rule.name, ""))


def _passes(rule: Rule, filters: RuleFilters) -> bool:
    said = [getattr(rule, field).casefold() for field in FIELDS]
    words = filters.q.casefold().split()[:MAX_WORDS]
    places = rule.applies_to_phases or ("",)
    return (
        filters.type in ("", rule.type)
        and filters.enforcement in ("", rule.usual_enforcement)
        and (not filters.phase or not {filters.phase, ANY_PHASE, ""}.isdisjoint(places))
        and all(any(word in text for text in said) for word in words)
    )
