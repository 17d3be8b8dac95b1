"""What is held against the form of work alone. Source: docs/acceptance.md, "Structural"."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django.db.models import Exists, OuterRef, Q

from processes.definition.model import Enforcement
from verification.engine.outcome import FindingVerdict
from verification.engine.protocol.reply import Stage
from verification.runs.models import Finding, TierResult

FORM = (
    "tool_failed",
    "syntax_invalid",
    "incomplete_deliverable_placeholder",
    "rule_violated",
    "lint_failed",
    "changed_file_missing",
    "file_type_mismatch",
    "odd_payload",
    "tool_result_error",
    "unsupported_pattern",
    "legacy_unscoped",
)
"""Where tier 1 says so. A missing deliverable or a failed test is a fact, and none of these."""
UNREADABLE_REPLY = "llm_semantic_failed"
"""What legacy says of a reply that is not the JSON that was asked for."""
UNCONFIRMED = (
    "recommendation_unconfirmed",
    "unconfirmed_critical_path",
    "unconfirmed_above_threshold",
)
TIER_1 = 1


def is_structural(side: str) -> Q:
    """Of a comparison's side, `old` or `new`, that rejects: for its form.

    Without its evaluation, which is deleted with the run, the reason alone tells.
    """
    by_form = Q(**{f"{side}_reason__in": FORM})
    by_tier_1 = Q(**{f"{side}_evaluation": None}) | Q(
        **{f"{side}_evaluation__tier_achieved__lte": TIER_1}
    )
    unread = TierResult.objects.filter(
        evaluation=OuterRef(f"{side}_evaluation"), recovery=Stage.UNREADABLE
    )
    return by_form & by_tier_1 | Q(**{f"{side}_reason": UNREADABLE_REPLY}) & Q(Exists(unread))


def is_unconfirmed(side: str) -> Q:
    return Q(**{f"{side}_reason__in": UNCONFIRMED})


def counts_otherwise(side: str) -> Q:
    """Something else was held against it as well; what the judge could not say is nothing."""
    form = Q(reason_code__in=FORM, tier__lte=TIER_1) | Q(reason_code__in=UNCONFIRMED)
    others = Finding.objects.filter(
        evaluation=OuterRef(f"{side}_evaluation"),
        verdict=FindingVerdict.VIOLATED,
        enforcement=Enforcement.HARD,
    )
    unread = TierResult.objects.filter(evaluation=OuterRef("evaluation"), recovery=Stage.UNREADABLE)
    is_heard = ~Q(reason_code=UNREADABLE_REPLY) | ~Q(Exists(unread))
    return Q(Exists(others.exclude(form).filter(is_heard)))


def is_structural_replayed(reason: str, tiers: Iterable[Mapping[str, Any]]) -> bool:
    """The same of a golden case that the verifier rejected, from what its replay kept."""
    tiers = list(tiers)
    if reason == UNREADABLE_REPLY:
        return any(one.get("recovery") == Stage.UNREADABLE for one in tiers)
    highest = max((int(one.get("tier") or 0) for one in tiers), default=0)
    return reason in FORM and highest <= TIER_1


def is_structural_legacy(reason: str, played: Iterable[Mapping[str, Any]]) -> bool:
    """The same of one that legacy rejected: it reads nothing but strict JSON.

    `played` are the judge's answers, with the stage by which the verifier read each.
    """
    if reason == UNREADABLE_REPLY:
        return any(one.get("recovery") not in ("", None, Stage.STRICT) for one in played)
    return reason in FORM
