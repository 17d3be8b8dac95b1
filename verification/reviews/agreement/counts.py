"""Decisions counted in the database: what leaves it are tables of counts, however many there are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db import connection
from django.db.models import Count, F, Q, QuerySet

from loomverify.accounts.models import Project
from verification.engine.outcome import Outcome, Verdict
from verification.engine.statistics.estimates import Drawn
from verification.reviews.agreement.filters import JUDGED_TIER, AgreementFilters, asked, decided
from verification.reviews.disclosure import counted_decisions
from verification.reviews.models import Decision

CHANGED = ~Q(first_outcome=F("outcome"))


@dataclass(frozen=True, slots=True)
class Cell:
    """`n` reviews where verifier and people said the same words. `said` may be undecided."""

    said: str
    people: str
    n: int
    process: str = ""
    phase: str = ""
    model: str = ""


@dataclass(frozen=True, slots=True)
class RuleCount:
    """In how many reviews people found a rule right, and in how many they overturned it."""

    process: str
    rule: str
    n: int
    overturned: int


@dataclass(frozen=True, slots=True)
class PairCount:
    """What two reviewers said of the same review. Their names are `person:id` or `key:id`."""

    first: str
    second: str
    first_said: str
    second_said: str
    n: int


@dataclass(frozen=True, slots=True)
class Changed:
    """Blind decisions, and those that were changed once the verdict was revealed."""

    n: int
    changed: int


def cells(project: Project, filters: AgreementFilters) -> list[Cell]:
    """Decided reviews by process, phase and what was said."""
    names = ("said", "outcome", "process__slug", "phase_id")
    rows = decided(project, filters).order_by().values_list(*names).annotate(n=Count("pk"))
    return [Cell(said, people, n, process, phase) for said, people, process, phase, n in rows]


def cells_by_model(project: Project, filters: AgreementFilters) -> list[Cell]:
    """Decided reviews by the models that judged; one of several models counts for each."""
    judged = decided(project, filters).filter(
        Q(evaluation__tiers__tier__gte=JUDGED_TIER) & ~Q(evaluation__tiers__model="")
    )
    names = ("said", "outcome", "evaluation__tiers__model")
    rows = judged.order_by().values_list(*names).annotate(n=Count("pk", distinct=True))
    return [Cell(said, people, n, model=model) for said, people, model, n in rows]


def drawn(project: Project, filters: AgreementFilters) -> list[Drawn]:
    """The random sample: what was drawn, and what people said of it."""
    rows = asked(project, filters).filter(
        sample_rate__gt=0, evaluation__verdict__in=(Verdict.ACCEPT, Verdict.REJECT)
    )
    accepted = ~Q(outcome__in=("", Outcome.FAIL))
    counted = (
        rows.order_by()
        .values_list("sample_rate", "is_flagged", "evaluation__verdict")
        .annotate(
            drawn=Count("pk"),
            accepted=Count("pk", filter=accepted),
            rejected=Count("pk", filter=Q(outcome=Outcome.FAIL)),
        )
    )
    return [
        Drawn(rate, is_flagged, verdict == Verdict.REJECT, n, accepted, rejected)
        for rate, is_flagged, verdict, n, accepted, rejected in counted
    ]


RULES = """
    with reviewed as materialized (%(reviews)s),
    labelled as (
      select id, rule, bool_or(is_right) as is_right from (
        select reviewed.id, finding.rule, label.is_right, rank() over (
          partition by reviewed.id, finding.rule order by decision.round desc) as newest
        from reviewed
        join reviews_decision as decision on decision.review_id = reviewed.id
          and decision.settled_at is not null and decision.undone_at is null
        join reviews_findinglabel as label on label.decision_id = decision.id
        join runs_finding as finding on finding.id = label.finding_id
      ) as labels where newest = 1 group by id, rule
    ),
    led as (
      select id, rule, outcome = 'fail' as is_right from reviewed
      where said = 'fail' and rule <> '' and not exists (
        select from labelled where labelled.id = reviewed.id and labelled.rule = reviewed.rule)
    ),
    judged as (select * from labelled union all select * from led)
