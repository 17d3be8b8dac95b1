"""The cutover and the way back: each one transaction, and on the audit page."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from loomverify.accounts.access import Access
from loomverify.accounts.audit import record
from loomverify.accounts.models import Project, Role
from loomverify.errors import Conflict, InputError
from processes.models import Process, ProcessVersion
from processes.services import versions
from processes.services.versions import lock_versions
from verification.engine.cutover import Gate, GateState
from verification.golden.guards.words import NAME
from verification.runs.storable import storable
from verification.trials import selectors
from verification.trials.models import StopReason, Trial, TrialState
from verification.trials.promoted import judging_now, replaced_by
from verification.trials.rendering import gate_out
from verification.trials.services.cutovers import Cutover, cutover_of, heard_already
from verification.trials.services.starting import Sides, Terms, lock, store
from verification.trials.services.stopping import close
from verification.trials.wording import gate_in_words, lacking
from verification.verifiers import services as verifiers

WATCH_DAYS = 14
LONGEST_WATCH_DAYS = 90
MAX_REASON = 1_000


def promote(
    *,
    access: Access,
    trial: Trial,
    reason: str,
    override: bool = False,
    corpus_reason: str = "",
    watch_days: int = WATCH_DAYS,
) -> Trial:
    """Let the candidate judge runs from now on; the old one shadows it for a while.

    `override`: although the gate is not open; `reason` says why. `corpus_reason` is for the
    guards of activating and publishing, which hear of an unharmed corpus by themselves.

    Raises:
        InputError: `reason.missing`, `trial.watch_days`.
        Conflict: `trial.promoted`, `trial.live_changed`, `trial.already_live`,
            `trial.same_but_program`, `trial.same_but_standing`, `trial.gate_closed`,
            `trial.gate_insufficient_data`, and those of activating.
        Objected: a guard objects, and no `corpus_reason` is given.
        Forbidden: below admin.
    """
    access.need(Role.ADMIN)
    said = _reason(reason)
    if not 1 <= watch_days <= LONGEST_WATCH_DAYS:
        raise InputError(
            "trial.watch_days",
            f"The old one shadows from 1 to {LONGEST_WATCH_DAYS} days.",
            loc=("body", "watch_days"),
        )
    with transaction.atomic():
        row = _locked(access.project, trial)
        _refuse_over(row)
        cutover = cutover_of(row)
        gate = selectors.gate_of(row)
        is_override = _check_gate(gate, override=override)
        heard = "" if corpus_reason else heard_already(row, cutover, gate)
        _go_live(access, cutover, said, corpus_reason, heard)
        _promoted(access, row, cutover, gate, said, is_override=is_override)
        _watch(access, row, cutover, watch_days)
    trial.refresh_from_db()
    return trial


def roll_back(*, access: Access, trial: Trial, reason: str) -> Trial:
    """Let judge again what did before the promotion. No guard stands in the way back.

    Raises:
        InputError: `reason.missing`.
        Conflict: `trial.not_promoted`, `trial.live_changed`, `verifier.judge_removed`.
        Forbidden: below admin.
    """
    access.need(Role.ADMIN)
    said = _reason(reason)
    with transaction.atomic():
        row = _locked(access.project, trial)
        if row.state != TrialState.PROMOTED:
            raise Conflict("trial.not_promoted", "Nothing of this trial judges runs.")
        _go_back(access, row, said)
        row.state, row.rolled_back_at = TrialState.ROLLED_BACK, timezone.now()
        row.save(update_fields=["state", "rolled_back_at"])
        diff = {"state": [TrialState.PROMOTED.value, TrialState.ROLLED_BACK.value]}
        record(access.actor, "trial.rolled_back", row, project=row.project, diff=diff, reason=said)
        watch = Trial.objects.filter(watches=row).select_related("project").first()
        if watch is not None:
            close(
                watch,
                state=TrialState.STOPPED,
                reason=StopReason.PERSON,
                text=f"The cutover was rolled back: {said}",
                actor=access.actor,
            )
    trial.refresh_from_db()
    return trial


def _reason(given: str) -> str:
    said: str = storable(given).strip()[:MAX_REASON]
    if not said:
        raise InputError("reason.missing", "Say why.", loc=("body", "reason"))
    return said


def _locked(project: Project, trial: Trial) -> Trial:
    """The trial as it is now. Locks come in the order in which publishing takes them."""
    lock_versions(project)
    verifiers.lock(project)
    lock(project)
    rows = Trial.objects.select_for_update(of=("self",)).select_related(*selectors.RELATED)
    return rows.filter(project=project).get(pk=trial.pk)


def _refuse_over(trial: Trial) -> None:
    if trial.promoted_at is not None:
        raise Conflict("trial.promoted", "The candidate of this trial was promoted already.")


def _check_gate(gate: Gate, *, override: bool) -> bool:
    """Whether it needs the override that is given."""
    if gate.state is GateState.OPEN:
        return False
    if not override:
        raise Conflict(
            f"trial.gate_{gate.state.value}",
            f"The cutover criteria do not all hold. {lacking(gate)} "
            "To go on all the same, promote with an override and say why.",
        )
    return True


def _go_live(access: Access, cutover: Cutover, reason: str, corpus_reason: str, heard: str) -> None:
    """`heard` is what the gate's replay of the corpus answers; other guards ask for themselves."""
    if cutover.process:
        before, after = cutover.process
        _publish(access, after, before.number, reason, corpus_reason, heard=heard)
    if cutover.verifier:
        _activate(access, cutover.verifier[1].number, reason, corpus_reason or heard)


