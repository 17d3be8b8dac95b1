"""Actions on their way: woken by the relay, done by workers, tried again, held for a person.

A wake-up names the attempt it is for: one that comes late or twice finds nothing to do.
"""

from __future__ import annotations

import logging
import random
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone
from kombu.exceptions import OperationalError

from loomverify.backoff import wait_seconds
from loomverify.celery import BULK, app
from loomverify.errors import InputError
from verification.actions.landing import braking, following, opening
from verification.actions.landing.opening import LOST
from verification.actions.landing.steps import Held, Planned, mirror_for, plan
from verification.actions.landing.telling import tell
from verification.actions.models import Action, ActionKind, ActionState
from verification.actions.repositories.taking import words_of
from verification.adapters.git import ChangeRefused, Conflicted, GitLost, Moved, PushRefused
from verification.runs import outbox
from verification.runs.evidence_store import EvidenceLost
from verification.runs.models import Run, RunState

logger = logging.getLogger(__name__)

ACT_TASK = "verification.actions.act"
MAX_ATTEMPTS = 8
LEASE_SECONDS = 300
SWEEP_BATCH = 100
WAKE_AGAIN_SECONDS = 10
FIRST_RETRY_SECONDS = 5.0
LONGEST_RETRY_SECONDS = 900.0
MESSAGE_LIFE_SECONDS = 600
DOUBTED_SECONDS = 15
"""A run that is verified again is waited for, however long that takes."""


class Doubted(Exception):
    """Its verdict does not count now."""


class Braked(Exception):
    """Its repository proposes only by now."""


class LeaseLost(Exception):
    """Another worker has the action, or it was taken back."""


def sweep() -> int:
    """Wake a worker for each action that is due; return how many. The relay calls this."""
    now = timezone.now()
    with transaction.atomic():
        due = list(
            Action.objects.select_for_update(skip_locked=True, of=("self",))
            .filter(state=ActionState.PENDING, next_at__lte=now)
            .order_by("next_at")
            .values_list("pk", "attempts")[:SWEEP_BATCH]
        )
        rows = Action.objects.filter(pk__in=[pk for pk, _ in due])
        rows.update(next_at=now + timedelta(seconds=WAKE_AGAIN_SECONDS))
    try:
        for pk, attempts in due:
            app.send_task(
                ACT_TASK, args=(pk, attempts + 1), queue=BULK, expires=MESSAGE_LIFE_SECONDS,
                retry=False,
            )  # fmt: skip
    except (OperationalError, OSError):
        logger.warning("actions_not_woken count=%d", len(due))
        return 0
    return len(due)


def act(*, action_id: int, attempt: int) -> ActionState | None:
    """Make one attempt at an action. None: another has it, or it is not for now."""
    action = _claim(action_id, attempt)
    if action is None:
        return None
    try:
        ended = _ended(action)
        is_doubted = ended.pop("is_doubted", False)
        if after := ended.pop("after", None):
            after()  # before the run is locked below: a review is locked before its run
        state = _settle(action, ended)
    except LeaseLost:
        logger.info("action_lease_lost action=%s", action.uuid)
        return None
    if state in (ActionState.DONE, ActionState.PROPOSED) or is_doubted:
        opening.reconsider(action.change_id)  # a person may have spoken while it was in our hands
    return state


def retry_delay_seconds(attempt: int, *, spread: float) -> float:
    """Wait after vain attempt number `attempt`: three times the one before, within bounds.

    `spread`, 0 to 1, moves it by up to a quarter either way.
    """
    return wait_seconds(
        attempt, first=FIRST_RETRY_SECONDS, times=3, longest=LONGEST_RETRY_SECONDS, spread=spread
    )


def _ended(action: Action) -> dict[str, Any]:
    """Try it, and return the columns that say how it ended."""
    if action.attempts > MAX_ATTEMPTS:
        return following.to_a_person(action, LOST, action.detail or "The last attempt was lost.")
    if action.change.repository.is_removed:
        return following.to_a_person(action, "repository_removed", "")
    try:
        return _done(action)
    except LeaseLost:
        raise
    except Exception as error:
        logger.exception("action_failed action=%s", action.uuid)
        return _later(action, f"It failed by itself: {type(error).__name__}.")


def _done(action: Action) -> dict[str, Any]:
    try:
        mirror = mirror_for(action)
        planned = plan(action, mirror)
        _write_down(action, planned)
        if planned.updates:
            lands = action.change.repository.lands_checked_out
            mirror.push(planned.updates, lands_checked_out=lands)
        return {"state": ActionState.DONE, "detail": planned.detail}
    except Doubted:
        return _doubted(action)
    except Braked:
        return {
            "state": ActionState.PROPOSED, "reason_code": braking.BRAKED, "detail": braking.WHY,
            "new_sha": "",
        }  # fmt: skip
    except (GitLost, EvidenceLost) as error:
        return _later(action, str(error))
    except (Moved, Conflicted, PushRefused, ChangeRefused, Held) as error:
        return _doubted(action) if _is_doubted(action) else _refused(action, error)


def _doubted(action: Action) -> dict[str, Any]:
    """It was looked for and is not there, so that what was written down of it is no more."""
    again = timezone.now() + timedelta(seconds=DOUBTED_SECONDS)
    return {
        "state": ActionState.PENDING, "detail": "The run is being verified again.",
        "next_at": again, "attempts": action.attempts - 1, "new_sha": "", "is_doubted": True,
    }  # fmt: skip


