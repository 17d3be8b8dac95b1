from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

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


def test_an_event_that_one_room_cannot_take_holds_up_no_other(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: list[str] = []

    def hears(event: OutboxEvent) -> None:
        heard.append(event.payload["run"])
        Project.objects.filter(pk=project.pk).update(name=event.payload["run"])

    def breaks(event: OutboxEvent) -> None:
        if event.payload["run"] == "bad":
            raise ValueError("no such thing")

    monkeypatch.setattr(outbox, "_handlers", [hears, breaks])
    for run in ("first", "bad", "last"):
        outbox.add(outbox.RUN_FINISHED, project_id=project.pk, payload={"run": run})

    relay.dispatch_outbox()
    relay.dispatch_outbox()

    left = OutboxEvent.objects.get(dispatched_at__isnull=True)
    project.refresh_from_db()
    assert heard == ["first", "bad", "last"]
    assert (left.payload["run"], left.failures) == ("bad", 1)
    assert left.next_at is not None
    assert left.next_at > timezone.now()
    assert project.name == "last"


def test_an_event_that_could_not_be_taken_is_tried_again_ever_later(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries: list[OutboxEvent] = []

    def breaks_twice(event: OutboxEvent) -> None:
        tries.append(event)
        Project.objects.filter(pk=project.pk).update(name="undone")
        if len(tries) < 3:
            raise ValueError("not yet")

    monkeypatch.setattr(outbox, "_handlers", [breaks_twice])
    outbox.add(outbox.RUN_FINISHED, project_id=project.pk, payload={})
    waits: list[timedelta] = []

    for _ in range(3):
        begun = timezone.now()
        relay.dispatch_outbox()
        event = OutboxEvent.objects.get()
        waits.append((event.next_at or begun) - begun)
        OutboxEvent.objects.update(next_at=begun)

    assert event.dispatched_at is not None
    assert (len(tries), event.failures) == (3, 2)
    assert waits[0] < waits[1]


def test_an_event_that_the_database_refuses_holds_up_no_other(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    def locked(event: OutboxEvent) -> None:
        if event.payload["run"] == "bad":
            with connection.cursor() as cursor:
                cursor.execute("set local statement_timeout = 1; select pg_sleep(5)")

    monkeypatch.setattr(outbox, "_handlers", [locked])
    for run in ("first", "bad", "last"):
        outbox.add(outbox.RUN_FINISHED, project_id=project.pk, payload={"run": run})

    relay.dispatch_outbox()

    left = OutboxEvent.objects.get(dispatched_at__isnull=True)
    assert (left.payload["run"], left.failures) == ("bad", 1)


def test_an_event_that_nobody_could_take_for_a_day_is_given_up_and_logged(
    project: Project, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def breaks(_: OutboxEvent) -> None:
        raise ValueError("never")

    monkeypatch.setattr(outbox, "_handlers", [breaks])
    outbox.add(outbox.RUN_FINISHED, project_id=project.pk, payload={})
    OutboxEvent.objects.update(failures=outbox.MAX_FAILURES - 2)

    relay.dispatch_outbox()
    assert OutboxEvent.objects.get().dispatched_at is None
    OutboxEvent.objects.update(next_at=None)
    relay.dispatch_outbox()

    assert OutboxEvent.objects.get().dispatched_at is not None
    assert "event_given_up" in caplog.text


def test_a_room_whose_sweep_breaks_keeps_no_other_from_its_turn(
    db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    swept: list[str] = []

    def breaks() -> int:
        raise ValueError("it broke")

    def sweeps() -> int:
        swept.append("other")
        return 0

    monkeypatch.setattr(outbox, "_sweeps", [breaks, sweeps])

    relay.sweep_rooms()

    assert swept == ["other"]
