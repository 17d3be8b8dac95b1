"""Live runs behind the targets. Those are counted that were submitted in the span and are over."""

from __future__ import annotations

from collections import defaultdict
from typing import cast

from django.db.models import (
    Count,
    Exists,
    F,
    FilteredRelation,
    Func,
    IntegerField,
    JSONField,
    OuterRef,
    Q,
    QuerySet,
    Sum,
    Value,
)
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast

from processes.models import PhaseRule
from verification.engine.outcome import FindingVerdict, Verdict
from verification.engine.protocol.reply import Stage
from verification.runs.models import Finding, Run, RunState
from verification.runs.selectors import ONLY, Only
from verification.trials.acceptance.behind import Behind
from verification.trials.acceptance.scope import Scope

JUDGED_TIER = 2
"""Only here is one answer read by stages: votes of tier 3 are counted as votes."""
TOLD = '$[*] ? ((@.applied == true || @.applied == false) && @.reason != "")'
"""Entries of a trace that say whether the rule applied, and why."""
LABELS = ("confirmed", "inferred", "unsupported")


def finished(scope: Scope) -> QuerySet[Run]:
    rows = Run.objects.filter(
        project=scope.project, state=RunState.FINISHED, created_at__gte=scope.since
    )
    return rows.filter(process=scope.process) if scope.process else rows


def unreadable(scope: Scope) -> Behind[Run]:
    """An evaluation has tier 2 once, so that no run is counted twice."""
    tier_2 = FilteredRelation(
        "live_evaluation__tiers", condition=Q(live_evaluation__tiers__tier=JUDGED_TIER)
    )
    rows = finished(scope).alias(judged=tier_2).filter(judged__recovery__in=list(Stage))
    return Behind.split(rows, Q(judged__recovery=Stage.UNREADABLE))


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
    versions: dict[int, list[int]] = defaultdict(list)
    for version, rules in _rules_by_version(scope):
        versions[rules].append(version)
    rows = finished(scope).alias(told=_told())
    has_rules = [one for found in versions.values() for one in found]
    whole = Q(pk__in=())
    for rules, found in versions.items():
        whole |= Q(live_evaluation__process_version__in=found, told__gte=rules)
    return Behind.split(rows.filter(live_evaluation__process_version__in=has_rules), whole)


def _rules_by_version(scope: Scope) -> list[tuple[int, int]]:
    rows = PhaseRule.objects.filter(process_version__process__project=scope.project)
    if scope.process:
        rows = rows.filter(process_version__process=scope.process)
    counted = rows.order_by().values_list("process_version")
    return list(counted.annotate(rules=Count("rule_version__rule", distinct=True)))


def _told() -> Func:
    entries = Func(
        F("live_evaluation__rule_trace"),
        Value(TOLD),
        function="jsonb_path_query_array",
        template="%(function)s(%(expressions)s::jsonpath)",
        output_field=JSONField(),
    )
    return Func(entries, function="jsonb_array_length", output_field=IntegerField())


def recommendations(scope: Scope) -> Behind[Run]:
    rows = finished(scope).filter(verdict=Verdict.ACCEPT)
    claims = sum((_claims(label) for label in LABELS[1:]), start=_claims(LABELS[0]))
    rows = rows.alias(claimed=claims, unconfirmed=_claims("recommendation_unconfirmed"))
    return Behind.split(rows.filter(claimed__gt=0), Q(unconfirmed__gt=0))


def unconfirmed_claims(scope: Scope) -> int:
    """In recommendations of accepted work, all of them. Asked for where there are any."""
    found = recommendations(scope).counted.aggregate(n=Sum(_claims("recommendation_unconfirmed")))
    return found["n"] or 0


def _claims(name: str) -> Cast:
    return Cast(KeyTextTransform(name, "live_evaluation__claims"), IntegerField())
