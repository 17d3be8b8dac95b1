"""Plugin for tests with Django: one server per run, one database per worker, made from a template.

It is imported before the settings, since they read DATABASE_URL.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest
from psycopg.sql import SQL, Identifier

from tests.session import join_session, keeps, locked, start_database

ROOT = Path(__file__).parents[1]
# Random samples are drawn for review only where a test asks for them.
os.environ["LOOMVERIFY_REVIEW_SAMPLE_RATE"] = "0"
start_database(join_session())


def pytest_configure(config: pytest.Config) -> None:
    """Register the fixtures after pytest-django: the fixture that is registered last wins."""
    from tests import fixtures

    config.pluginmanager.register(fixtures, "tests.fixtures")


def template_database() -> str:
    """Return the name of a database that holds all tables. The first caller of a run makes it.

    The name holds a digest of the migrations, so that a kept server never serves an old schema.
    """
    name = f"template_{schema_digest()}"
    with locked("template"), _maintenance() as server:
        if server.execute("select from pg_database where datname = %s", [name]).rowcount == 0:
            _make_template(name)
    return name


@contextmanager
def cloned_database(name: str, template: str) -> Iterator[str]:
    """Make a database from `template`; yields its address and drops it in the end."""
    yield clone_database(name, template)
    if not keeps():
        drop_database(name)


def clone_database(name: str, template: str) -> str:
    """Copy a database that nobody is connected to; return the address of the copy."""
    # One process at a time: PostgreSQL refuses to copy a template that somebody else copies.
    with locked("template"), _maintenance() as server:
        server.execute(
            SQL("create database {} template {} strategy file_copy").format(
                Identifier(name), Identifier(template)
            )
        )
    return address_of(name)


def drop_database(name: str) -> None:
    with _maintenance() as server:
        server.execute(SQL("drop database if exists {} with (force)").format(Identifier(name)))


def address_of(name: str) -> str:
    return urlsplit(os.environ["DATABASE_URL"])._replace(path=f"/{name}").geturl()


def _make_template(name: str) -> None:
    """Make it under another name first: an interrupted run leaves no half of a template."""
    from django.db import connection

    from loomverify.setup import migrate

    unfinished = f"{name}_unfinished"
    drop_database(unfinished)
    with _maintenance() as server:
        server.execute(SQL("create database {} template template0").format(Identifier(unfinished)))
    before = connection.settings_dict["NAME"]
    connect_to(unfinished)
    migrate()
    connect_to(before)
    with _maintenance() as server:
        server.execute(
            SQL("alter database {} rename to {}").format(Identifier(unfinished), Identifier(name))
        )


def connect_to(name: str) -> None:
    """Let Django use another database of the server."""
    from django.conf import settings
    from django.db import connection

    disconnect()
    settings.DATABASES["default"]["NAME"] = name
    connection.settings_dict["NAME"] = name


def disconnect() -> None:
    from django.db import connection

    connection.close()
    connection.close_pool()  # type: ignore[attr-defined]


@contextmanager
def _maintenance() -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as connection:
        yield connection


@cache
def schema_digest() -> str:
    files = [*ROOT.glob("*/migrations/*.py"), *ROOT.glob("*/*/migrations/*.py")]
    digest = hashlib.sha256()
    for path in sorted([*files, ROOT / "loomverify" / "first_tables.sql"]):
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()[:16]
