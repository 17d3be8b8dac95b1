from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.conf import LazySettings

from verification.rules.backtest.readers import READERS


@pytest.fixture(autouse=True)
def _own_evidence(tmp_path: Any, settings: LazySettings) -> None:
    storages: dict[str, Any] = dict(settings.STORAGES)
    storages["evidence"] = {**storages["evidence"], "OPTIONS": {"location": tmp_path / "evidence"}}
    settings.STORAGES = storages


@pytest.fixture
def readers() -> Iterator[None]:
    """Readers have connections of their own: none may outlive the test's database."""
    yield
    READERS.close()
