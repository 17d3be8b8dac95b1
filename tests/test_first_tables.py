from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.db import connection
from django.db.migrations.loader import MigrationLoader

from loomverify.embedded import _programs
from loomverify.first_tables import KEY, SCRIPT, make_first_tables, migrations_of
from tests.first_tables import empty_database, fill

ALL = set(MigrationLoader(None).disk_migrations)
WRITTEN = SCRIPT.read_text()


def dump(url: str) -> list[str]:
    """Everything but which migrations ran, and the two lines with a key drawn for each dump."""
    command = [str(_programs() / "pg_dump"), "--exclude-table-data=django_migrations*", url]
    said = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout.decode()
    return [line for line in said.splitlines() if not line.startswith(("\\restrict", "\\unres"))]


def by_migration(script: str) -> list[str]:
    """What each sent, in the order of their names: later ones may change the order of those."""
    *parts, rest = KEY.sub(r"\g<0>\0", script).split("\0")
    assert rest == "\n"
    return sorted(part.strip() for part in parts)


@pytest.mark.extended
def test_what_is_written_down_is_what_the_migrations_make_one_by_one(tmp_path: Path) -> None:
    server = os.environ["DATABASE_URL"]

    with empty_database(server) as one_by_one, empty_database(server) as at_once:
        sent = subprocess.run(
            [sys.executable, "-m", "tests.first_tables", "--print"],
            env={**os.environ, "DATABASE_URL": one_by_one, "LOOMVERIFY_DATA": str(tmp_path)},
            check=True,
            stdout=subprocess.PIPE,
        )
        fill(at_once)

        assert by_migration(sent.stdout.decode()) == by_migration(WRITTEN)
        assert dump(at_once) == dump(one_by_one)


@pytest.fixture
def empty_schema(db: None) -> None:
    with connection.cursor() as cursor:
        cursor.execute("create schema nothing_yet")
        cursor.execute("set local search_path to nothing_yet")


@pytest.mark.usefixtures("empty_schema")
def test_an_empty_database_has_them_at_once_and_knows_it() -> None:
    assert make_first_tables(ALL)

    assert set(MigrationLoader(connection).applied_migrations) == set(migrations_of(WRITTEN))
    assert {"runs_run", "accounts_project"} <= set(connection.introspection.table_names())


@pytest.mark.usefixtures("empty_schema")
def test_tables_of_an_older_version_are_made_by_its_own_migrations() -> None:
    assert not make_first_tables(ALL - {migrations_of(WRITTEN)[-1]})

    assert connection.introspection.table_names() == []


@pytest.mark.usefixtures("empty_schema")
def test_a_database_with_anything_in_it_is_left_alone() -> None:
    with connection.cursor() as cursor:
        cursor.execute("create table of_somebody_else ()")

    assert not make_first_tables(ALL)

    assert connection.introspection.table_names() == ["of_somebody_else"]
