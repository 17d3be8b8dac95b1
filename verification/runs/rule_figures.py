"""Which rules fail, from the same hours as the other figures."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db import connection

from verification.runs.models import RuleHour
from verification.runs.spans import RAW_HOURS, Span, parameters_of

MAX_RULES = 100

# Each run once for a rule, by the most severe finding, so that counts are runs.
_FAILED = """
    select distinct on (run.id, finding.rule)
        run.process_id, finding.rule, finding.source, finding.enforcement, finding.reason_code
    from runs_run run
    join runs_finding finding on finding.evaluation_id = run.live_evaluation_id
    where run.project_id = %(project)s and run.state = 'finished'
      and finding.verdict = 'violated'
      and run.created_at >= {start} and run.created_at < {start} + interval '1 hour'
    order by run.id, finding.rule,
        array_position(array['hard', 'advisory', 'observe'], finding.enforcement::text),
        finding.position
"""


@dataclass(frozen=True, slots=True)
class RuleFailures:
    rule: str
    source: str
    enforcement: str
    reason_code: str
    count: int


def recompute_hour(project_id: int, hour: datetime) -> None:
    """Count an hour's violated rules anew. Call it in the transaction that holds the hour."""
    RuleHour.objects.filter(project=project_id, hour=hour).delete()
    with connection.cursor() as cursor:
        cursor.execute(
            f"""
            insert into runs_rulehour (
                project_id, hour, process_id, rule, source, enforcement, reason_code, count
            )
            select %(project)s, %(hour)s, process_id, rule, source, enforcement, reason_code,
                   count(*)
            from ({_FAILED.format(start="%(hour)s::timestamptz")}) failed
            group by process_id, rule, source, enforcement, reason_code
            """,  # noqa: S608 - constants of this module
            {"project": project_id, "hour": hour},
        )


def rule_failures(
    project_id: int, span: Span, *, process_id: int | None = None
) -> list[RuleFailures]:
    """The rules that most runs of a span violated, most first, at most `MAX_RULES`."""
    narrowed = "" if process_id is None else "and process_id = %(process)s"
    query = f"""
        with raw_hour as ({RAW_HOURS}), counted as (
            select rule, source, enforcement, reason_code, count
            from runs_rulehour
            where project_id = %(project)s and hour >= %(start)s and hour < %(end)s
              and hour not in (select hour from raw_hour) {narrowed}
            union all
            select rule, source, enforcement, reason_code, 1
            from raw_hour cross join lateral (
                {_FAILED.format(start="raw_hour.hour")}
            ) failed
            where true {narrowed}
        )
        select rule, source, enforcement, reason_code, sum(count)::bigint
        from counted group by 1, 2, 3, 4 order by 5 desc, 1, 4 limit %(limit)s
    """  # noqa: S608 - constants of this module
    parameters = parameters_of(project_id, span, process_id) | {"limit": MAX_RULES}
    with connection.cursor() as cursor:
        cursor.execute(query, parameters)
        return [RuleFailures(*row) for row in cursor.fetchall()]
