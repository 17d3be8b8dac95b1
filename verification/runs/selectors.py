"""Reads of runs that the pages and the API share."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from django.contrib.postgres.search import SearchQuery
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from loomverify.accounts.models import Project
from loomverify.errors import InputError
from loomverify.filters import AddressFilters, check_choice
from processes.models import Process
from verification.engine.outcome import (
    COUNTING,
    FindingVerdict,
    Outcome,
    Purpose,
    SeverityClass,
    Verdict,
)
from verification.engine.protocol.reply import Stage
from verification.engine.reasons import REASONS
from verification.runs.figures import ACCEPTING
from verification.runs.models import (
    Evaluation,
    Finding,
    ModelCall,
    Review,
    ReviewState,
    Run,
    RunState,
    Task,
)

COUNT_CAP = 10_000
WAITING_CAP = 99
SEARCH_COUNT_CAP = 1_000
MATCH_CAP = 100_001
"""One more than an export holds, so that it can tell when it is cut."""
COMMON_SHARE = 0.02
"""Words in a larger share of runs are met soon by date order; rarer ones are collected first."""

NAME = re.compile(r"[^\x00-\x1f]{1,200}")
AGO = re.compile(r"([1-9]\d{0,4})([hd])")


class ReviewFilter(StrEnum):
    NOT_REQUIRED = "not_required"
    PENDING = "pending"
    DECIDED = "decided"


class Tier(StrEnum):
    ONE = "1"
    TWO = "2"
    THREE = "3"


class Only(StrEnum):
    """Runs with a history that figures count."""

    RETRIED = "retried"
    """Verified again without the work being done again."""
    RETRY_RESOLVED = "retry_resolved"
    """Of these, decided."""
    FALSE_FAIL = "false_fail"
    """Rejected by us, and accepted by a person, or by a judge in shadow."""
    OVERTURNED = "overturned"
    APPLIED = "applied"
    """The rule of the filters was applied; of these, people called it right, or wrong:"""
    FOUND_RIGHT = "found_right"
    FOUND_WRONG = "found_wrong"
    """Of these, accepted by a person."""


TIERS = {"1": (0, 1), "2": (2,), "3": (3,)}


@dataclass(frozen=True, slots=True)
class RunFilters(AddressFilters):
    """Filters as they stand in a URL; empty: not asked for.

    `since` and `until` are RFC 3339 times, dates, or spans before now such as `24h` and `7d`;
    `tier` is the highest tier reached, 1 also where none was; `rule` one that was violated;
    `recovery` a stage by which an answer of a judge was read.
    """

    process: str = ""
    phase: str = ""
    outcome: str = ""
    verdict: str = ""
    reason_code: str = ""
    state: str = ""
    review: str = ""
    task: str = ""
    since: str = ""
    until: str = ""
    q: str = ""
    tier: str = ""
    severity_class: str = ""
    rule: str = ""
    recovery: str = ""
    only: str = ""


def runs(project: Project, filters: RunFilters | None = None) -> QuerySet[Run]:
    """The project's runs that pass the filters, in no order."""
    rows = Run.objects.filter(project=project).defer("search", "result")
    return filter_runs(rows, filters, project=project) if filters else rows


def filter_runs(
    rows: QuerySet[Run], filters: RunFilters, *, project: Project | None = None
) -> QuerySet[Run]:
    """Narrow runs down. With `project`, names become keys first, which lets indexes serve.

    Raises:
        InputError: `filter.invalid`, its place `("query", name)`.
    """
    rows = rows.filter(**_exact(filters))
    if filters.tier:
        rows = rows.filter(tier_achieved__in=TIERS[check_choice("tier", filters.tier, Tier)])
    if filters.since:
        rows = rows.filter(created_at__gte=moment("since", filters.since))
    if filters.until:
        rows = rows.filter(created_at__lt=moment("until", filters.until))
    if filters.process:
        rows = rows.filter(_process_is(_name("process", filters.process), project))
    if filters.task:
        rows = rows.filter(_task_is(_name("task", filters.task), project))
    if filters.recovery:
        rows = rows.filter(_was_read_by(check_choice("recovery", filters.recovery, Stage)))
    rows = _of_rule(rows, filters, project)
    if filters.q:
        rows = _matching(rows, filters.q)
    return rows


def _of_rule(rows: QuerySet[Run], filters: RunFilters, project: Project | None) -> QuerySet[Run]:
    """A rule alone asks for the runs that violate it; some words ask for other runs of it."""
    rule = _name("rule", filters.rule)
    only = Only(check_choice("only", filters.only, Only)) if filters.only else None
    if only in OF_A_RULE:
        if not rule:
            raise _invalid("only", "Name a rule, too.")
        return rows.filter(OF_A_RULE[only](rule, project))
    if only:
        rows = rows.filter(ONLY[only])
    return rows.filter(_violates(rule, project)) if rule else rows


