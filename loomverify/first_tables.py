"""The tables of an empty database, made at once instead of by one migration after the other.

Django renders all models anew for most of their operations, which takes a first start longer
than all the rest. `first_tables.sql` is what the migrations sent to an empty database, in their
order: `python -m tests.first_tables` writes it, and a test sees that it is still what they send.
Migrations that came since are applied as ever.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path

from django.db import connection, transaction

Key = tuple[str, str]

SCRIPT = Path(__file__).with_suffix(".sql")
APPLIED = "insert into django_migrations (app, name, applied) values ('{}', '{}', now());"
KEY = re.compile(re.escape(APPLIED).replace(r"\{\}", r"(\w+)"))


def migrations_of(script: str) -> list[Key]:
    """Those that a script does and says to be applied, in their order."""
    return [(app, name) for app, name in KEY.findall(script)]


def make_first_tables(wanted: Collection[Key]) -> bool:
    """Do what the migrations of the script do, all or nothing.

    False: nothing was done, as some of them are not wanted, or the database is not empty.
    """
    script = SCRIPT.read_text()
    if connection.introspection.table_names() or not set(migrations_of(script)) <= set(wanted):
        return False
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(script)
    return True