def _refused(action: Action, error: Exception) -> dict[str, Any]:
    """What keeps it from being done is not to pass by itself."""
    match error:
        case Moved():
            return _moved(action, error)
        case Conflicted():
            shown = ", ".join(error.paths[:5])
            return following.to_a_person(action, "conflict", f"It conflicts in {shown}.")
        case PushRefused():
            reason = "checked_out" if error.is_checked_out else "push_refused"
            return following.to_a_person(action, reason, str(error))
        case ChangeRefused():
            return following.to_a_person(action, "change_refused", words_of(error))
        case Held():
            return following.to_a_person(action, error.reason_code, error.detail)
    raise error


def _is_doubted(action: Action) -> bool:
    """Whether the run's state, evaluation or decision is not the one that the action rests on.

    Nothing lands by a verdict that somebody doubts, or that another one has replaced.
    """
    rows = Run.objects.select_related("live_evaluation").defer("search", "result")
    run = rows.get(pk=action.change.run_id)
    counts = str(run.live_evaluation.uuid) if run.live_evaluation else ""
    rests = (action.evidence["evaluation"], action.evidence["final_outcome"])
    return run.state != RunState.FINISHED or rests != (counts, run.final_outcome)


def _moved(action: Action, error: Moved) -> dict[str, Any]:
    """A base that moved is verified anew; a branch of ours that somebody moved is theirs."""
    if action.kind == ActionKind.REVERT:
        return _later(action, str(error))  # upon the new tip, at the next attempt
    if action.kind not in (ActionKind.COMMIT, ActionKind.RESTORE):
        return following.to_a_person(action, "ref_moved", str(error))
    try:
        return following.verify_again(action, error.found)
    except (GitLost, EvidenceLost) as lost:
        return _later(action, str(lost))
    except Held as held:
        return _refused(action, held)
    except Conflicted as conflict:
        shown = ", ".join(conflict.paths[:5])
        return following.to_a_person(
            action, "base_moved", f"The target branch moved, and it conflicts in {shown}."
        )
    except (InputError, ChangeRefused) as refused:
        return following.to_a_person(action, "base_moved", str(refused))


def _later(action: Action, detail: str) -> dict[str, Any]:
    if action.attempts >= MAX_ATTEMPTS:
        return following.to_a_person(action, LOST, detail)
    delay = retry_delay_seconds(action.attempts, spread=random.random())  # noqa: S311 - spreads load
    at = timezone.now() + timedelta(seconds=delay)
    return {"state": ActionState.PENDING, "detail": detail, "next_at": at}


def _claim(action_id: int, attempt: int) -> Action | None:
    now = timezone.now()
    until = now + timedelta(seconds=LEASE_SECONDS)
    free = Action.objects.filter(
        Q(lease_until__isnull=True) | Q(lease_until__lte=now),
        pk=action_id,
        state=ActionState.PENDING,
        attempts=attempt - 1,
    )
    if free.update(attempts=F("attempts") + 1, lease_until=until, next_at=until) == 0:
        return None
    rows = Action.objects.select_related(
        "project", "change__repository__project", "change__blob__project", "change__run__project",
        "change__run__task", "change__run__submission", "change__run__live_evaluation",
        "change__run__process_version",
    ).defer("change__run__search", "change__run__result")  # fmt: skip
    return rows.filter(pk=action_id).first()


def _write_down(action: Action, planned: Planned) -> None:
    """Say what is going to be pushed, before it is: who comes after a crash knows it again.

    Raises:
        LeaseLost: another worker has it.
        Doubted, Braked: its verdict does not count now, or it is only proposed by now. What is
            there already is so all the same.
    """
    if planned.updates and _is_doubted(action):
        raise Doubted
    if planned.updates and braking.must_wait(action):
        raise Braked
    held = Action.objects.filter(
        pk=action.pk, state=ActionState.PENDING, lease_until=action.lease_until
    )
    until = timezone.now() + timedelta(seconds=LEASE_SECONDS)
    columns = {
        "ref": planned.ref, "expected_sha": planned.expected, "new_sha": planned.new,
        "lease_until": until, "next_at": until,
    }  # fmt: skip
    if held.update(**columns) == 0:
        raise LeaseLost
    for name, value in columns.items():
        setattr(action, name, value)


TOPICS: dict[ActionState, str] = {
    ActionState.DONE: outbox.ACTION_TAKEN,
    ActionState.HELD: outbox.ACTION_HELD,
    ActionState.PROPOSED: outbox.ACTION_PROPOSED,
}
WAITING = (ActionState.PENDING, ActionState.PROPOSED)


def _settle(action: Action, ended: dict[str, Any]) -> ActionState:
    """Store how an attempt ended, unless its lease was lost meanwhile."""
    with transaction.atomic():
        if ended["state"] is ActionState.PROPOSED and not braking.must_wait(action, is_last=True):
            ended = {"state": ActionState.PENDING, "next_at": timezone.now(), "new_sha": ""}
        state: ActionState = ended["state"]
        columns = {
            "reason_code": "",
            **ended,
            "detail": ended.get("detail", "")[:500],
            "lease_until": None,
            "finished_at": None if state in WAITING else timezone.now(),
        }
        held = Action.objects.filter(
            pk=action.pk, state=ActionState.PENDING, lease_until=action.lease_until
        )
        if held.update(**columns) == 0:
            raise LeaseLost
        for name, value in columns.items():
            setattr(action, name, value)
        if state is ActionState.PROPOSED:
            braking.note(action)
        tell(action, TOPICS.get(state, ""))
    logger.info(
        "action_attempted action=%s kind=%s attempt=%d state=%s reason=%s",
        action.uuid, action.kind, action.attempts, state, action.reason_code,
    )  # fmt: skip
    return state
