"""What follows where an action cannot be done: the work is verified again, or a person is asked."""

from __future__ import annotations

from functools import partial
from typing import Any

from pydantic import ValidationError

from loomverify.accounts.access import SYSTEM, Access
from loomverify.accounts.models import Role
from verification.actions.landing.opening import (
    MODES,
    ask_a_person,
    open_action,
)
from verification.actions.landing.standing import standing_of
from verification.actions.landing.steps import mirror_for, verified_tree
from verification.actions.models import Action, ActionKind, ActionState, Change, Mode
from verification.engine.landing import MAX_REVERIFICATIONS
from verification.runs.intake.request import submit
from verification.runs.intake.schemas import MAX_TEXT, RunIn
from verification.runs.models import Run


def to_a_person(action: Action, reason_code: str, detail: str) -> dict[str, Any]:
    """Hold an action; what could not land is kept on a review branch, and a person is asked."""
    return {
        "state": ActionState.HELD,
        "reason_code": reason_code,
        "detail": detail,
        "after": partial(_ask, action, detail),
    }


def _ask(action: Action, why: str) -> None:
    change = action.change
    lands = action.kind in (ActionKind.COMMIT, ActionKind.RESTORE)
    if lands and not standing_of(change).has_landed:
        does = getattr(change.repository, MODES[ActionKind.REVIEW_BRANCH]) == Mode.DO
        state = ActionState.PENDING if does else ActionState.PROPOSED
        open_action(change, ActionKind.REVIEW_BRANCH, state=state, again=True)
    ask_a_person(change, why)


def verify_again(action: Action, tip: str | None) -> dict[str, Any]:
    """Put the work upon what the target branch holds now, and submit it as a run of its own.

    Raises:
        Conflicted: a person has to put it there.
        InputError: it cannot be submitted.
    """
    change = action.change
    if tip is None:
        return to_a_person(action, "branch_missing", "The target branch is not there.")
    if _moves(change) >= MAX_REVERIFICATIONS:
        detail = f"The target branch moved {MAX_REVERIFICATIONS} times while it was verified."
        return to_a_person(action, "base_moved", detail)
    mirror = mirror_for(action)
    mirror.resolve(change.repository.target_branch)
    verified_tree(action, mirror)
    tree = mirror.rebased(change.base_sha, change.tree_sha, tip)
    tip_tree = mirror.tree_of(tip)
    if tree == tip_tree:
        detail = "The target branch holds all of it already."
        return {"state": ActionState.DONE, "detail": detail, "new_sha": ""}
    patch = mirror.patch_of(tip_tree, tree)
    if len(patch) > MAX_TEXT or not _is_text(patch):
        return to_a_person(action, "base_moved", "It cannot be submitted again by itself.")
    try:
        run = _submitted(action, tip, patch)
    except ValidationError:  # redaction makes texts longer
        return to_a_person(action, "base_moved", "It cannot be submitted again by itself.")
    return {
        "state": ActionState.WITHDRAWN,
        "reason_code": "base_moved",
        "detail": f"The target branch moved to {tip[:12]}; verified again as run {run.uuid}.",
    }


def _is_text(patch: bytes) -> bool:
    try:
        patch.decode()
    except UnicodeDecodeError:
        return False
    return True


def _moves(change: Change) -> int:
    moves, earlier = 0, change.follows
    while earlier is not None:
        moves, earlier = moves + 1, earlier.follows
    return moves


def _submitted(action: Action, tip: str, patch: bytes) -> Run:
    """The same submission with the work upon another base; submitted once, however often asked."""
    change = action.change
    body = {
        name: value
        for name, value in change.run.submission.body.items()
        if name in RunIn.model_fields
    }
    body |= {
        "diff": None,
        "remediation": None,
        "process_version": change.run.process_version.number,
        "change": {
            "repository": change.repository.name,
            "base": tip,
            "patch": patch.decode(),
        },
    }
    access = Access(action.project, Role.AGENT, SYSTEM)
    submitted = submit(
        access,
        RunIn.model_validate(body),
        sha256="",
        idempotency_key=f"action {action.uuid} on {tip}",
    )
    Change.objects.filter(run=submitted.run, follows__isnull=True).update(follows=change)
    return submitted.run
