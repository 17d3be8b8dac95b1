"""What must come of a case that is made from a run."""

from __future__ import annotations

from typing import Any

from verification.engine.outcome import Outcome
from verification.golden.documents.schemas import MAX_EXPECTED
from verification.reviews.effects import verdict_of
from verification.reviews.models import FindingLabel
from verification.runs.models import Evaluation, Finding, ReviewState, Run


def expected_of(run: Run, evaluation: Evaluation, outcome: str | None = None) -> dict[str, Any]:
    """What people made of the run, else what the verifier did.

    Where people saw it otherwise, the verifier's reasons are expected no more, and of its findings
    only those that they found right. A finding that they found wrong must not come again.
    """
    decided = outcome or (run.final_outcome if is_decided(run) else "")
    wanted = decided or run.outcome or ""
    verdict = verdict_of(decided) if decided else run.verdict
    is_as_judged = (wanted, verdict) == (run.outcome, run.verdict)
    expected: dict[str, Any] = {"outcome": str(Outcome(wanted)), "verdict": str(verdict)}
    if is_as_judged:
        expected["reason_code"] = evaluation.reason_code
        expected["severity_class"] = evaluation.severity_class or None
        if evaluation.retry_strategy:
            expected["retry_strategy"] = evaluation.retry_strategy
    if findings := _findings(evaluation, is_as_judged=is_as_judged):
        expected["findings"] = findings
    if is_as_judged and run.submission.body.get("claims") and evaluation.claims:
        expected["claims"] = dict(evaluation.claims)
    return expected


def is_decided(run: Run) -> bool:
    """Whether a person's word stands beside the verifier's."""
    return run.review_state == ReviewState.DECIDED


def _findings(evaluation: Evaluation, *, is_as_judged: bool) -> dict[str, Any]:
    labels = _labels(evaluation)
    rows = list(Finding.objects.filter(evaluation=evaluation).order_by("position", "pk"))
    must = [one for one in rows if labels.get(one.pk, is_as_judged)]
    must_not = [one for one in rows if labels.get(one.pk) is False]
    named = {
        "must": [_named(one) for one in must[:MAX_EXPECTED]],
        "must_not": [_named(one, by_quote=True) for one in must_not[:MAX_EXPECTED]],
    }
    return {name: found for name, found in named.items() if found}


def _labels(evaluation: Evaluation) -> dict[int, bool]:
    """Whether people found a finding right; the last word counts."""
    said = FindingLabel.objects.filter(
        finding__evaluation=evaluation,
        decision__settled_at__isnull=False,
        decision__undone_at__isnull=True,
    )
    return dict(said.order_by("decision__round", "pk").values_list("finding", "is_right"))


def _named(finding: Finding, *, by_quote: bool = False) -> dict[str, Any]:
    """A wrong finding is known by its quote too: the same rule may be right elsewhere."""
    told: dict[str, Any] = {"rule": finding.rule, "reason_code": finding.reason_code}
    if finding.path:
        told["path"] = finding.path
    if by_quote and finding.quote:
        told["quote"] = finding.quote[:2000]
    return told
