"""`loomverify restore FILE`: everything back, or nothing changed."""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg
from django.core.files.base import ContentFile
from django.core.files.storage import storages
from django.db import DatabaseError, connection, transaction
from django.db.migrations.executor import MigrationExecutor
from psycopg.sql import SQL, Identifier

from loomverify.backup.checking import CheckedBackup, check
from loomverify.backup.making import our_tables
from loomverify.backup.manifest import Manifest
from loomverify.backup.tables import (
    columns_of,
    load_tables,
    refuse_other_columns,
)
from loomverify.env import Environment
from loomverify.first_tables import make_first_tables
from loomverify.setup import migrate
from loomverify.variables import ConfigurationError

SEEN_SECONDS = 60
ROOM = 1.1
FUNCTIONS = """
    select made.oid::regprocedure::text from pg_proc made
    where made.pronamespace = current_schema()::regnamespace
      and split_part(made.proname, '_', 1) = any(%s::text[])
      and not exists (select from pg_depend of where of.objid = made.oid and of.deptype = 'e')
"""
"""Those that migrations make: each begins with the label of its app."""


def restore_backup(path: Path, env: Environment, *, replace: bool = False) -> Manifest:
    """Put a backup in the place of this installation, which is empty unless `replace`.

    Files come first, then all rows in one transaction: until it ends, nothing has changed but
    that the store holds files which no row names.

    Raises:
        ConfigurationError: the backup is damaged or newer; LoomVerify runs, or is not empty.
    """
    try:
        file = path.open("rb")
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be read: {error.strerror}.") from error
    with file:
        backup = check(file)
        _refuse_running()
        if not replace:
            _refuse_content()
        _refuse_little_room(backup, env)
        kept = _store_evidence(backup)
        _restore_rows(backup)
        _restore_keys(backup, env)
    migrate()
    with connection.cursor() as cursor:
        cursor.execute("analyze")
    _forget_others(kept)
    return backup.said


def _existing_tables() -> list[str]:
    return connection.introspection.table_names()


def _refuse_running() -> None:
    if "runs_heartbeat" not in _existing_tables():
        return
    with connection.cursor() as cursor:
        cursor.execute("select name, at from runs_heartbeat order by at desc limit 1")
        row = cursor.fetchone()
    seconds = (datetime.now(UTC) - row[1]).total_seconds() if row else SEEN_SECONDS
    if row and seconds < SEEN_SECONDS:
        raise ConfigurationError(
            f"LoomVerify is running on this database ({row[0]} was seen {max(0, seconds):.0f} s ago): "
            f"stop it, and restore {SEEN_SECONDS} s later."
        )


def _refuse_content() -> None:
    projects = 0
    if "accounts_project" in _existing_tables():
        with connection.cursor() as cursor:
            cursor.execute("select count(*) from accounts_project")
            projects = cursor.fetchone()[0]
    if projects or next(_stored(), None):
        raise ConfigurationError(
            "This installation is not empty. Restore into an empty database and data folder, "
            "or delete what is here with --replace."
        )


def _refuse_little_room(backup: CheckedBackup, env: Environment) -> None:
    needed = int(backup.said.evidence.size * ROOM)
    free = shutil.disk_usage(env.data).free
    if free < needed:
        raise ConfigurationError(
            f"The data folder {env.data} has {free >> 20} MiB left; the files of the backup "
            f"need {needed >> 20}."
        )


def _store_evidence(backup: CheckedBackup) -> set[bytes]:
    """Store each file; return the digests of their names, which are shorter than names."""
    storage = storages["evidence"]
    kept = set()
    for name, content in backup.evidence():
        storage.save(name, ContentFile(content))
        kept.add(_short(name))
    return kept


def _short(name: str) -> bytes:
    return hashlib.blake2b(name.encode(), digest_size=16).digest()


def _restore_rows(backup: CheckedBackup) -> None:
    try:
        with transaction.atomic():
            _drop_everything()
            _make_tables(backup.said)
            raw: Any = connection.connection
            refuse_other_columns(columns_of(raw, our_tables()), backup.said)
            load_tables(raw, backup.said, backup.content)
    except (DatabaseError, psycopg.Error) as error:
        reason = str(error).strip().splitlines()[0].rstrip(".")
        raise ConfigurationError(
            f"PostgreSQL refused the backup, and nothing was changed: {reason}."
        ) from error


def _drop_everything() -> None:
    existing = _existing_tables()
    tables = [name for name in our_tables() if name in existing]
    with connection.cursor() as cursor:
        cursor.execute(FUNCTIONS, [sorted({name.partition("_")[0] for name in tables})])
        functions = [row[0] for row in cursor.fetchall()]
        for name in tables:
            cursor.execute(SQL("drop table if exists {} cascade").format(Identifier(name)))
        for function in functions:
            cursor.execute(SQL("drop function {}").format(SQL(function)))


def _make_tables(said: Manifest) -> None:
    """Make the tables as the version had them that wrote the backup."""
    applied = [(app, name) for app, name in said.migrations]
    make_first_tables(applied)
    executor = MigrationExecutor(connection, progress_callback=_settle)
    nodes = executor.loader.graph.node_map
    leaves = [
        key
        for key in applied
        if not any(child.key[0] == key[0] and child.key in applied for child in nodes[key].children)
    ]
    executor.migrate(leaves)


def _settle(action: str, _migration: Any = None, _fake: bool | None = None, /) -> None:
    """Check what a migration wrote at once: its table could not be changed by the next one."""
    if action == "apply_success":
        with connection.cursor() as cursor:
            cursor.execute("set constraints all immediate; set constraints all deferred")


def _restore_keys(backup: CheckedBackup, env: Environment) -> None:
    for key in backup.said.keys:
        if key.name == "secret-key" and os.environ.get("LOOMVERIFY_SECRET_KEY"):
            continue
        path = env.data / key.name
        draft = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(backup.content(f"keys/{key.name}"))
        draft.replace(path)


def _stored() -> Iterator[str]:
    """The names of everything in the store."""
    storage = storages["evidence"]
    with suppress(FileNotFoundError):
        for project in storage.listdir("")[0]:
            for folder in storage.listdir(project)[0]:
                for name in storage.listdir(f"{project}/{folder}")[1]:
                    yield f"{project}/{folder}/{name}"


def _forget_others(kept: set[bytes]) -> None:
    """Delete the files of the installation that was replaced."""
    for name in list(_stored()):
        if _short(name) not in kept:
            storages["evidence"].delete(name)
