from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from loomverify.accounts.models import Project
from tests.builders import make_project


@pytest.fixture
def project(db: None) -> Project:
    return make_project()


@pytest.fixture
def own_evidence(settings: Any, tmp_path: Path) -> None:
    evidence = {**settings.STORAGES["evidence"], "OPTIONS": {"location": tmp_path / "evidence"}}
    settings.STORAGES = {**settings.STORAGES, "evidence": evidence}
