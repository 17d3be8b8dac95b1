"""What people make of an action: let it be done, or not."""

from __future__ import annotations

from uuid import UUID

from django.db import transaction
from django.utils import timezone

from loomverify.accounts.access import Actor
from loomverify.accounts.audit import record
from loomverify.accounts.models import Project
from loomverify.errors import Conflict, NotFound
from verification.actions.landing.opening import evidence_of
from verification.actions.models import Action, ActionKind, ActionState
from verification.engine.outcome import Outcome
from verification.runs.intake.redaction import redacted_text

APPROVABLE = (ActionState.PROPOSED, ActionState.HELD)
MAX_REASON = 500


def approve(*, project: Project, actor: Actor, action_id: UUID) -> Action:
    """Let a proposed action be done, or one that was held be tried again.

    Raises:
        NotFound: this project has no such action.
        Conflict: `action.over`, nobody waits for a word about it; `action.overtaken`, a person has
            decided otherwise about its run.
    """
    rows = Action.objects.select_related(
        "change__run__process", "change__run__process_version", "change__run__verifier_version",
        "change__run__live_evaluation__verifier_version",
    )  # fmt: skip
    action = rows.filter(project=project, uuid=action_id).first()
    if action and _is_overtaken(action):
        raise Conflict("action.overtaken", "A person has decided otherwise about its run.")
    return _decided(
        project, actor, action_id, "action.approved",
        state=ActionState.PENDING, reason_code="", detail="", attempts=0,
        next_at=timezone.now(), finished_at=None,
        evidence=evidence_of(action.change.run) if action else {},
    )  # fmt: skip


def decline(*, project: Project, actor: Actor, action_id: UUID, reason: str = "") -> Action:
    """Say that an action is not to be done. The verdict stays as it is.

    Raises:
        NotFound: this project has no such action.
        Conflict: `action.over`.
    """
    detail = redacted_text(project, reason.replace("\x00", "\ufffd"))[:MAX_REASON]
    return _decided(
        project, actor, action_id, "action.declined",
        state=ActionState.DECLINED, reason_code="declined", detail=detail,
        finished_at=timezone.now(),
    )  # fmt: skip


def _is_overtaken(action: Action) -> bool:
    """Whether a decision that the relay has not handed on yet asks for the contrary."""
    run = action.change.run
    if run.review_state != "decided" or action.kind == ActionKind.CLOSE:
        return False
    return (run.final_outcome == Outcome.FAIL) != (action.kind == ActionKind.REVERT)


def _decided(
    project: Project, actor: Actor, action_id: UUID, verb: str, **columns: object
) -> Action:
    with transaction.atomic():
        rows = Action.objects.filter(project=project, uuid=action_id)
        waiting = rows.filter(state__in=APPROVABLE)
        decided = {"decided_by": actor.name[:200], "decided_at": timezone.now()}
        won = waiting.update(**columns, **decided, lease_until=None) == 1
        action = rows.select_related("change__repository", "change__run").first()
        if action is None:
            raise NotFound("action.unknown", "This project has no such action.")
        if not won:
            raise Conflict("action.over", f"It is {action.get_state_display().lower()} already.")
        record(actor, verb, action, project=project, reason=action.detail)
    return action