"""
"""Each rule of each review, right or overturned.

A person's labels say it, the newest round that has any; a rule of which one finding is right is
right. Without labels, a rejected run's leading rule is as right as the rejection.
"""


def rule_counts(project: Project, filters: AgreementFilters) -> list[RuleCount]:
    """Rules that people judged. Asked for one rule, others of the same reviews are left out."""
    sql, params = _rules(project, filters)
    found = _rows(
        f"""
        {sql} select process.slug, judged.rule, count(*), count(*) filter (where not is_right)
        from judged join reviewed using (id)
        join processes_process as process on process.id = reviewed.process_id
        where %s in ('', judged.rule) group by 1, 2
        """,  # noqa: S608 - our own text; values are parameters
        [*params, filters.rule],
    )
    return [RuleCount(*row) for row in found]


def reviews_of_rule(
    project: Project, filters: AgreementFilters, *, overturned: bool
) -> tuple[str, Sequence[Any]]:
    """A query for the ids of reviews in which the rule of the filters was overturned, or not."""
    sql, params = _rules(project, filters)
    return (
        f"{sql} select id from judged where rule = %s and is_right = %s",  # noqa: S608 - as above
        [*params, filters.rule, not overturned],
    )


PAIRS = """
    with words as (%(decisions)s)
    select one.who, other.who, one.said, other.said, count(*)
    from words as one join words as other
      on other.review_id = one.review_id and other.round = one.round and one.who < other.who
    group by 1, 2, 3, 4
"""
WORDS = """
    select decision.review_id, decision.round,
      coalesce('person:' || decision.reviewer_id, 'key:' || decision.api_key_id) as who,
      coalesce(nullif(decision.first_outcome, ''), decision.outcome) as said
    from reviews_decision as decision
    where not decision.is_adjudication and decision.outcome <> '' and decision.id in (%(counted)s)
"""


def pair_counts(project: Project, filters: AgreementFilters) -> list[PairCount]:
    """What reviewers of the same review said apart from each other: in a blind one, at first."""
    counted, params = _embedded(_counted(project, filters).values("pk"))
    words = WORDS % {"counted": counted}
    return [PairCount(*row) for row in _rows(PAIRS % {"decisions": words}, params)]


def reviews_of_two(
    project: Project, filters: AgreementFilters, *, differing: bool
) -> tuple[str, Sequence[Any]]:
    """A query for the ids of reviews that two decided, or of which they said different things."""
    counted, params = _embedded(_counted(project, filters).values("pk"))
    words = WORDS % {"counted": counted}
    return (
        f"""
        with words as ({words}) select one.review_id from words as one join words as other
        on other.review_id = one.review_id and other.round = one.round and one.who < other.who
        where not %s or one.said <> other.said
        """,  # noqa: S608 - our own text; values are parameters
        [*params, differing],
    )


def changes(project: Project, filters: AgreementFilters) -> Changed:
    """Blind decisions that were confirmed or changed."""
    blind = blind_decisions(project, filters)
    found = blind.aggregate(n=Count("pk"), changed=Count("pk", filter=CHANGED))
    return Changed(found["n"], found["changed"])


def blind_decisions(project: Project, filters: AgreementFilters) -> QuerySet[Decision]:
    return _counted(project, filters).exclude(first_outcome="").exclude(outcome="")


def _counted(project: Project, filters: AgreementFilters) -> QuerySet[Decision]:
    rows = Decision.objects.filter(project=project, review__in=asked(project, filters))
    return counted_decisions(rows).order_by()


def _rules(project: Project, filters: AgreementFilters) -> tuple[str, Sequence[Any]]:
    rows: QuerySet[Any, Any] = decided(project, filters).order_by()
    reviews, params = _embedded(rows.values("id", "process_id", "rule", "outcome", "said"))
    return RULES % {"reviews": reviews}, params


def _embedded(rows: QuerySet[Any, Any]) -> tuple[str, Sequence[Any]]:
    sql, params = rows.query.sql_with_params()
    return sql, list(params)


def _rows(sql: str, params: Sequence[Any]) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(sql, params)
        found: list[Any] = cursor.fetchall()
    return found
