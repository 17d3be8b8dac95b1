"""Rows as PostgreSQL's own text format, in compressed parts: from any server into any other.

No SQL is kept in a backup: the schema is made by the migrations that it names, so that whoever
hands you a backup cannot have commands executed.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from psycopg import Connection, Cursor
from psycopg.sql import SQL, Composed, Identifier

from loomverify.backup import manifest
from loomverify.backup.archive import ArchiveWriter, DamagedBackup

PART_BYTES = 32 * 1024 * 1024
LEVEL = 1
MIGRATIONS_TABLE = "django_migrations"
SAME_TEXT_EVERYWHERE = """
    set datestyle = 'ISO'; set intervalstyle = 'postgres'; set timezone = 'UTC';
    set extra_float_digits = 3; set bytea_output = 'hex'; set client_encoding = 'UTF8'
"""
COLUMNS = """
    select table_name::text, column_name::text from information_schema.columns
    where table_schema = current_schema() and is_generated = 'NEVER'
    order by table_name, ordinal_position
"""
IDENTITIES = """
    select table_name::text, column_name::text,
           pg_get_serial_sequence(quote_ident(table_name), column_name)
    from information_schema.columns
    where table_schema = current_schema()
      and pg_get_serial_sequence(quote_ident(table_name), column_name) is not null
    order by 1, 2
"""
FOREIGN_KEYS = """
    select conrelid::regclass::text, conname::text, pg_get_constraintdef(oid) from pg_constraint
    where contype = 'f' and connamespace = current_schema()::regnamespace
"""

Read = Callable[[str], bytes]
"""A member's content by its name."""


def part_name(table: str, number: int) -> str:
    return f"tables/{table}.{number:05d}"


def columns_of(connection: Connection[Any], tables: Sequence[str]) -> dict[str, list[str]]:
    """The columns of each table that exists, in order."""
    found: dict[str, list[str]] = {}
    for table, column in connection.execute(COLUMNS).fetchall():
        if table in tables:
            found.setdefault(table, []).append(column)
    return found


def dump_tables(
    connection: Connection[Any], tables: Sequence[str], archive: ArchiveWriter
) -> list[manifest.Table]:
    """Write the rows of all tables as the connection's snapshot has them."""
    connection.execute(SAME_TEXT_EVERYWHERE)
    return [
        _dump(connection, name, columns, archive)
        for name, columns in sorted(columns_of(connection, tables).items())
    ]


def _dump(
    connection: Connection[Any], name: str, columns: list[str], archive: ArchiveWriter
) -> manifest.Table:
    parts: list[manifest.Part] = []
    statement = SQL("copy (select {} from {}) to stdout").format(
        SQL(", ").join(map(Identifier, columns)), Identifier(name)
    )
    with connection.cursor() as cursor:
        for text in _portions(cursor, statement):
            content = zlib.compress(text, LEVEL)
            archive.add(part_name(name, len(parts)), content)
            digest = hashlib.sha256(content).hexdigest()
            parts.append(manifest.Part(sha256=digest, size=len(text)))
        return manifest.Table(name=name, columns=columns, rows=cursor.rowcount, parts=parts)


def _portions(cursor: Cursor[Any], statement: Composed) -> Iterator[bytes]:
    waiting = bytearray()
    with cursor.copy(statement) as copied:
        for chunk in copied:
            waiting += chunk
            while len(waiting) >= PART_BYTES:
                yield bytes(waiting[:PART_BYTES])
                del waiting[:PART_BYTES]
    if waiting:
        yield bytes(waiting)


def dump_sequences(connection: Connection[Any], tables: Sequence[str]) -> list[manifest.Sequence]:
    """Read after the snapshot was taken: they are never behind its rows."""
    found = []
    for table, column, sequence in connection.execute(IDENTITIES).fetchall():
        if table in tables:
            statement = SQL("select last_value, is_called from {}")
            last = connection.execute(statement.format(SQL(sequence))).fetchone()
            assert last is not None  # noqa: S101 - a sequence has one row
            found.append(
                manifest.Sequence(table=table, column=column, last_value=last[0], is_called=last[1])
            )
    return found


def load_tables(connection: Connection[Any], said: manifest.Manifest, content: Read) -> None:
    """Fill the tables, which exist, with the backup's rows and nothing else."""
    names = [table.name for table in said.tables]
    with connection.cursor() as cursor:
        cursor.execute(SAME_TEXT_EVERYWHERE)
        keys = cursor.execute(FOREIGN_KEYS).fetchall()
        # Checked row by row they would take longer than all the rest, and memory for each row.
        for table, key, _ in keys:
            cursor.execute(
                SQL("alter table {} drop constraint {}").format(SQL(table), Identifier(key))
            )
        cursor.execute(SQL("truncate {}").format(SQL(", ").join(map(Identifier, names))))
        for table in said.tables:
            _load(cursor, table, content)
        for table, key, definition in keys:
            statement = SQL("alter table {} add constraint {} {}")
            cursor.execute(statement.format(SQL(table), Identifier(key), SQL(definition)))
        for sequence in said.sequences:
            cursor.execute(
                "select setval(pg_get_serial_sequence(%s, %s), %s, %s)",
                (sequence.table, sequence.column, sequence.last_value, sequence.is_called),
            )


def _load(cursor: Cursor[Any], table: manifest.Table, content: Read) -> None:
    name = Identifier(table.name)
    statement = SQL("copy {} ({}) from stdin").format(
        name, SQL(", ").join(map(Identifier, table.columns))
    )
    cursor.execute(SQL("alter table {} disable trigger user").format(name))
    with cursor.copy(statement) as copied:
        for number, part in enumerate(table.parts):
            copied.write(unpacked(content(part_name(table.name, number)), part))
    if cursor.rowcount != table.rows:
        raise DamagedBackup(f"The backup is damaged: {table.name} has not as many rows as it says.")
    cursor.execute(SQL("alter table {} enable trigger user").format(name))


def unpacked(content: bytes, part: manifest.Part) -> bytes:
    """The text of a part, if it is what the manifest says, and no larger than we write."""
    if hashlib.sha256(content).hexdigest() != part.sha256:
        raise DamagedBackup("The backup is damaged: rows in it were changed.")
    unpacking = zlib.decompressobj()
    try:
        text = unpacking.decompress(content, PART_BYTES + 1)
    except zlib.error as error:
        raise DamagedBackup("The backup is damaged: rows in it cannot be unpacked.") from error
    if not len(text) == part.size <= PART_BYTES or not unpacking.eof or unpacking.unused_data:
        raise DamagedBackup("The backup is damaged: rows in it do not have the size they should.")
    return text


def refuse_other_columns(found: Mapping[str, Sequence[str]], said: manifest.Manifest) -> None:
    """The migrations must have made exactly the tables that the backup speaks of."""
    expected = {table.name: sorted(table.columns) for table in said.tables}
    if {name: sorted(columns) for name, columns in found.items()} != expected:
        raise DamagedBackup("The tables of the backup are not those of the version that it names.")
