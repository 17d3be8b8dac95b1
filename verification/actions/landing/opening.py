"""What a verdict, or a person's decision, asks of the repository: actions are opened here."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from loomverify.accounts.access import SYSTEM, Access
from loomverify.accounts.models import Role
from verification.actions.landing.telling import tell
from verification.actions.models import Action, ActionKind, ActionState, Change, ChangeKind, Mode
from verification.engine.landing import Landing, landing_of
from verification.engine.outcome import Action as Wanted
from verification.engine.outcome import Outcome
from verification.reviews.models import Decision
from verification.reviews.queue.asking import ask_about
from verification.reviews.rounds import name_of
from verification.runs import outbox
from verification.runs.flags import CHANGE_HELD
from verification.runs.models import OutboxEvent, Run, RunState

OPEN = (ActionState.PROPOSED, ActionState.PENDING, ActionState.HELD)
MODES = {
    ActionKind.COMMIT: "commit_mode",
    ActionKind.REVIEW_BRANCH: "branch_mode",
    ActionKind.REVERT: "revert_mode",
}


def on_event(event: OutboxEvent) -> None:
    """Act on a run's end and on what people make of it. The relay calls this in its transaction."""
    if event.run_id is None or event.topic not in (outbox.RUN_FINISHED, outbox.RUN_DECIDED):
        return
    rows = Change.objects.select_related("repository", "run__process", "run__process_version")
    change = rows.select_related("run__verifier_version").filter(run_id=event.run_id).first()
    if change is None or change.run.state != RunState.FINISHED:
        return
    if change.run.review_state == "decided":
        _decided(change)
    else:
        _finished(change)


def has_landed(change: Change) -> bool:
    """Whether the work stands on the target branch: it was committed before, or by us."""
    if change.actions.filter(kind=ActionKind.REVERT, state=ActionState.DONE).exists():
        return False
    if change.kind == ChangeKind.COMMIT:
        return True
    return change.actions.filter(kind=ActionKind.COMMIT, state=ActionState.DONE).exists()


def _finished(change: Change) -> None:
    landing = landing_of(Wanted(change.run.action), has_landed=has_landed(change))
    withdraw(change, keep=landing)
    if landing is not None:
        open_action(change, ActionKind(landing), state=_state(change, ActionKind(landing)))
    if change.run.action == Wanted.REVIEW_BRANCH:
        ask_a_person(change, "Its change is not sure enough to land by itself.")


def _decided(change: Change) -> None:
    """A person's word: approval lands the change, rejection closes its review branch."""
    run = change.run
    if run.final_outcome != Outcome.FAIL:
        if not has_landed(change):
            withdraw(change, keep=Landing.COMMIT)
            by = _who_decided(run)
            open_action(change, ActionKind.COMMIT, state=ActionState.PENDING, approved_by=by)
        return
    withdraw(change, keep=None)
    if has_landed(change):
        open_action(change, ActionKind.REVERT, state=_state(change, ActionKind.REVERT))
    if branch_of(change) is not None:
        open_action(change, ActionKind.CLOSE, state=ActionState.PENDING)


def _who_decided(run: Run) -> str:
    decided = Decision.objects.filter(review__run=run).exclude(outcome="")
    last = decided.select_related("reviewer", "api_key").order_by("-id").first()
    return name_of(last)[:200] if last else "a person"


def branch_of(change: Change) -> Action | None:
    """The review branch that was made for a change."""
    made = change.actions.filter(kind=ActionKind.REVIEW_BRANCH, state=ActionState.DONE)
    return made.first()


def open_action(
    change: Change, kind: ActionKind, *, state: ActionState, approved_by: str = ""
) -> Action:
    """Open an action, or open it again where another evaluation asks for it; one of each kind.

    What is done or declined stays so: the same event may come twice. `approved_by`: whose word
    goes before an earlier refusal.
    """
    now = timezone.now()
    evidence = evidence_of(change.run)
    fresh: dict[str, Any] = {
        "state": state,
        "reason_code": "repository_removed" if state is ActionState.HELD else "",
        "detail": "",
        "evidence": evidence,
        "attempts": 0,
        "next_at": now,
        "lease_until": None,
        "decided_by": approved_by,
        "decided_at": now if approved_by else None,
    }
    with transaction.atomic():
        action, is_new = Action.objects.get_or_create(
            change=change, kind=kind, defaults={**fresh, "project": change.run.project}
        )
        if not is_new:
            again = _may_open_again(action, evidence, approved=bool(approved_by))
            is_new = again is not None and again.update(**fresh, finished_at=None) == 1
        if is_new:
            action.refresh_from_db()
            tell(action, outbox.ACTION_PROPOSED if state is ActionState.PROPOSED else "")
    return action


def _may_open_again(
    action: Action, evidence: dict[str, Any], *, approved: bool
) -> QuerySet[Action] | None:
    """The rows to open anew, by compare-and-set. None: it is as it should be."""
    rows = Action.objects.filter(pk=action.pk, state=action.state)
    if action.state == ActionState.DONE or action.state == ActionState.PENDING:
        return None
    if approved:
        return rows
    is_same = action.evidence.get("evaluation") == evidence["evaluation"]
    return None if is_same or action.state == ActionState.DECLINED else rows


def _state(change: Change, kind: ActionKind) -> ActionState:
    if change.repository.is_removed:
        return ActionState.HELD
    mode = getattr(change.repository, MODES[kind])
    return ActionState.PENDING if mode == Mode.DO else ActionState.PROPOSED


def withdraw(change: Change, *, keep: Landing | None) -> None:
    """Take back what was asked for before, but for `keep`; what is being done is done."""
    now = timezone.now()
    free = Q(lease_until__isnull=True) | Q(lease_until__lte=now)
    open_ones = change.actions.filter(free, state__in=OPEN).exclude(kind=keep or "")
    open_ones.exclude(kind=ActionKind.CLOSE).update(
        state=ActionState.WITHDRAWN,
        reason_code="overtaken",
        detail="A later evaluation or decision asks for something else.",
        lease_until=None,
        finished_at=now,
        attempts=F("attempts"),
    )


def ask_a_person(change: Change, why: str) -> None:
    access = Access(change.run.project, Role.REVIEWER, SYSTEM)
    ask_about(access=access, runs=[change.run.uuid], why=why, reason=CHANGE_HELD)


def evidence_of(run: Run) -> dict[str, Any]:
    """What an action rests on, as it was when it was asked for."""
    evaluation = run.live_evaluation
    return {
        "evaluation": str(evaluation.uuid) if evaluation else "",
        "outcome": run.outcome,
        "verdict": run.verdict,
        "final_outcome": run.final_outcome,
        "reason_code": run.reason_code,
        "confidence_level": run.confidence_level,
        "process": run.process.slug,
        "process_version": run.process_version.number,
        "verifier_version": run.verifier_version.number,
    }
