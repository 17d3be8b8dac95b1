"""What a verdict, or a person's decision, asks of the repository: actions are opened here."""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from loomverify.accounts.access import SYSTEM, Access
from loomverify.accounts.models import Role
from verification.actions.landing.standing import standing_of
from verification.actions.landing.telling import tell
from verification.actions.models import Action, ActionKind, ActionState, Change, Mode
from verification.engine.landing import landing_of
from verification.engine.outcome import Action as Wanted
from verification.engine.outcome import Outcome
from verification.engine.reviewing import CHANGE_HELD
from verification.reviews.models import Decision
from verification.reviews.queue.asking import ask_about
from verification.reviews.rounds import name_of
from verification.runs import outbox
from verification.runs.models import OutboxEvent, Run, RunState

OVERTAKEN, LOST = "overtaken", "repository_unreachable"
OPEN = (ActionState.PROPOSED, ActionState.PENDING, ActionState.HELD)
MODES = {
    ActionKind.COMMIT: "commit_mode",
    ActionKind.REVIEW_BRANCH: "branch_mode",
    ActionKind.REVERT: "revert_mode",
    ActionKind.RESTORE: "commit_mode",
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


def _decided_before(change: Change) -> Iterator[Run]:
    """The runs of this very work upon older bases that a person decided, the newest first."""
    earlier = change.follows
    while earlier is not None:
        if earlier.run.review_state == "decided":
            yield earlier.run
        earlier = earlier.follows


def _was_rejected_before(change: Change) -> bool:
    return any(run.final_outcome == Outcome.FAIL for run in _decided_before(change))


def _was_approved_before(change: Change) -> bool:
    """By the last word that a person said."""
    last = next(_decided_before(change), None)
    return last is not None and last.final_outcome != Outcome.FAIL


def _finished(change: Change) -> None:
    standing = standing_of(change)
    landing = landing_of(
        Wanted(change.run.action), has_landed=standing.has_landed,
        was_taken_back=standing.was_taken_back,
    )  # fmt: skip
    withdraw(change, keep={landing})
    if landing is not None:
        kind = ActionKind(landing)
        open_action(change, kind, turn=standing.turn_of(kind), state=_state(change, kind))
    if change.run.action == Wanted.REVIEW_BRANCH:
        ask_a_person(change, "Its change is not sure enough to land by itself.")
    elif landing is None and not standing.has_landed and _was_approved_before(change):
        ask_a_person(change, "It was approved upon an older base, and upon this one it is not.")


def _decided(change: Change) -> None:
    """A person's word: approval lands the change or puts it back, rejection takes it back."""
    word = _word_about(change.run)
    if change.run.final_outcome == Outcome.FAIL:
        _reject_all(change, word)
        return
    standing = standing_of(change)
    wanted = ActionKind.RESTORE if standing.was_taken_back else ActionKind.COMMIT
    withdraw(change, keep=set() if standing.has_landed else {wanted})
    if not standing.has_landed and word is not None:
        turn = standing.turn_of(wanted)
        open_action(change, wanted, turn=turn, state=ActionState.PENDING, word=word)


def _reject_all(change: Change, word: Word | None) -> None:
    """The same work upon newer bases is rejected with it, but where a person said otherwise."""
    _reject(change, word)
    for later in _rows().filter(follows=change):
        if later.run.review_state != "decided":
            _reject_all(later, word)


def _reject(change: Change, word: Word | None) -> None:
    standing, kind = standing_of(change), ActionKind.REVERT
    withdraw(change, keep={ActionKind.CLOSE, kind} if standing.has_landed else {ActionKind.CLOSE})
    if standing.has_landed:
        open_action(
            change, kind, turn=standing.turn_of(kind), state=_state(change, kind),
            said_at=word.at if word else None,
        )  # fmt: skip
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
    if last is None:
        return None
    key = "" if last.reviewer or not last.api_key else "key "  # as an approved action says it
    return Word(f"{key}{name_of(last)}"[:200] or "a person", last.created_at)


def branch_of(change: Change) -> Action | None:
    """The review branch that was made for a change."""
    made = change.actions.filter(kind=ActionKind.REVIEW_BRANCH, state=ActionState.DONE)
    return made.first()


def open_action(
    change: Change,
    kind: ActionKind,
    *,
    state: ActionState,
    turn: int = 1,
    word: Word | None = None,
    said_at: datetime | None = None,
    again: bool = False,
) -> Action:
    """Open an action, or open it again where it is asked for anew; one of each kind in a turn.

    What is done or declined stays so: the same event may come twice. `word`: a person's, which
    approves it. `said_at`: when a person asked for it; what was declined before is asked for
    anew. `again`: also where the same evaluation asked for it.
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
            change=change,
            kind=kind,
            turn=turn,
            defaults={**fresh, "project": change.project, "submitted_at": change.submitted_at},
        )
        if not is_new:
            anew = again or _is_anew(action, evidence, word.at if word else said_at)
            rows = Action.objects.filter(pk=action.pk, state=action.state)
            is_new = anew and rows.update(**fresh, finished_at=None) == 1
            if action.state == ActionState.PENDING and not is_new:
                _rest_on(action, evidence, word)
        if is_new:
            action.refresh_from_db()
            tell(action, outbox.ACTION_PROPOSED if state is ActionState.PROPOSED else "")
    return action


def _is_anew(action: Action, evidence: dict[str, Any], said_at: datetime | None) -> bool:
    """Whether an action that is there is asked for by somebody who did not ask for it before."""
    if action.state in (ActionState.DONE, ActionState.PENDING):
        return False
    if said_at and (action.decided_at or action.created_at) < said_at:
        return True
    if action.state == ActionState.DECLINED:
        return False
    if action.reason_code == OVERTAKEN:  # by us: it is asked for once more
        return True
    return bool(action.evidence.get("evaluation") != evidence["evaluation"])


def _rest_on(action: Action, evidence: dict[str, Any], word: Word | None) -> None:
    """What is about to be done is asked for by another evaluation, or a person, as well."""
    rows = Action.objects.filter(pk=action.pk, state=ActionState.PENDING)
    rows.update(evidence=evidence)
    if word is not None:
        rows.filter(lease_until=None).update(decided_by=word.by, decided_at=word.at)


def _state(change: Change, kind: ActionKind) -> ActionState:
    if change.repository.is_removed:
        return ActionState.HELD
    mode = getattr(change.repository, MODES[kind])
    return ActionState.PENDING if mode == Mode.DO else ActionState.PROPOSED


def withdraw(change: Change, *, keep: Set[str | None]) -> None:
    """Take back what was asked for before, but for `keep`; what is being done is done.

    What may have been pushed by a worker that was lost is looked at again first: by then it rests
    on a verdict that does not count, and is done already or will not be.
    """
    now = timezone.now()
    kept = [kind for kind in keep if kind]
    open_ones = change.actions.filter(lease_until=None, state__in=OPEN).exclude(kind__in=kept)
    unsure = Q(state=ActionState.PENDING) | Q(state=ActionState.HELD, reason_code=LOST)
    pushed = open_ones.filter(unsure).exclude(new_sha="")
    open_ones.exclude(pk__in=pushed.values("pk")).update(
        state=ActionState.WITHDRAWN,
        reason_code=OVERTAKEN,
        detail="A later evaluation or decision asks for something else.",
        finished_at=now,
    )
    pushed.update(state=ActionState.PENDING, next_at=now, finished_at=None)


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
