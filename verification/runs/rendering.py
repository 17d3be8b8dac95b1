"""From rows to the HTTP contract's answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.db.models import Prefetch, QuerySet
from django.urls import reverse

from verification.engine.claims.labels import totals_of
from verification.engine.outcome import Action, Verdict
from verification.runs import judged_schemas, schemas
from verification.runs.gating import rendering as gates
from verification.runs.gating.selectors import shown_rows
from verification.runs.models import (
    Evaluation,
    Event,
    Finding,
    GateResult,
    Review,
    Run,
    TierResult,
)
from verification.runs.undecided import undecided

SUMMARY_RELATIONS = ("process", "process_version", "verifier_version", "task")
"""Not one more: PostgreSQL plans seven joins for longer than it runs them."""
HEAVY_FIELDS = ("search", "process_version__source_text", "process__description")


def summaries(rows: QuerySet[Run]) -> QuerySet[Run]:
    """Load with each run what `summary` shows."""
    return rows.select_related(*SUMMARY_RELATIONS).prefetch_related("project").defer(*HEAVY_FIELDS)


def whole(rows: QuerySet[Run]) -> QuerySet[Run]:
    """Load with each run what `full` shows."""
    findings = Finding.objects.order_by("tier", "position")
    return summaries(rows).prefetch_related(
        Prefetch("live_evaluation__findings", queryset=findings),
        Prefetch("live_evaluation__tiers", queryset=TierResult.objects.order_by("tier")),
        Prefetch("live_evaluation__gates", queryset=shown_rows(GateResult)),
    )


def run_url(run: Run) -> str:
    path = reverse("run_detail", kwargs={"project": run.project.slug, "run": run.uuid})
    return f"{settings.BASE_URL}{path}"


def api_url(name: str, **parts: object) -> str:
    path = reverse(f"api:{name}", kwargs=parts)
    return f"{settings.BASE_URL}{path}"


def usd(amount: Decimal) -> str:
    return f"{amount:.6f}"


def summary(run: Run) -> schemas.RunSummary:
    return schemas.RunSummary(**_summary(run))


def full(run: Run) -> schemas.RunOut:
    live: Evaluation | None = run.live_evaluation
    said: dict[str, Any] = (live.feedback if live else None) or {"text": "", "items": []}
    return schemas.RunOut(
        **_summary(run),
        evaluation=live.uuid if live else None,
        purpose=live.purpose if live else None,
        result=run.result,
        error=run.error_text or None,
        feedback=schemas.FeedbackOut.model_validate(said),
        findings=findings(live.findings.all(), said) if live else [],
        rules=_rules(live),
        tiers=[_tier(tier) for tier in live.tiers.all()] if live else [],
        gates=[gates.gate(gate, run, live) for gate in live.gates.all()] if live else [],
        running=gates.going(run),
        votes=_votes(live) if live and run.tier_requested > 2 else [],
        claims=judged_schemas.ClaimCountsOut(**((live.claims if live else None) or totals_of(()))),
        claim_list=[judged_schemas.ClaimOut(**one) for one in live.claim_list] if live else [],
        artefacts=_artefacts(run, live) if live and live.claim_list else [],
        undecided=_undecided(run),
        score=live.score if live else None,
        loop=live.loop if live else None,
        retry=schemas.RetryOut(
            strategy=run.retry_strategy or "none", rerun_execution=run.rerun_execution
        ),
        remediations=_remediations(run) if live else [],
        review=_review(run),
    )


def evaluation(row: Evaluation, run: Run) -> schemas.EvaluationOut:
    return schemas.EvaluationOut(
        id=row.uuid,
        purpose=row.purpose,
        seq=row.seq,
        is_live=row.pk == run.live_evaluation_id,
        outcome=row.outcome or None,
        verdict=row.verdict or None,
        reason_code=row.reason_code or None,
        severity_class=row.severity_class or None,
        confidence=row.confidence,
        vote_share=row.vote_share,
        confidence_level=row.confidence_level or None,
        tier_achieved=row.tier_achieved,
        process_version=row.process_version.number,
        verifier_version=row.verifier_version.number,
        engine_build=row.engine_build,
        cost_usd=usd(row.cost_usd),
        duration_ms=row.duration_ms,
        started_at=row.started_at,
        finished_at=row.finished_at,
    )


def whole_evaluation(row: Evaluation, run: Run) -> schemas.EvaluationWhole:
    """One pass of the engine with all that it found."""
    said: dict[str, Any] = row.feedback or {"text": "", "items": []}
    return schemas.EvaluationWhole(
        **dict(evaluation(row, run)),
        feedback=schemas.FeedbackOut.model_validate(said),
        findings=findings(row.findings.order_by("tier", "position"), said),
        rules=_rules(row),
        tiers=[_tier(one) for one in row.tiers.order_by("tier")],
        gates=[gates.gate(one, run, row) for one in shown_rows(GateResult).filter(evaluation=row)],
        votes=_votes(row),
        claims=judged_schemas.ClaimCountsOut(**(row.claims or totals_of(()))),
    )


def event(row: Event) -> schemas.EventOut:
    return schemas.EventOut(seq=row.seq, kind=row.kind, at=row.at, data=row.data)


def _summary(run: Run) -> dict[str, Any]:
    return {
        "id": run.uuid,
        "url": run_url(run),
        "state": run.state,
        "outcome": run.outcome,
        "verdict": run.verdict or None,
        "passed": Verdict(run.verdict).passed if run.verdict else None,
        "final_outcome": run.final_outcome or None,
        "confidence": run.confidence,
        "vote_share": run.vote_share,
        "confidence_level": run.confidence_level or None,
        "action": run.action or None,
        "reason_code": run.reason_code or None,
        "severity_class": run.severity_class or None,
        "tier_requested": run.tier_requested,
        "tier_achieved": run.tier_achieved,
        "process": run.process.slug,
        "process_version": run.process_version.number,
        "phase": run.phase_id,
        "verifier_version": run.verifier_version.number,
        "task": schemas.TaskOut(
            id=run.task.external_id,
            attempts_used=run.task.attempts_used,
            max_attempts=run.task.max_attempts,
            exhausted=run.task.exhausted,
            candidate_hash=run.candidate_sha256,
            repeats=run.task.repeats,
            last_outcome=run.task.last_outcome or None,
        ),
        "cost_usd": usd(run.cost_usd),
        "created_at": run.created_at,
        "finished_at": run.finished_at,
    }


def _rules(found: Evaluation | None) -> schemas.RulesOut:
    trace = found.rule_trace if found else []
    return schemas.RulesOut(
        applied=[entry for entry in trace if entry["applied"]],
        skipped=[entry for entry in trace if not entry["applied"]],
    )


def findings(
    rows: Iterable[Finding], feedback: Mapping[str, Any] | None
) -> list[schemas.FindingOut]:
    """Render findings, each with what the feedback says of it since the last attempt."""
    items = feedback["items"] if feedback else []
    since_last = {item.get("fingerprint"): item.get("since_last") for item in items}
    return [_finding(row, since_last.get(row.fingerprint)) for row in rows]


def _finding(row: Finding, since_last: str | None) -> schemas.FindingOut:
    return schemas.FindingOut(
        rule=row.rule,
        source=row.source,
        enforcement=row.enforcement,
        target=row.target or None,
        severity=row.severity or None,
        verdict=row.verdict,
        reason_code=row.reason_code,
        message=row.message,
        quote=row.quote or None,
        quote_verified=row.quote_verified,
        path=row.path or None,
        line=row.line,
        column=row.column,
        place=row.place,
        confidence=row.confidence,
        suggestion=row.suggestion or None,
        fingerprint=row.fingerprint,
        since_last=since_last,
    )


def _tier(row: Any) -> schemas.TierOut:
    return schemas.TierOut(
        tier=row.tier,
        status=row.status,
        model=row.model or None,
        calls=row.calls,
        cached=row.cached,
        recovery=row.recovery or None,
        prompt_tokens=row.prompt_tokens,
        completion_tokens=row.completion_tokens,
        cost_usd=usd(row.cost_usd),
        duration_ms=row.duration_ms,
        detail=row.detail,
    )


def _votes(live: Evaluation) -> list[judged_schemas.VoteOut]:
    return [
        judged_schemas.VoteOut(
            index=row.index,
            model=row.model,
            passed=row.passed,
            confidence=row.confidence,
            why=row.why,
        )
        for row in live.votes.order_by("index")
    ]


def _artefacts(run: Run, live: Evaluation) -> list[judged_schemas.ArtefactOut]:
    return [
        judged_schemas.ArtefactOut(
            id=row.uuid,
            kind=row.kind,
            path=row.path,
            url=api_url("download_artefact", run_id=run.uuid, artefact_id=row.uuid),
        )
        for row in live.artefacts.order_by("kind", "path")
    ]


def _undecided(run: Run) -> judged_schemas.UndecidedOut | None:
    found = undecided(run)
    if found is None:
        return None
    return judged_schemas.UndecidedOut(
        reason_code=found.reason_code or None,
        tries=found.tries,
        next_at=found.next_at,
        until=found.until,
    )


def _remediations(run: Run) -> list[judged_schemas.RemediationOut]:
    return [
        judged_schemas.RemediationOut(id=row.uuid, mode=row.mode, state=row.state)
        for row in run.remediations.order_by("id")
    ]


def _closed(run: Run, review: Review | None) -> str:
    if review and review.state in schemas.CLOSED_REVIEWS:
        return str(review.state)
    # A change opens a review with the end of its run.
    waits_for_nobody = review is None and run.action == Action.REVIEW_BRANCH
    return schemas.NO_CHANGE if waits_for_nobody else ""


def _review(run: Run) -> schemas.ReviewOut:
    """What was told of a decision; one that can still be undone, or waits for another, is not."""
    review = Review.objects.filter(run=run).first() if run.live_evaluation_id else None
    told = review.told if review and run.review_state == "decided" else {}
    return schemas.ReviewOut(
        state=run.review_state,
        closed=_closed(run, review),
        reasons=list(review.reasons) if review else [],
        outcome=(review.outcome or None) if review and told else None,
        passed=told.get("passed"),
        comment=told.get("comment", ""),
        by=told.get("by", []),
        findings=told.get("findings", {}),
        decided_at=review.decided_at if review and told else None,
    )