def _go_back(access: Access, trial: Trial, reason: str) -> None:
    changed = replaced_by(trial, judging_now([trial]))
    if changed:
        raise Conflict("trial.live_changed", changed)
    kept = trial.promotion
    why = f"Roll-back: {reason}"
    if "process" in kept:
        process = Process.objects.get(project=trial.project, slug=kept["process"]["slug"])
        version = process.versions.get(number=kept["process"]["before"])
        _publish(access, version, kept["process"]["after"], reason, why)
    if "verifier" in kept:
        _activate(access, kept["verifier"]["before"], reason, why)


def _publish(
    access: Access,
    version: ProcessVersion,
    instead_of: int,
    reason: str,
    corpus_reason: str,
    *,
    heard: str = "",
) -> None:
    versions.publish(
        process=version.process,
        number=version.number,
        actor=access.actor,
        reason=reason,
        instead_of=instead_of,
        corpus_reason=corpus_reason,
        answered={NAME: heard},
    )


def _activate(access: Access, number: int, reason: str, corpus_reason: str) -> None:
    verifiers.activate(
        project=access.project,
        number=number,
        actor=access.actor,
        reason=reason,
        corpus_reason=corpus_reason,
    )


def _promoted(
    access: Access, row: Trial, cutover: Cutover, gate: Gate, reason: str, *, is_override: bool
) -> None:
    now, before = timezone.now(), row.state
    row.promotion = {
        **cutover.as_json(),
        "by": access.actor.name[:200],
        "reason": reason,
        "override": is_override,
        "gate": gate_out(gate),
    }
    row.stop_reason = StopReason.CUTOVER if row.is_running else row.stop_reason
    row.state, row.promoted_at = TrialState.PROMOTED, now
    row.finished_at = row.finished_at or now
    row.save(update_fields=["state", "stop_reason", "promoted_at", "finished_at", "promotion"])
    diff: dict[str, list[Any]] = {
        "state": [before, TrialState.PROMOTED.value],
        "gate": [None, gate_in_words(gate)],
    }
    diff |= {what: [kept["before"], kept["after"]] for what, kept in cutover.as_json().items()}
    if is_override:
        diff["override"] = [None, reason]
    record(access.actor, "trial.promoted", row, project=row.project, diff=diff, reason=reason)


def _watch(access: Access, row: Trial, cutover: Cutover, days: int) -> None:
    """The same sides go on beside each other; what was the baseline is the shadow now."""
    old = cutover.process[0] if cutover.process else row.baseline_process_version
    sides = Sides(row.baseline_verifier, row.candidate_verifier, old, row.candidate_process_version)
    terms = Terms(
        sample_rate=row.sample_rate,
        aa_rate=0.0,
        budget_usd=row.budget_usd,
        ends_at=timezone.now() + timedelta(days=days),
        title=f"After the cutover: {row.title}",
    )
    store(row.project, access.actor, sides, terms, process=row.process, watches=row)
