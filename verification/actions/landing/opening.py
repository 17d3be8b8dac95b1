"""What a verdict, or a person's decision, asks of the repository: actions are opened here."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Q, QuerySet
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
    change = _rows().filter(run_id=event.run_id).first()
    if change is not None:
        _follow(change)


def reconsider(change_id: int) -> None:
    """What was done may have been overtaken meanwhile: a verdict or a decision came in between."""
    with transaction.atomic():
        _follow(_rows().get(pk=change_id))


def _follow(change: Change) -> None:
    if change.run.state != RunState.FINISHED:
        return
    if change.run.review_state == "decided":
        _decided(change)
    elif not _was_rejected_before(change):
        _finished(change)


def _rows() -> QuerySet[Change]:
    return Change.objects.select_related(
        "repository", "run__project", "run__process", "run__process_version",
        "run__live_evaluation__verifier_version",
    ).defer("run__search", "run__result")  # fmt: skip


def _was_rejected_before(change: Change) -> bool:
    """Whether a person rejected this very work upon an older base."""
    earlier = change.follows
    while earlier is not None:
        if earlier.run.review_state == "decided" and earlier.run.final_outcome == Outcome.FAIL:
            return True
        earlier = earlier.follows
    return False


def has_landed(change: Change) -> bool:
    """Whether the work stands on the target branch: it was committed before, or by us."""
    if change.actions.filter(kind=ActionKind.REVERT, state=ActionState.DONE).exists():
        return False
    if change.kind == ChangeKind.COMMIT:
        return True
    done = change.actions.filter(kind=ActionKind.COMMIT, state=ActionState.DONE)
    return done.exclude(new_sha="").exists()


def _finished(change: Change) -> None:
    landing = landing_of(Wanted(change.run.action), has_landed=has_landed(change))
    withdraw(change, keep=landing)
    if landing is not None:
        open_action(change, ActionKind(landing), state=_state(change, ActionKind(landing)))
    if change.run.action == Wanted.REVIEW_BRANCH:
        ask_a_person(change, "Its change is not sure enough to land by itself.")


def _decided(change: Change) -> None:
    """A person's word: approval lands the change, rejection closes its review branch."""
    if change.run.final_outcome != Outcome.FAIL:
        landed = has_landed(change)
        withdraw(change, keep=None if landed else Landing.COMMIT)
        word = _word_about(change.run)
        if not landed and word is not None:
            open_action(change, ActionKind.COMMIT, state=ActionState.PENDING, word=word)
        return
    _reject_all(change)


def _reject_all(change: Change) -> None:
    """The same work upon newer bases is rejected with it, but where a person said otherwise."""
    _reject(change)
    for later in _rows().filter(follows=change):
        if later.run.review_state != "decided":
            _reject_all(later)


def _reject(change: Change) -> None:
    withdraw(change, keep=Landing.CLOSE)
    if has_landed(change):
        open_action(change, ActionKind.REVERT, state=_state(change, ActionKind.REVERT))
    if branch_of(change) is not None:
        open_action(change, ActionKind.CLOSE, state=ActionState.PENDING)


@dataclass(frozen=True, slots=True)
class Word:
    """What a person said of a run, and when."""

    by: str
    at: datetime


def _word_about(run: Run) -> Word | None:
    decided = Decision.objects.filter(review__run=run).exclude(outcome="")
    last = decided.select_related("reviewer", "api_key").order_by("-id").first()
    return Word(name_of(last)[:200] or "a person", last.created_at) if last else None


def branch_of(change: Change) -> Action | None:
    """The review branch that was made for a change."""
    made = change.actions.filter(kind=ActionKind.REVIEW_BRANCH, state=ActionState.DONE)
    return made.first()


def open_action(
    change: Change,
    kind: ActionKind,
    *,
    state: ActionState,
    word: Word | None = None,
    again: bool = False,
) -> Action:
    """Open an action, or open it again where another evaluation asks for it; one of each kind.

    What is done or declined stays so: the same event may come twice. `word`: a person's, which
    goes before what was declined earlier. `again`: also where the same evaluation asked for it.
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
        "decided_by": word.by if word else "",
        "decided_at": word.at if word else None,
    }
    with transaction.atomic():
        action, is_new = Action.objects.get_or_create(
            change=change, kind=kind, defaults={**fresh, "project": change.run.project}
        )
        if not is_new:
            rows = _may_open_again(action, evidence, word=word, again=again)
            is_new = rows is not None and rows.update(**fresh, finished_at=None) == 1
            if action.state == ActionState.PENDING and not is_new:
                _rest_on(action, evidence)
        if is_new:
            action.refresh_from_db()
            tell(action, outbox.ACTION_PROPOSED if state is ActionState.PROPOSED else "")
    return action


def _may_open_again(
    action: Action, evidence: dict[str, Any], *, word: Word | None, again: bool
) -> QuerySet[Action] | None:
    """The rows to open anew, by compare-and-set. None: it is as it should be."""
    rows = Action.objects.filter(pk=action.pk, state=action.state)
    if action.state == ActionState.DONE or action.state == ActionState.PENDING:
        return None
    if action.state == ActionState.DECLINED:
        is_later = word and action.decided_at and action.decided_at < word.at
        return rows if is_later else None
    is_same = action.evidence.get("evaluation") == evidence["evaluation"]
    return rows if word or again or not is_same else None


def _rest_on(action: Action, evidence: dict[str, Any]) -> None:
    """What is about to be done is asked for by another evaluation as well."""
    Action.objects.filter(pk=action.pk, state=ActionState.PENDING).update(evidence=evidence)


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
    open_ones.update(
        state=ActionState.WITHDRAWN,
        reason_code="overtaken",
        detail="A later evaluation or decision asks for something else.",
        lease_until=None,
        finished_at=now,
    )


def ask_a_person(change: Change, why: str) -> None:
    access = Access(change.run.project, Role.REVIEWER, SYSTEM)
    ask_about(access=access, runs=[change.run.uuid], why=why, reason=CHANGE_HELD)


def evidence_of(run: Run) -> dict[str, Any]:
    """What an action rests on, as it was when it was asked for."""
    evaluation = run.live_evaluation
    verifier = evaluation.verifier_version if evaluation else run.verifier_version
    return {
        "evaluation": str(evaluation.uuid) if evaluation else "",
        "outcome": run.outcome,
        "verdict": run.verdict,
        "final_outcome": run.final_outcome,
        "reason_code": run.reason_code,
        "confidence_level": run.confidence_level,
        "process": run.process.slug,
        "process_version": run.process_version.number,
        "verifier_version": verifier.number,
    }
