"""Who acts on one change at a time: its standing is what the last of them leaves."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection, transaction

from tests.actions.report.builders import make_action, make_change
from tests.builders import make_project, make_run
from tests.stack import wait_for
from verification.actions.models import Action, ActionKind, ActionState, Change
from verification.actions.report.values import Standing

pytestmark = pytest.mark.django_db(transaction=True)


def done(action: Action) -> None:
    try:
        Action.objects.filter(pk=action.pk).update(state=ActionState.DONE)
    finally:
        connection.close()


def is_waited_for() -> bool:
    """Whether another transaction waits for what ours holds."""
    with connection.cursor() as cursor:
        cursor.execute(
            "select from pg_stat_activity where pg_backend_pid() = any(pg_blocking_pids(pid))"
        )
        return bool(cursor.rowcount > 0)


@pytest.mark.parametrize("first", [ActionKind.COMMIT, ActionKind.REVERT])
def test_two_who_act_on_one_change_leave_what_is_true_of_both(first: ActionKind) -> None:
    change = make_change(make_run(make_project()))
    commit, revert = (
        make_action(change, kind, ActionState.PENDING)
        for kind in (ActionKind.COMMIT, ActionKind.REVERT)
    )
    ours, theirs = (commit, revert) if first is ActionKind.COMMIT else (revert, commit)

    with ThreadPoolExecutor(1) as other:
        with transaction.atomic():
            Action.objects.filter(pk=ours.pk).update(state=ActionState.DONE)
            told = other.submit(done, theirs)
            wait_for(is_waited_for, "the other's turn")
        told.result()

    kept = Change.objects.get(pk=change.pk)
    assert (kept.standing, kept.standing_kind) == (Standing.REVERTED, ActionKind.REVERT)
