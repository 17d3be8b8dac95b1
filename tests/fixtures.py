"""Fixtures of all tests with Django. `tests.database` registers them."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.test import TransactionTestCase

from tests.database import cloned_database, connect_to, disconnect, template_database
from tests.emptying import empty_tables

MESSAGES = Path(os.environ["LOOMVERIFY_DATA"], "broker", "queue")

# Hundreds of tests create users. Django tests the strength of password hashes.
django_settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
# Static files are served without collecting them first.
django_settings.STORAGES["staticfiles"] = {
    "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
}
TransactionTestCase._fixture_teardown = empty_tables  # type: ignore[attr-defined]


@pytest.fixture(scope="session")
def django_db_setup(django_test_environment: None, django_db_blocker: Any) -> Iterator[None]:
    """Clone the template for this worker. Its transactional tests empty the tables again."""
    from verification.rules.backtest.readers import READERS

    with django_db_blocker.unblock():
        template = template_database()
        name = f"test_{os.environ.get('PYTEST_XDIST_WORKER', 'main')}_{os.getpid()}"
        with cloned_database(name, template):
            connect_to(name)
            with django_db_blocker.block():
                yield
            READERS.close()
            disconnect()


@pytest.fixture
def short_folder() -> Iterator[Path]:
    """A temporary folder for sockets. `tmp_path` can be longer than a socket's path may be."""
    with tempfile.TemporaryDirectory(prefix="s-") as folder:
        yield Path(folder)


@pytest.fixture(autouse=True)
def _no_message_of_another_test() -> None:
    """No worker takes the messages that tests send, and the relay counts them."""
    for message in MESSAGES.glob("*.msg"):
        message.unlink(missing_ok=True)
