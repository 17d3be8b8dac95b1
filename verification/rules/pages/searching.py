"""Search over the rules of a project, as its processes are published."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from loomverify.accounts.models import Project
from loomverify.errors import InputError
from loomverify.filters import AddressFilters, check_choice
from processes.definition.model import ANY_PHASE, Enforcement, Rule, RuleType
from processes.models import PhaseRule, RuleVersion
from verification.rules.figures.reading import Use, totals
from verification.rules.pages.contents import rule_of
from verification.runs.models import Run
from verification.runs.spans import Span, iso


class Stands(StrEnum):
    """Where a rule is looked for."""

    PUBLISHED = "published"
    DRAFT = "draft"


DAYS = 30
MAX_WORDS = 12
MAX_CHARS = 400
MAX_OFFSET = 100_000
LOOKED_IN = ("rule__name", "spec__check", "spec__description", "spec__suggestion")
_STATED = Q(spec__enforcement__in=[one.value for one in Enforcement])
_BY_SEVERITY = ~_STATED & Q(spec__type="llm", spec__severity="error")
_OBSERVED = Q(spec__enforcement="observe")
_HARD = (Q(spec__enforcement="hard") | _BY_SEVERITY) & ~Q(spec__applies_to_phases=[])
COUNTS_AS = {
    Enforcement.OBSERVE: _OBSERVED,
    Enforcement.HARD: _HARD,
    Enforcement.ADVISORY: ~_OBSERVED & ~_HARD,
}
"""As `Rule.usual_enforcement` has it."""


@dataclass(frozen=True, slots=True)
class RuleFilters(AddressFilters):
    """As they stand in a URL; empty: not asked for. `q` are words that all have to be there."""

    q: str = ""
    type: str = ""
    enforcement: str = ""
    process: str = ""
    phase: str = ""
    stands: str = ""


@dataclass(frozen=True, slots=True)
class Found:
    """A rule with what it did in the last `DAYS`; `last_run` None also where it was deleted."""

    version: RuleVersion
    rule: Rule
    use: Use
    last_run: Run | None
    since: str
    """From when on is counted: a whole hour."""


def published_rules(project: Project, filters: RuleFilters) -> QuerySet[RuleVersion]:
    """The rules that pass the filters, by process and name.

    Raises:
        InputError: `filter.invalid`, its place `("query", name)`.
    """
    places = PhaseRule.objects.filter(
        rule_version=OuterRef("pk"), process_version=OuterRef("rule__process__published")
    )
    for name, value in filters.given().items():
        if "\x00" in value or len(value) > MAX_CHARS:
            raise _invalid(name, "This is too long, or holds a character that no text has.")
    if check_choice("stands", filters.stands, Stands) == Stands.DRAFT:
        places = places.none()
    if filters.phase:
        places = places.filter(phase_id__in=[filters.phase, ANY_PHASE, ""])
    rows = RuleVersion.objects.filter(Exists(places), rule__process__project=project)
    if filters.process:
        rows = rows.filter(rule__process__slug=filters.process)
    if check_choice("type", filters.type, RuleType):
        rows = rows.filter(spec__type=filters.type)
    if check_choice("enforcement", filters.enforcement, Enforcement):
        rows = rows.filter(COUNTS_AS[Enforcement(filters.enforcement)])
    for word in filters.q.split()[:MAX_WORDS]:
        rows = rows.filter(_holding(word))
    return rows.select_related("rule__process").order_by("rule__process__slug", "rule__name", "pk")


def with_figures(project: Project, rows: Sequence[RuleVersion]) -> list[Found]:
    now = timezone.now()
    named = [(row.rule.process_id, row.rule.name) for row in rows]
    span = Span.by_days(now - timedelta(days=DAYS), now)
    uses = totals(project.pk, named, span)
    spoke = [use.last_run for use in uses.values() if use.last_run]
    runs = Run.objects.filter(project=project, pk__in=spoke).only("uuid").in_bulk()
    return [
        Found(
            row, rule_of(row.spec), uses[name], runs.get(uses[name].last_run or 0), iso(span.start)
        )
        for row, name in zip(rows, named, strict=True)
    ]


def page_of(
    rows: QuerySet[RuleVersion], *, cursor: str, limit: int
) -> tuple[list[RuleVersion], str | None]:
    """A page, and the cursor of the next one: how many rules stand before it.

    Raises:
        InputError: `cursor.invalid`.
    """
    is_number = cursor.isascii() and cursor.isdecimal() and len(cursor) < 7
    start = int(cursor) if is_number else 0
    if cursor and (not is_number or start > MAX_OFFSET):
        raise InputError(
            "cursor.invalid", "This cursor was not made by us.", loc=("query", "cursor"), status=400
        )
    found = list(rows[start : start + limit + 1])
    return found[:limit], str(start + limit) if len(found) > limit else None


def _holding(word: str) -> Q:
    asked = Q()
    for place in LOOKED_IN:
        asked |= Q(**{f"{place}__icontains": word})
    return asked


def _invalid(name: str, msg: str) -> InputError:
    return InputError("filter.invalid", msg, loc=("query", name), status=400)
