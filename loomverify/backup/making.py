"""`loomverify backup FILE`: one file of everything, while everything goes on.

The rows come first, as one snapshot of the database; then the files that these rows name. Files
are stored before the rows that name them and never change, so a file that comes later is not
needed, and one that is needed is there. Only retention takes files away: those of runs that are
past their date, which a restored installation forgets as well.
"""

from __future__ import annotations

import hashlib
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, BinaryIO
from uuid import UUID

import psycopg
from django.core.files.storage import storages
from django.db import connection as django_connection

from loomverify.backup import manifest
from loomverify.backup.archive import ArchiveWriter
from loomverify.backup.tables import MIGRATIONS_TABLE, columns_of, dump_sequences, dump_tables
from loomverify.env import Environment
from loomverify.variables import ConfigurationError
from verification.runs.evidence_store import content_name

KEYS = ("secret-key", "api-key")
NAMED_FILES = """
    select project.uuid, blob.sha256 from runs_blob blob
    join accounts_project project on project.id = blob.project_id
    order by project.uuid, blob.sha256 collate "C"
"""
STILL_NAMED = """
    select 1 from runs_blob blob join accounts_project project on project.id = blob.project_id
    where project.uuid = %s and blob.sha256 = %s
"""


@dataclass(frozen=True, slots=True)
class Backup:
    """What was written."""

    path: Path
    said: manifest.Manifest
    size: int


def evidence_member(name: str) -> str:
    return f"evidence/{name}"


def our_tables() -> list[str]:
    """Every table that the code knows, whether it is there or not."""
    names = django_connection.introspection.django_table_names(only_existing=False)
    return sorted({*names, MIGRATIONS_TABLE})


def make_backup(path: Path, env: Environment, *, with_keys: bool = True) -> Backup:
    """Write everything into one new file, complete or not at all.

    Raises:
        ConfigurationError: the file is there already or cannot be written, or there is nothing.
    """
    with _new_file(path) as file, psycopg.connect(env.database_url) as connection:
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        connection.read_only = True
        archive = ArchiveWriter(file)
        said = _write(connection, archive, env, with_keys=with_keys)
        content = said.model_dump_json(indent=1).encode()
        archive.add(manifest.MANIFEST, content)
        archive.add(manifest.SEAL, manifest.seal_of(content))
        archive.close()
        size = file.tell()
    return Backup(path, said, size)


def _write(
    connection: psycopg.Connection[Any],
    archive: ArchiveWriter,
    env: Environment,
    *,
    with_keys: bool,
) -> manifest.Manifest:
    tables = our_tables()
    if MIGRATIONS_TABLE not in columns_of(connection, tables):
        raise ConfigurationError("There is nothing to back up: the database is empty.")
    applied = connection.execute("select app, name from django_migrations order by id").fetchall()
    server = connection.execute("show server_version").fetchone()
    return manifest.Manifest(
        format=manifest.FORMAT,
        loomverify=version("loomverify"),
        postgresql=str(server and server[0]),
        created_at=datetime.now(UTC).isoformat(timespec="seconds"),
        migrations=applied,
        tables=dump_tables(connection, tables, archive),
        sequences=dump_sequences(connection, tables),
        evidence=write_evidence(connection, archive, env),
        keys=list(_write_keys(archive, env)) if with_keys else [],
    )


def write_evidence(
    connection: psycopg.Connection[Any], archive: ArchiveWriter, env: Environment
) -> manifest.Evidence:
    files = size = missing = 0
    listing = hashlib.sha256()
    with connection.cursor("named_files") as cursor:
        for project, sha256 in cursor.execute(NAMED_FILES):
            content = _content(project, sha256)
            if content is None:
                missing += _is_still_named(env, project, sha256)
                continue
            name = evidence_member(content_name(project, sha256))
            archive.add(name, content)
            listing.update(f"{name}\n".encode())
            files, size = files + 1, size + len(content)
    return manifest.Evidence(files=files, size=size, sha256=listing.hexdigest(), missing=missing)


def _content(project: UUID, sha256: str) -> bytes | None:
    """The file, where the store has it as it was stored."""
    with suppress(FileNotFoundError):
        with storages["evidence"].open(content_name(project, sha256)) as file:
            content = bytes(file.read())
        if hashlib.sha256(content).hexdigest() == sha256:
            return content
    return None


def _is_still_named(env: Environment, project: UUID, sha256: str) -> bool:
    """Whether a file that is gone is lost: retention takes its row first, outside our snapshot."""
    with psycopg.connect(env.database_url) as now:
        return now.execute(STILL_NAMED, (project, sha256)).fetchone() is not None


def _write_keys(archive: ArchiveWriter, env: Environment) -> Iterator[manifest.Key]:
    """What the data folder keeps and nobody else knows."""
    for name in KEYS:
        path = env.data / name
        is_in_force = name != "secret-key" or not os.environ.get("LOOMVERIFY_SECRET_KEY")
        if is_in_force and path.exists():
            content = path.read_bytes()
            archive.add(f"keys/{name}", content)
            yield manifest.Key(name=name, sha256=hashlib.sha256(content).hexdigest())


@contextmanager
def _new_file(path: Path) -> Iterator[BinaryIO]:
    """A file that appears under its name when it is whole, readable by its owner only."""
    if path.exists():
        raise ConfigurationError(f"{path} is there already: give the backup a name of its own.")
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        handle = os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w+b") as file:
            yield file
        path.hardlink_to(draft)  # unlike a rename, never over another file
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be written: {error.strerror}.") from error
    finally:
        draft.unlink(missing_ok=True)
