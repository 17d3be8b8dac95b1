"""`python -m tests.first_tables`: write down what the migrations send to an empty database.

`--print`: of the migrations that are written down already, into the database of DATABASE_URL.
"""

from __future__ import annotations

import gc
import os
import secrets
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch
from urllib.parse import urlsplit

import django
import psycopg
from psycopg.sql import SQL, Identifier

from loomverify.first_tables import APPLIED, SCRIPT, migrations_of
from tests.session import join_session, start_database


def fill(url: str) -> None:
    """Make the tables, unless a database that was kept has them."""
    with psycopg.connect(url) as connection:
        if not connection.execute("select from pg_tables where schemaname = 'public'").rowcount:
            connection.execute(SCRIPT.read_bytes())


@contextmanager
def empty_database(server: str) -> Iterator[str]:
    """Yield the address of a database of its own, on the server of another."""
    name = f"empty_{secrets.token_hex(6)}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(SQL("create database {} template template0").format(Identifier(name)))
        try:
            yield urlsplit(server)._replace(path=f"/{name}").geturl()
        finally:
            drop = SQL("drop database {} with (force)")
            connection.execute(drop.format(Identifier(name)))


def sent_by(wanted: list[tuple[str, str]] | None) -> str:
    """Apply these migrations, or all, one by one; return what they sent."""
    from django.db import connection
    from django.db.backends.base.schema import BaseDatabaseSchemaEditor
    from django.db.migrations.executor import MigrationExecutor

    sent: list[str] = []
    execute = BaseDatabaseSchemaEditor.execute

    def noting(editor: Any, sql: Any, parameters: Any = ()) -> None:
        sent.append(f"{str(sql).strip().rstrip(';')};")
        execute(editor, sql, parameters)

    def progress(action: str, migration: Any = None, _fake: bool | None = None, /) -> None:
        if action == "apply_success":
            sent.append(APPLIED.format(migration.app_label, migration.name))

    executor = MigrationExecutor(connection, progress_callback=progress)
    with patch.object(BaseDatabaseSchemaEditor, "execute", noting):
        # The newest of an app takes the others along.
        executor.migrate(wanted or executor.loader.graph.leaf_nodes())
    return "\n".join([*sent, ""])


def main(arguments: list[str]) -> None:
    gc.disable()  # a third of the time
    if arguments == ["--print"]:
        django.setup()
        sys.stdout.write(sent_by(sorted(dict(migrations_of(SCRIPT.read_text())).items())))
        return
    start_database(join_session())
    with empty_database(os.environ["DATABASE_URL"]) as os.environ["DATABASE_URL"]:
        django.setup()
        written = sent_by(None)
        from django.db import connection

        connection.close()
        connection.close_pool()  # type: ignore[attr-defined]
    SCRIPT.write_text(written)


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "loomverify.settings")
    main(sys.argv[1:])
