"""Evaluations beside a run become rows: many that asked nobody at once, others as they go on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone
from psycopg.types.json import Jsonb

from verification.engine.outcome import Purpose
from verification.engine.tiers import TierReport
from verification.engine.verifier import ENGINE_BUILD
from verification.runs import keeping, statements
from verification.runs.beside.evaluating import Evaluated, Loaded, evaluate
from verification.runs.beside.looking import BegunBefore, Key, Wanted, begun_before
from verification.runs.ending import evaluated as ended
from verification.runs.holding import Hold, LeaseLost
from verification.runs.keeping import Kept, keep_all
from verification.runs.models import Evaluation, Run, TierResult
from verification.runs.work import Begun

# One JSON text for all rows: arrays of texts, as `bulk_create` sends them, cost more than the rest.
_EVALUATIONS = """
    insert into runs_evaluation (
        uuid, run_id, purpose, trial_id, seq, process_version_id, verifier_version_id,
        engine_build, outcome, verdict, reason_code, severity_class, confidence, vote_share,
        confidence_level, action, retry_strategy, tier_achieved, rule_trace, feedback, claims,
        claim_list, cost_usd, duration_ms, started_at, finished_at
    )
    select gen_random_uuid(), run_id, purpose, trial_id, seq, process_version_id,
           verifier_version_id, engine_build, outcome, verdict, reason_code, severity_class,
           confidence, vote_share, confidence_level, action, retry_strategy, tier_achieved, rule_trace,
           feedback, claims, claim_list, 0, duration_ms, started_at, finished_at
    from jsonb_to_recordset(%(rows)s) as new (
        run_id bigint, purpose text, trial_id bigint, seq int, process_version_id bigint,
        verifier_version_id bigint, engine_build text, outcome text, verdict text,
        reason_code text, severity_class text, confidence float, vote_share float, confidence_level text,
        action text, retry_strategy text, tier_achieved int, rule_trace jsonb, feedback jsonb,
        claims jsonb, claim_list jsonb, duration_ms int, started_at timestamptz,
        finished_at timestamptz
    )
    returning id, run_id, purpose, seq
"""
_TIERS = """
    insert into runs_tierresult (
        evaluation_id, tier, status, model, calls, cached, recovery, prompt_tokens,
        completion_tokens, cost_usd, duration_ms, detail, result
    )
    select evaluation_id, tier, status, model, calls, cached, recovery, prompt_tokens,
           completion_tokens, cost_usd, duration_ms, left(detail, 500), result
    from jsonb_to_recordset(%(rows)s) as new (
        evaluation_id bigint, tier int, status text, model text, calls int, cached int,
        recovery text, prompt_tokens int, completion_tokens int, cost_usd numeric,
        duration_ms int, detail text, result jsonb
    )
