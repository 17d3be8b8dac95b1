"""How a trial comes to take no further runs."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.utils import timezone

from loomverify.accounts.access import SYSTEM, Access, Actor
from loomverify.accounts.audit import record
from loomverify.accounts.models import Role
from loomverify.errors import Conflict
from verification.runs.storable import storable
from verification.trials.models import StopReason, Trial, TrialReplay, TrialState
from verification.trials.replays import services as replays
from verification.trials.services import telling

MAX_TEXT = 500
Diff = dict[str, list[Any]]
BY_ITSELF = (StopReason.BUDGET, StopReason.ERRORS, StopReason.LATENCY)
"""Somebody should hear of these."""


def stop(*, access: Access, trial: Trial, reason: str = "") -> bool:
    """Stop a trial and its replays; what was compared stays. False: it was over already.

    Raises:
        Conflict: `trial.standing`: it belongs to a flag of the verifier version.
        Forbidden: below editor; below admin where it watches a cutover, whose alarm ends with it.
    """
    access.need(Role.ADMIN if trial.watches_id else Role.EDITOR)
    if trial.is_standing and trial.is_running:
        raise Conflict(
            "trial.standing",
            "It runs because the active verifier version has the flag shadow_compare_enabled: "
            "activate one without it.",
        )
    with transaction.atomic():
        won = close(
            trial,
            state=TrialState.STOPPED,
            reason=StopReason.PERSON,
            text=reason,
            actor=access.actor,
        )
        open_ones = TrialReplay.objects.filter(trial=trial, finished_at=None)
        for uuid in open_ones.values_list("uuid", flat=True):
            replays.cancel(access=access, trial=trial, replay=uuid, why=_with_trial(access, reason))
    return won


def _with_trial(access: Access, reason: str) -> str:
    said = " ".join(storable(reason).split())
    return f"{access.actor.name} stopped the trial{f': {said}' if said else '.'}"


def close(
    trial: Trial, *, state: TrialState, reason: StopReason, text: str = "", actor: Actor = SYSTEM
) -> bool:
    """End a running trial, whoever comes first; it is in the audit log, and told where it matters.

    False: it was over already. `trial` is as stored afterwards.
    """
    now, said = timezone.now(), " ".join(storable(text).split())[:MAX_TEXT]
    with transaction.atomic():
        running = Trial.objects.filter(pk=trial.pk, state=TrialState.RUNNING)
        won = running.update(state=state, stop_reason=reason, stop_text=said, finished_at=now)
        if not won:
            return False
        trial.state, trial.stop_reason, trial.stop_text = state, reason, said
        trial.finished_at = now
        diff: Diff = {"state": [TrialState.RUNNING.value, state.value], "why": [None, reason.label]}
        record(actor, f"trial.{state.value}", trial, project=trial.project, diff=diff, reason=said)
        if reason in BY_ITSELF:
            telling.stopped(trial)
    return True
