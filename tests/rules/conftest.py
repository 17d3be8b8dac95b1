from __future__ import annotations

from typing import Any

import pytest
from django.conf import LazySettings


@pytest.fixture(autouse=True)
def _own_evidence(tmp_path: Any, settings: LazySettings) -> None:
    storages: dict[str, Any] = dict(settings.STORAGES)
    storages["evidence"] = {**storages["evidence"], "OPTIONS": {"location": tmp_path / "evidence"}}
    settings.STORAGES = storages