def _exact(filters: RunFilters) -> dict[str, str]:
    exact = {
        "phase_id": _name("phase", filters.phase),
        "reason_code": check_choice("reason_code", filters.reason_code, REASONS),
        "outcome": check_choice("outcome", filters.outcome, Outcome),
        "verdict": check_choice("verdict", filters.verdict, Verdict),
        "state": check_choice("state", filters.state, RunState),
        "review_state": check_choice("review", filters.review, ReviewFilter),
        "severity_class": check_choice("severity_class", filters.severity_class, SeverityClass),
    }
    return {field: value for field, value in exact.items() if value}


def _process_is(slug: str, project: Project | None) -> Q:
    if project is None:
        return Q(process__slug=slug)
    key = Process.objects.filter(project=project, slug=slug).values_list("pk", flat=True).first()
    return Q(process=key) if key else Q(pk__in=[])


def _task_is(external_id: str, project: Project | None) -> Q:
    if project is None:
        return Q(task__external_id=external_id)
    found = Task.objects.filter(process__project=project, external_id=external_id)
    return Q(task__in=list(found.values_list("pk", flat=True)[:100]))


def _violates(rule: str, project: Project | None) -> Q:
    found = Finding.objects.filter(
        evaluation=OuterRef("live_evaluation"), rule=rule, verdict=FindingVerdict.VIOLATED
    )
    return Q(Exists(found.filter(project=project) if project else found))


def _was_read_by(stage: str) -> Q:
    calls = ModelCall.objects.filter(evaluation__run=OuterRef("pk"), recovery=stage)
    return Q(Exists(calls.filter(evaluation__purpose__in=COUNTING)))


_RETRIED = Q(reverifications__gt=0) | Q(asked_again__gt=0)
_SHADOW_PASS = Evaluation.objects.filter(
    run=OuterRef("pk"), purpose=Purpose.SHADOW, verdict=Verdict.ACCEPT, tier_achieved__gt=1
)
ONLY = {
    Only.RETRIED: _RETRIED,
    Only.RETRY_RESOLVED: _RETRIED & ~Q(verdict__in=("", Verdict.UNDECIDED)),
    Only.FALSE_FAIL: Q(verdict=Verdict.REJECT)
    & (Q(final_outcome__in=ACCEPTING) | Q(tier_achieved__lte=1) & Exists(_SHADOW_PASS)),
    Only.OVERTURNED: Q(verdict=Verdict.REJECT, final_outcome__in=ACCEPTING, review_state="decided"),
}


def applied(rule: str, project: Project | None) -> Q:
    """Finished runs that a rule was applied to, whatever came of it."""
    trace = [{"rule": rule, "applied": True}]
    return Q(state=RunState.FINISHED, live_evaluation__rule_trace__contains=trace)


OF_A_RULE: dict[Only, Callable[[str, Project | None], Q]] = {Only.APPLIED: applied}
"""What people said of a rule is known to rooms above, which register here."""


def _matching(rows: QuerySet[Run], text: str) -> QuerySet[Run]:
    """Full text. A rare match is collected first, a common one is met soon by date order."""
    if "\x00" in text:
        raise _invalid("q", "The search holds a character that no text has.")
    query = SearchQuery(text[:400], config="simple", search_type="websearch")
    found = rows.filter(search=query)
    if _estimate(found) > COMMON_SHARE * _estimate(rows):
        return found
    # The slice keeps the planner from walking every run by date in the hope of a match.
    return rows.filter(pk__in=found.order_by().values("pk")[:MATCH_CAP])


def _estimate(rows: QuerySet[Run]) -> int:
    plan = json.loads(rows.order_by().values("pk").explain(format="json"))
    return int(plan[0]["Plan"]["Plan Rows"])


def count_capped(rows: QuerySet[Run] | QuerySet[Review], cap: int = COUNT_CAP) -> tuple[int, bool]:
    """Count at most `cap` rows; true: there are more."""
    found = rows.order_by()[: cap + 1].count()
    return min(found, cap), found > cap


def waiting_words(project: Project) -> str:
    """How many reviews wait, beside the name in the navigation; nothing where none does."""
    rows = Review.objects.filter(project=project, state=ReviewState.PENDING)
    count, is_capped = count_capped(rows, WAITING_CAP)
    return f"{count}+" if is_capped else str(count or "")


def moment(name: str, text: str) -> datetime:
    """Read a time, a date, or a span before now.

    Raises:
        InputError: `filter.invalid`.
    """
    if ago := AGO.fullmatch(text):
        unit = "hours" if ago[2] == "h" else "days"
        return timezone.now() - timedelta(**{unit: int(ago[1])})
    try:
        # A + that nobody escaped arrives as a space.
        found = datetime.fromisoformat(re.sub(r" (?=\d\d:?\d\d$)", "+", text))
        return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        raise _invalid(name, "Give an RFC 3339 time, a date, or a span such as 24h.") from None


def _name(name: str, value: str) -> str:
    if value and not NAME.fullmatch(value):
        raise _invalid(name, f"This cannot be the name of a {name}.")
    return value


def _invalid(name: str, msg: str) -> InputError:
    return InputError("filter.invalid", msg, loc=("query", name), status=400)