"""


def keep_texts(made: Sequence[Evaluated]) -> None:
    """Store what evaluations wrote, before the transaction that names it."""
    for one in made:
        keeping.keep_texts(one.loaded.work, one.conclusion.artefacts)


def store(made: Sequence[Evaluated]) -> dict[Key, int]:
    """Write evaluations that have ended, all at once; return their rows' ids.

    Call it in the transaction that holds what they are for, and their runs.
    """
    if not made:
        return {}
    now = timezone.now().isoformat()
    rows = [
        {
            "run_id": one.wanted.run_id,
            **_named(one.wanted),
            **_columns(one),
            "started_at": one.started_at.isoformat(),
            "finished_at": now,
        }
        for one in made
    ]
    stored = statements.rows(_EVALUATIONS, rows=Jsonb(rows))
    ids = {(run, Purpose(purpose), seq): pk for pk, run, purpose, seq in stored}
    _keep([(ids[one.wanted.key], one) for one in made])
    tiers = [
        {**report.to_json(), "evaluation_id": ids[one.wanted.key], "result": report.to_json()}
        for one in made
        for report in one.reports
    ]
    statements.run(_TIERS, rows=Jsonb(tiers))
    return ids


def work_out(
    wanted: Wanted, loaded: Loaded, hold: Hold, *, tier: int, error: str = ""
) -> tuple[int, Evaluated | None]:
    """Evaluate step by step, from where the last worker was lost; return the row's id.

    Each tier is stored as it ends, and every call as it was made: what was paid for is heard
    again. None: another worker had finished it. `error`: it is not to be tried any more.

    Raises:
        LeaseLost: the work is no longer ours.
    """
    before = _begin(wanted)
    if before.is_finished:
        return before.evaluation_id, None
    begun = Begun(
        before.evaluation_id,
        before.uuid,
        wanted.purpose,
        wanted.process_version_id,
        wanted.verifier_version_id,
    )

    def save(report: TierReport) -> None:
        with transaction.atomic():
            hold.check()
            rows = [_tier(before.evaluation_id, report)]
            TierResult.objects.bulk_create(rows, ignore_conflicts=True)

    made = evaluate(wanted, loaded, hold, tier=tier, begun=begun, save=save, error=error)
    keep_texts([made])
    return before.evaluation_id, made if _finish(before, made, hold) else None


def _begin(wanted: Wanted) -> BegunBefore:
    """The row of an evaluation: the one begun before, or a new one."""
    row = Evaluation(
        run_id=wanted.run_id,
        **_named(wanted),
        engine_build=ENGINE_BUILD,
        started_at=timezone.now(),
    )
    try:
        with transaction.atomic():
            Evaluation.objects.bulk_create([row], ignore_conflicts=True)
            if wanted.after and (begun := _begun(wanted)) and not begun.is_finished:
                carried = {"evaluation": begun.evaluation_id, "after": wanted.after}
                statements.run(statements.CARRY_BESIDE, **carried)
    except IntegrityError as error:
        raise LeaseLost(f"run {wanted.run_id} was deleted") from error
    found = _begun(wanted)
    if found is None:
        raise LeaseLost(f"run {wanted.run_id} was deleted")
    return found


def _begun(wanted: Wanted) -> BegunBefore | None:
    return begun_before(wanted.trial_id, [wanted.run_id]).get(wanted.key)


def _finish(before: BegunBefore, made: Evaluated, hold: Hold) -> bool:
    """Write the end of an evaluation. False: another worker has ended it."""
    with transaction.atomic():
        hold.check()
        rows = Evaluation.objects.filter(pk=before.evaluation_id, finished_at__isnull=True)
        won = rows.update(finished_at=timezone.now(), **_columns(made)) == 1
        if won:
            _keep([(before.evaluation_id, made)])
            told = [_tier(before.evaluation_id, report) for report in made.reports]
            TierResult.objects.bulk_create(told, ignore_conflicts=True)
    return won


def _named(wanted: Wanted) -> dict[str, Any]:
    return {
        "purpose": wanted.purpose,
        "trial_id": wanted.trial_id,
        "seq": wanted.seq,
        "process_version_id": wanted.process_version_id,
        "verifier_version_id": wanted.verifier_version_id,
    }


def _columns(made: Evaluated) -> Mapping[str, Any]:
    return {
        **ended(made.conclusion, made.said),
        "duration_ms": made.duration_ms,
    }


def _keep(made: Sequence[tuple[int, Evaluated]]) -> None:
    keep_all(
        [
            Kept(one.loaded.work, pk, one.wanted.process_version_id, one.conclusion)
            for pk, one in made
        ]
    )


def _tier(evaluation_id: int, report: TierReport) -> TierResult:
    return TierResult(
        evaluation_id=evaluation_id,
        tier=report.tier,
        status=report.status,
        model=report.model,
        calls=report.calls,
        cached=report.cached,
        recovery=report.recovery,
        prompt_tokens=report.prompt_tokens,
        completion_tokens=report.completion_tokens,
        cost_usd=report.cost_usd,
        duration_ms=report.duration_ms,
        detail=report.detail[:500],
        result=report.to_json(),
    )


def still_there(run_ids: Sequence[int]) -> set[int]:
    """Hold these runs' rows until the transaction ends, always in the same order."""
    rows = Run.objects.filter(pk__in=list(run_ids)).order_by("pk")
    return set(rows.select_for_update(no_key=True).values_list("pk", flat=True))
