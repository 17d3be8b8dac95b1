from __future__ import annotations

import dataclasses
import io
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from django.db import connection
from django.utils import timezone
from psycopg.conninfo import make_conninfo

from loomverify.backup.archive import ArchiveWriter
from loomverify.backup.making import write_evidence
from loomverify.env import Environment, environment
from tests.builders import make_project, make_run
from verification.runs import evidence_store
from verification.runs.models import Blob, Run
from verification.runs.retention import purge_expired, sweep_content

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def env() -> Environment:
    ours = make_conninfo(environment().database_url, dbname=connection.settings_dict["NAME"])
    return dataclasses.replace(environment(), database_url=ours)


@pytest.fixture
def run() -> Run:
    long_ago = timezone.now() - timedelta(days=100)
    run = make_run(make_project(), files={"a.txt": b"A"}, retain_until=long_ago)
    Blob.objects.update(created_at=long_ago)
    return run


@pytest.fixture
def snapshot(env: Environment, run: Run) -> Iterator[psycopg.Connection[Any]]:
    """A connection that goes on seeing the run and its file."""
    with psycopg.connect(env.database_url) as found:
        found.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        assert found.execute("select count(*) from runs_blob").fetchone() == (1,)
        yield found


def counted(found: psycopg.Connection[Any], env: Environment) -> tuple[int, int]:
    said = write_evidence(found, ArchiveWriter(io.BytesIO()), env)
    return said.files, said.missing


def test_a_file_is_in_the_backup(snapshot: Any, env: Environment) -> None:
    assert counted(snapshot, env) == (1, 0)


def test_what_retention_takes_away_meanwhile_is_not_lost(
    snapshot: Any, env: Environment, run: Run
) -> None:
    purge_expired()
    sweep_content(timezone.now() + timedelta(days=2))

    assert counted(snapshot, env) == (0, 0)


def test_a_file_that_is_gone_while_its_row_is_there_is_lost(
    snapshot: Any, env: Environment, run: Run
) -> None:
    blob = Blob.objects.get()
    evidence_store.delete_content(run.project, f"{blob.sha256[:2]}/{blob.sha256}")

    assert counted(snapshot, env) == (0, 1)
