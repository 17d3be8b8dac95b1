"""What each rule did in the runs of an hour, counted from the runs themselves."""

from __future__ import annotations

from datetime import datetime
from functools import partial

from django.db import connection, transaction
from django.db.models import Q
from django.db.models.expressions import RawSQL

from loomverify.accounts.models import Project
from verification.rules.models import RuleUse
from verification.runs.figures import ACCEPTING, hold_hour
from verification.runs.selectors import OF_A_RULE, Only, applied

COUNTED = (
    "applied",
    "violated",
    "unknown",
    "found_right",
    "found_wrong",
    "decided",
    "overturned",
    "cost_usd",
    "last_at",
    "last_run",
)

# The newest round that has labels; one finding that is right makes the rule right. Only reviews
# that have taken effect: nothing else has the hour counted anew.
_LABELLED = """
    select run_id, rule, bool_or(is_right) as is_right from (
        select review.run_id, finding.rule, label.is_right, rank() over (
            partition by review.run_id, finding.rule order by decision.round desc
        ) as newest
        from judged
        join runs_review review on review.run_id = judged.run_id and review.outcome <> ''
        join reviews_decision decision on decision.review_id = review.id
            and decision.settled_at is not null and decision.undone_at is null
        join reviews_findinglabel label on label.decision_id = decision.id
        join runs_finding finding on finding.id = label.finding_id
    ) labels where newest = 1 group by run_id, rule
"""

# What was paid for a judge is shared evenly by the rules that it was asked about.
USES = f"""
    with judged as materialized (
        select run.id as run_id, run.process_id, run.created_at, run.verdict, run.review_state,
               run.final_outcome, evaluation.id as evaluation_id, evaluation.cost_usd,
               evaluation.rule_trace
        from runs_run run
        join runs_evaluation evaluation on evaluation.id = run.live_evaluation_id
        where run.project_id = %(project)s and run.state = 'finished'
          and run.created_at >= {{start}} and run.created_at < {{start}} + interval '1 hour'
          {{narrowed}}
    ), traced as (
        select judged.run_id, judged.process_id, judged.evaluation_id, entry.rule,
               coalesce(entry.rule_sha256, '') as content_sha256,
               bool_or(entry.verdict = 'unknown') as is_unknown,
               bool_or(version.spec ->> 'type' = 'llm') as is_judged
        from judged
        cross join lateral jsonb_to_recordset(judged.rule_trace)
            as entry(rule text, applied boolean, verdict text, rule_sha256 text)
        left join processes_rule rule
            on rule.process_id = judged.process_id and rule.name = entry.rule
        left join processes_ruleversion version
            on version.rule_id = rule.id and version.content_sha256 = entry.rule_sha256
        where entry.applied
        group by 1, 2, 3, 4, 5
    ), priced as (
        select traced.*,
               case when is_judged then
                   1.0 / count(*) filter (where is_judged) over (partition by run_id)
               else 0 end as share
        from traced
    ), violated as (
        select distinct judged.run_id, finding.rule
        from judged join runs_finding finding on finding.evaluation_id = judged.evaluation_id
        where finding.verdict = 'violated'
    ), labelled as ({_LABELLED})
    select priced.process_id, priced.rule, priced.content_sha256,
           count(*) as applied,
           count(violated.rule) as violated,
           count(*) filter (where is_unknown and violated.rule is null) as unknown,
           count(*) filter (where labelled.is_right) as found_right,
           count(*) filter (where not labelled.is_right) as found_wrong,
           count(violated.rule) filter (
               where judged.verdict = 'reject' and judged.review_state = 'decided'
           ) as decided,
           count(violated.rule) filter (
               where judged.verdict = 'reject' and judged.review_state = 'decided'
                 and judged.final_outcome in {ACCEPTING}
           ) as overturned,
           sum(judged.cost_usd * priced.share) as cost_usd,
           max(judged.created_at) filter (where violated.rule is not null) as last_at,
           (array_agg(judged.run_id order by judged.created_at desc, judged.run_id desc)
               filter (where violated.rule is not null))[1] as last_run
    from priced
    join judged using (run_id)
    left join violated using (run_id, rule)
    left join labelled using (run_id, rule)
    {{only}}
    group by 1, 2, 3
"""  # noqa: S608 - constants of this module
"""Of one hour that begins at `start`: `narrowed` is a condition on runs, `only` one on rules."""


_SAID = f"""
    with judged as (
        select distinct review.run_id
        from runs_finding finding
        join reviews_findinglabel label on label.finding_id = finding.id
        join reviews_decision decision on decision.id = label.decision_id
        join runs_review review on review.id = decision.review_id
        where finding.rule = %s and review.project_id = coalesce(%s, review.project_id)
    ), labelled as ({_LABELLED})
    select run_id from labelled where rule = %s and is_right = %s
"""  # noqa: S608 - constants of this module


def found(rule: str, project: Project | None, *, right: bool) -> Q:
    """The runs in which people called a rule right, or wrong, as the figures count them."""
    values = [rule, project.pk if project else None, rule, right]
    said = RawSQL(_SAID, values)  # noqa: S611 - our own text; values are parameters
    return applied(rule, project) & Q(pk__in=said)


def register() -> None:
    OF_A_RULE[Only.FOUND_RIGHT] = partial(found, right=True)
    OF_A_RULE[Only.FOUND_WRONG] = partial(found, right=False)


def recount(project_id: int, hour: datetime) -> None:
    """Count an hour anew. Idempotent."""
    query = USES.format(start="%(hour)s::timestamptz", narrowed="", only="")
    with transaction.atomic():
        hold_hour(project_id, hour)
        RuleUse.objects.filter(project=project_id, hour=hour).delete()
        with connection.cursor() as cursor:
            cursor.execute(
                f"""
                insert into rules_ruleuse (
                    project_id, hour, process_id, rule, content_sha256, {", ".join(COUNTED)}
                )
                select %(project)s, %(hour)s, used.* from ({query}) used
                """,  # noqa: S608 - constants of this module
                {"project": project_id, "hour": hour},
            )
