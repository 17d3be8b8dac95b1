from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.conf import LazySettings

from loomverify.accounts.models import Project
from tests.builders import make_project
from tests.model_server import ModelServer, model_server
from tests.rules.sampled import blames_bad
from tests.runs.judged import judged_by
from verification.rules.samples import waking


@pytest.fixture(autouse=True)
def _own_evidence(tmp_path: Any, settings: LazySettings) -> None:
    storages: dict[str, Any] = dict(settings.STORAGES)
    storages["evidence"] = {**storages["evidence"], "OPTIONS": {"location": tmp_path / "evidence"}}
    settings.STORAGES = storages


@pytest.fixture
def nobody_waits_long(settings: LazySettings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.JUDGE_FIRST_WAIT_SECONDS = 0.01
    monkeypatch.setattr(waking, "wake", lambda sample_id: True)


@pytest.fixture
def project() -> Project:
    return make_project("ours")


@pytest.fixture
def server(project: Project) -> Iterator[ModelServer]:
    with model_server(blames_bad) as server:
        judged_by(project, server)
        yield server
