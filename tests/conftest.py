from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.db import connection
from django.test import TransactionTestCase

from tests.emptying import empty_tables
from tests.first_tables import TablesAtOnce

MESSAGES = Path(os.environ["LOOMVERIFY_DATA"], "broker", "queue")

# Hundreds of tests make people; how slowly a password is tried is Django's matter.
django_settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
TransactionTestCase._fixture_teardown = empty_tables  # type: ignore[attr-defined]
connection.creation = TablesAtOnce(connection)


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings_parallel_suffix: None) -> None:
    """Several suites may run on one server at a time, each with LV_TEST_DB_SUFFIX of its own."""
    test = django_settings.DATABASES["default"].setdefault("TEST", {})
    name = test.get("NAME") or f"test_{django_settings.DATABASES['default']['NAME']}"
    test["NAME"] = name + os.environ.get("LV_TEST_DB_SUFFIX", "")


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None) -> Iterator[None]:
    """Readers of past runs have connections of their own: none outlives the tests' database."""
    yield
    from verification.rules.backtest.readers import READERS

    READERS.close()


@pytest.fixture(autouse=True)
def _no_message_of_another_test() -> None:
    """Nobody works off what a test sends, and the relay counts what waits."""
    for message in MESSAGES.glob("*.msg"):
        message.unlink(missing_ok=True)


@pytest.fixture(autouse=True)
def _static_files_are_found_uncollected(settings: Any) -> None:
    plain = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    settings.STORAGES = {**settings.STORAGES, "staticfiles": plain}
