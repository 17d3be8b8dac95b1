"""Live runs behind the targets. Those are counted that were submitted in the span and are over."""

from __future__ import annotations

from collections import defaultdict
from typing import Any, cast

from django.contrib.postgres.aggregates import ArrayAgg
from django.db.models import (
    Exists,
    F,
    Func,
    IntegerField,
    JSONField,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Sum,
    Value,
)
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast, Concat

from processes.models import PhaseRule
from verification.engine.judges.asking import Ask
from verification.engine.judges.voting import CAST_AGAIN
from verification.engine.outcome import WHOLE_OUTCOMES, FindingVerdict, Verdict
from verification.engine.protocol.reply import Stage
from verification.runs.models import Evaluation, Finding, ModelCall, Run, RunState, TierResult
from verification.runs.selectors import ONLY, Only
from verification.trials.acceptance.behind import Behind
from verification.trials.acceptance.scope import Scope

TOLD = '$[*] ? ((@.applied == true || @.applied == false) && @.reason != "").rule'
"""Of a trace, the rules of which it says whether they applied, and why."""
LABELS = ("confirmed", "inferred", "unsupported")


def finished(scope: Scope) -> QuerySet[Run]:
    rows = Run.objects.filter(scope.within, project=scope.project, state=RunState.FINISHED)
    return rows.filter(process=scope.process) if scope.process else rows


def unreadable(scope: Scope) -> Behind[Run]:
    """Tier 2 keeps by which stage it was read in the end; votes are read one by one."""
    live = OuterRef("live_evaluation")
    judged = TierResult.objects.filter(evaluation=live, recovery__in=list(Stage))
    votes = ModelCall.objects.filter(evaluation=live, ask=Ask.VOTE, recovery__in=list(Stage))
    unread = votes.filter(recovery=Stage.UNREADABLE).exclude(Exists(_cast_again()))
    rows = finished(scope).alias(
        judged=_first(judged),
        voted=_first(votes),
        not_judged=_first(judged.filter(recovery=Stage.UNREADABLE)),
        not_voted=_first(unread),
    )
    answered = rows.filter(Q(judged__isnull=False) | Q(voted__isnull=False))
    return Behind.split(answered, Q(not_judged__isnull=False) | Q(not_voted__isnull=False))


def _first(rows: QuerySet[Any]) -> Subquery:
    """One by one, through an index: PostgreSQL would read the whole table for an `or exists`."""
    return Subquery(rows.values("pk")[:1])


def _cast_again() -> QuerySet[ModelCall]:
    """The vote of a call was asked for once more, and read then."""
    again = ModelCall.objects.filter(
        evaluation=OuterRef("evaluation"),
        ask=Ask.VOTE,
        nonce=Concat(OuterRef("nonce"), Value(CAST_AGAIN)),
    )
    return again.exclude(recovery__in=("", Stage.UNREADABLE))


def retries(scope: Scope) -> Behind[Run]:
    again, decided = cast("Q", ONLY[Only.RETRIED]), cast("Q", ONLY[Only.RETRY_RESOLVED])
    return Behind.split(finished(scope).filter(again), decided)


def named(scope: Scope) -> Behind[Run]:
    violated = Finding.objects.filter(
        evaluation=OuterRef("live_evaluation"), verdict=FindingVerdict.VIOLATED
    )
    nameless = Q(rule="") | Q(enforcement="")
    well, badly = violated.exclude(nameless), violated.filter(nameless)
    told = Q(Exists(well), ~Exists(badly))
    return Behind.split(finished(scope).filter(verdict=Verdict.REJECT), told)


def traced(scope: Scope) -> Behind[Run]:
    """Rules are those of the version that was evaluated by; one without any is left out."""
    versions: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for version, rules in _rules_by_version(scope):
        versions[tuple(rules)].append(version)
    rows = finished(scope).alias(told=_told())
    has_rules = [one for found in versions.values() for one in found]
    whole = Q(pk__in=())
    for names, found in versions.items():
        whole |= Q(live_evaluation__process_version__in=found, told__contains=list(names))
    return Behind.split(rows.filter(live_evaluation__process_version__in=has_rules), whole)


def _rules_by_version(scope: Scope) -> list[tuple[int, list[str]]]:
    """By the versions that runs of the scope were evaluated by, the names of their rules."""
    rows = PhaseRule.objects.filter(process_version__process__project=scope.project)
    if scope.process:
        rows = rows.filter(process_version__process=scope.process)
    if scope.hours is not None:
        by = Evaluation.objects.filter(pk__in=finished(scope).values("live_evaluation"))
        rows = rows.filter(process_version__in=by.values("process_version"))
    named = rows.order_by().values_list("process_version")
    name = F("rule_version__rule__name")
    return list(named.annotate(names=ArrayAgg(name, distinct=True, order_by=name)))


def _told() -> Func:
    return Func(
        F("live_evaluation__rule_trace"),
        Value(TOLD),
        function="jsonb_path_query_array",
        template="%(function)s(%(expressions)s::jsonpath)",
        output_field=JSONField(),
    )


def recommendations(scope: Scope) -> Behind[Run]:
    rows = finished(scope).filter(verdict=Verdict.ACCEPT)
    claims = sum((_claims(label) for label in LABELS[1:]), start=_claims(LABELS[0]))
    rows = rows.alias(claimed=claims, unconfirmed=_claims("recommendation_unconfirmed"))
    # As `passes_unconfirmed_recommendation` says it of one run.
    passes = Q(unconfirmed__gt=0, outcome__in=WHOLE_OUTCOMES)
    return Behind.split(rows.filter(claimed__gt=0), passes)


UNCONFIRMED_CLAIMS = Sum("unconfirmed")
"""In recommendations of accepted work, all of them."""


def _claims(name: str) -> Cast:
    return Cast(KeyTextTransform(name, "live_evaluation__claims"), IntegerField())
