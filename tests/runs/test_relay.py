from __future__ import annotations

import pytest

from loomverify.accounts.models import Project
from verification.runs import outbox, relay
from verification.runs.models import OutboxEvent


def test_a_long_backlog_of_events_leaves_the_turn_to_due_runs(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outbox, "DISPATCH_BATCH", 1)
    backlog = relay.DISPATCHES_A_TURN + 1
    for _ in range(backlog):
        outbox.add(outbox.RUN_FINISHED, project_id=project.pk, payload={})
    waiting = OutboxEvent.objects.filter(dispatched_at__isnull=True)

    relay.dispatch_outbox()

    assert waiting.count() == 1

    relay.dispatch_outbox()

    assert waiting.count() == 0
