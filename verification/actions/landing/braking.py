"""A repository that is switched to propose only stops what was about to be done by itself.

What a person approved goes on, and so does what may have been pushed already: a worker looks for it
first. What a worker has in its hands is stopped there, before its push.
"""

from __future__ import annotations

from collections.abc import Iterable

from django.db.models import QuerySet
from django.utils import timezone

from loomverify.accounts.access import SYSTEM, Actor
from loomverify.accounts.audit import record
from verification.actions.landing.opening import MODES
from verification.actions.landing.telling import tell
from verification.actions.models import Action, ActionKind, ActionState, Mode, Repository
from verification.runs import outbox

BRAKED = "braked"
WHY = "The repository was switched to propose only before it was done."


def follow_modes(repository: Repository, actor: Actor, changed: Iterable[str]) -> None:
    """Stop or let go by the modes that were changed, in the transaction that changes them."""
    for field in changed:
        kinds = [kind for kind, mode in MODES.items() if mode == field]
        rows = _rows(repository).filter(kind__in=kinds)
        if getattr(repository, field) == Mode.PROPOSE:
            _brake(rows, actor)
        else:
            _release(rows, actor)


def stopped_in(repository: Repository) -> int:
    rows = Action.objects.filter(change__repository=repository)
    return rows.filter(state=ActionState.PROPOSED, reason_code=BRAKED).count()


def must_wait(action: Action, *, is_last: bool = False) -> bool:
    """Whether nobody's word lets it be done, neither a person's nor the repository's as it is now.

    `is_last`: in a transaction, after which whoever changes the mode finds the action as it is then.
    """
    field = MODES.get(ActionKind(action.kind))
    if field is None or action.decided_by:
        return False
    rows = Repository.objects.only(field)
    now = (rows.select_for_update(no_key=True) if is_last else rows).get(
        pk=action.change.repository_id
    )
    return bool(getattr(now, field) == Mode.PROPOSE)


def note(action: Action, actor: Actor = SYSTEM) -> None:
    diff = {"state": [ActionState.PENDING, ActionState.PROPOSED]}
    record(actor, "action.braked", action, project=action.project, diff=diff, reason=WHY)


def _rows(repository: Repository) -> QuerySet[Action]:
    """What another transaction holds is left out: a worker stops it before its push."""
    rows = Action.objects.select_for_update(of=("self",), skip_locked=True)
    rows = rows.filter(change__repository=repository).order_by("pk")
    return rows.select_related("project", "change__repository", "change__run__process")


def _brake(rows: QuerySet[Action], actor: Actor) -> None:
    waiting = rows.filter(state=ActionState.PENDING, lease_until=None, new_sha="", decided_by="")
    for action in waiting:
        _set(action, ActionState.PROPOSED, reason_code=BRAKED, detail=WHY)
        note(action, actor)
        tell(action, outbox.ACTION_PROPOSED)


def _release(rows: QuerySet[Action], actor: Actor) -> None:
    """What the brake stopped goes on; what was a proposal from the first stays one."""
    diff = {"state": [ActionState.PROPOSED, ActionState.PENDING]}
    for action in rows.filter(state=ActionState.PROPOSED, reason_code=BRAKED):
        _set(action, ActionState.PENDING, attempts=0, next_at=timezone.now())
        record(actor, "action.released", action, project=action.project, diff=diff)


def _set(action: Action, state: ActionState, **columns: object) -> None:
    told = {"state": state, "reason_code": "", "detail": "", **columns}
    Action.objects.filter(pk=action.pk, state=action.state).update(**told)
    for name, value in told.items():
        setattr(action, name, value)
