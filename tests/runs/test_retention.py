from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from django.core.files.storage import storages
from django.utils import timezone

from loomverify.accounts.models import Project
from tests.runs.conftest import Caller
from verification.runs import retention
from verification.runs.evidence_store import (
    EvidenceLost,
    read_blob,
    store_contents,
    stored_contents,
)
from verification.runs.models import Blob, Finding, Heartbeat, OutboxEvent, Run

LATER = timedelta(days=400)


def test_a_run_past_its_date_goes_with_all_that_hangs_on_it(agent: Caller) -> None:
    agent.submit(return_code=1, files={"a.txt": "x"})

    purged = retention.purge_expired(timezone.now() + LATER)

    assert purged == 1
    assert not Run.objects.exists()
    assert not Finding.objects.exists()


def test_a_run_before_its_date_stays(agent: Caller) -> None:
    agent.submit()

    assert retention.purge_expired() == 0
    assert Run.objects.count() == 1


def test_an_open_run_is_never_purged(agent: Caller) -> None:
    agent.post("/runs", {"process": "general", "task": {"id": "t", "description": "d"}})

    assert retention.purge_expired(timezone.now() + LATER) == 0


def test_content_goes_when_nothing_names_it(agent: Caller, project: Project) -> None:
    agent.submit(files={"gone.txt": "gone"})
    retention.purge_expired(timezone.now() + LATER)
    agent.submit(files={"kept.txt": "kept"}, base={"kept.txt": "as it was"})

    swept = retention.sweep_content(timezone.now() + timedelta(days=2))

    kept = Blob.objects.order_by("size")
    assert swept == 1
    assert [read_blob(one) for one in kept] == [b"kept", b"as it was"]
    left = {name.rpartition("/")[2] for name, _ in stored_contents(project)}
    assert left == {one.sha256 for one in kept}


def test_content_of_a_submission_on_its_way_in_stays(project: Project) -> None:
    store_contents(project, [b"not named yet"])

    assert retention.sweep_content() == 0


def test_what_a_killed_process_left_half_written_goes_too(project: Project) -> None:
    store_contents(project, [b"whole"])
    [(name, _)] = stored_contents(project)
    half = Path(storages["evidence"].path(f"{project.uuid}/{name}")).with_name(".part-a1b2")
    half.write_bytes(b"ha")

    retention.sweep_content(timezone.now() + timedelta(days=2))

    assert not half.exists()


def test_a_file_that_is_being_written_does_not_stop_the_sweep(project: Project) -> None:
    store_contents(project, [b"whole"])
    [(name, _)] = stored_contents(project)
    passing = Path(storages["evidence"].path(f"{project.uuid}/{name}")).with_name(".part-a1b2")
    passing.symlink_to("gone")  # listed, and not there when it is looked at

    swept = retention.sweep_content(timezone.now() + timedelta(days=2))

    assert swept == 1


def test_changed_evidence_is_a_fault_of_ours(agent: Caller, project: Project) -> None:
    from verification.runs.evidence_store import _storage, content_name

    agent.submit(files={"a.txt": "true"})
    blob = Blob.objects.get()
    with _storage().open(content_name(project.uuid, blob.sha256), "wb") as file:
        file.write(b"false")

    with pytest.raises(EvidenceLost, match="changed"):
        read_blob(blob)


def test_what_was_handed_on_is_forgotten_after_a_week(agent: Caller) -> None:
    agent.submit()
    OutboxEvent.objects.update(dispatched_at=timezone.now())

    retention.forget_spent()
    assert OutboxEvent.objects.exists()

    retention.forget_spent(timezone.now() + timedelta(days=8))
    assert not OutboxEvent.objects.exists()


def test_the_latest_process_of_each_role_is_remembered(db: None) -> None:
    now = timezone.now()
    for role, name, days in (
        ("worker", "a", 0), ("worker", "b", 9), ("worker-sandbox", "c", 9),
        ("worker-sandbox", "d", 10), ("relay", "e", 30),
    ):  # fmt: skip
        Heartbeat.objects.create(role=role, name=name, at=now - timedelta(days=days))

    retention.forget_spent(now)

    assert set(Heartbeat.objects.values_list("name", flat=True)) == {"a", "c", "e"}
