"""The worker's side of a run: claim, climb, save each tier, finish in one transaction."""

from __future__ import annotations

import logging
import time
from functools import cache, partial
from typing import Any

from django.db import transaction
from django.utils import timezone
from psycopg.types.json import Jsonb

from loomverify.env import environment
from verification.adapters.custom import InstalledVerifiers
from verification.adapters.probe import ChildProbe
from verification.engine.climb import Case, Ports, climb
from verification.engine.gates import Gates
from verification.engine.outcome import COUNTING
from verification.engine.tiers import TierReport
from verification.engine.verifier import ENGINE_BUILD
from verification.runs import casting, events, leases, statements
from verification.runs.evidence_store import StoredWorkspace
from verification.runs.finish import finish
from verification.runs.gating.base import stored_base
from verification.runs.gating.ports import unreached
from verification.runs.gating.sandboxed import SandboxGates
from verification.runs.holding import LeaseLost
from verification.runs.judging import StoredJudge
from verification.runs.leases import HEART, Lease
from verification.runs.models import Evaluation
from verification.runs.work import Begun, Work

logger = logging.getLogger(__name__)


def work_on(run_id: int, *, in_sandbox: bool = False) -> None:
    """Evaluate a run if it is due and nobody else does. Never raises for one run's sake.

    `in_sandbox`: a Docker engine answers here, so that gates can be run.
    """
    with transaction.atomic():
        lease = leases.claim(run_id)
        begun = _begin(lease) if lease else None
    if lease is None or begun is None:
        return
    HEART.keep(lease)
    try:
        evaluate(lease, begun, in_sandbox=in_sandbox)
    except LeaseLost:
        logger.info("lease_lost run=%s fence=%s", lease.run_id, lease.fence)
    except Exception as error:
        logger.exception("evaluation_failed run=%s fence=%s", lease.run_id, lease.fence)
        leases.give_back(lease, error=error)
    finally:
        HEART.drop(lease)


def evaluate(lease: Lease, begun: Begun, *, in_sandbox: bool = False) -> None:
    """Climb from where the last worker was lost, and finish."""
    if lease.claims > leases.MAX_CLAIMS:
        leases.give_up(lease, f"The verifier was lost {lease.claims - 1} times on this run.")
        return
    work, case, ports, judge = _load(lease, begun, in_sandbox=in_sandbox)
    done = [] if lease.is_first else casting.saved_tiers(begun)
    started = time.monotonic()
    found = climb(case, ports, done)
    casting.keep_each(found, judge, done, save=partial(_save_tier, lease, begun))
    duration_ms = round((time.monotonic() - started) * 1000)
    finish(
        lease,
        work,
        begun,
        case,
        done,
        duration_ms=duration_ms,
        retry_after=judge.retry_after,
    )


def _begin(lease: Lease) -> Begun:
    """The evaluation this lease works on: the one begun before, or a new one."""
    statement = statements.BEGIN_EVALUATION
    if not lease.is_first:
        evaluations = Evaluation.objects.filter(run=lease.run_id, purpose__in=COUNTING)
        fields = ("finished_at", "pk", "uuid", "purpose", "process_version_id")
        # An earlier one that was given up is not taken up again.
        last = evaluations.order_by("-id").values_list(*fields, "verifier_version_id").first()
        if last and last[0] is None:
            return Begun(*last[1:])
        if last:
            statement = statements.BEGIN_REVERIFICATION
    build = {"engine_build": ENGINE_BUILD}
    row = statements.one(statement, run=lease.run_id, now=timezone.now(), **build)
    if row is None:
        raise LeaseLost(f"run {lease.run_id} was deleted")
    return Begun(*row)


def _load(lease: Lease, begun: Begun, *, in_sandbox: bool) -> tuple[Work, Case, Ports, StoredJudge]:
    row = statements.one(statements.LOAD, run=lease.run_id)
    if row is None:
        raise LeaseLost(f"run {lease.run_id} was deleted")
    work, files = Work(*row[:-1]), row[-1] or {}
    case = casting.case_of(work, files, begun)
    judge = casting.judge_of(lease, work, begun)
    workspace = StoredWorkspace(work.project_uuid, files)
    gates: Gates | None = None
    if case.phase.gates:
        if in_sandbox and environment().sandbox != "off":
            gates = SandboxGates(work, begun, files, workspace, lease, probe().code_lines)
        else:
            gates = unreached(case)
    base = stored_base(work)
    ports = Ports(workspace, probe(), time.monotonic, judge, custom(), gates, base)
    return work, case, ports, judge


def _save_tier(lease: Lease, begun: Begun, report: TierReport) -> None:
    """Save a tier if the lease still holds, and lengthen the lease.

    Raises:
        LeaseLost: another worker holds the run.
    """
    held = events.numbered_anew(
        partial(statements.one, statements.SAVE_TIER, **_saved(lease, begun, report))
    )
    if held == (0,):
        raise LeaseLost(f"run {lease.run_id} fence {lease.fence}")


def _saved(lease: Lease, begun: Begun, report: TierReport) -> dict[str, Any]:
    now = timezone.now()
    return {
        "run": lease.run_id,
        "fence": lease.fence,
        "until": leases.until(now),
        "now": now,
        "evaluation": begun.evaluation_id,
        "tier": report.tier,
        "status": report.status,
        "model": report.model,
        "calls": report.calls,
        "cached": report.cached,
        "recovery": report.recovery,
        "prompt_tokens": report.prompt_tokens,
        "completion_tokens": report.completion_tokens,
        "cost_usd": report.cost_usd,
        "duration_ms": report.duration_ms,
        "detail": report.detail[:500],
        "result": Jsonb(report.to_json()),
        "told": Jsonb({"tier": report.tier, "status": report.status}),
    }


@cache
def probe() -> ChildProbe:
    return ChildProbe()


@cache
def custom() -> InstalledVerifiers:
    env = environment()
    return InstalledVerifiers(dict(env.verifiers), seconds=env.verifier_seconds)
