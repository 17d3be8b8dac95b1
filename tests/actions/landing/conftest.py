from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings

from loomverify.accounts.access import SYSTEM
from loomverify.accounts.models import Project, Role
from tests.actions.landing.scene import PROCESS, Origin, Scene
from tests.model_server import ModelServer, model_server
from tests.runs.conftest import Caller, new_process, new_project
from tests.runs.judged import PASSING, judged_by
from verification.actions.models import Mode
from verification.actions.repositories import services
from verification.actions.repositories.terms import Terms


@pytest.fixture(autouse=True)
def _own_data(tmp_path: Path, settings: LazySettings) -> None:
    storages: dict[str, Any] = dict(settings.STORAGES)
    storages["evidence"] = {**storages["evidence"], "OPTIONS": {"location": tmp_path / "evidence"}}
    settings.STORAGES = storages
    settings.MIRRORS = tmp_path / "mirrors"


@pytest.fixture
def judge() -> Iterator[ModelServer]:
    with model_server(lambda _: PASSING) as server:
        yield server


@pytest.fixture
def origin(tmp_path: Path) -> Origin:
    return Origin.made(tmp_path / "origin.git")


@pytest.fixture
def project(db: None) -> Project:
    return new_project("ours")


@pytest.fixture
def scene(project: Project, origin: Origin, judge: ModelServer) -> Scene:
    """A project whose judge is content, with a repository in which everything is done by itself."""
    judged_by(project, judge)
    new_process(project, PROCESS)
    terms = Terms(str(origin.path), commit_mode=Mode.DO, branch_mode=Mode.DO, revert_mode=Mode.DO)
    agent, reviewer = Caller(project, Role.AGENT), Caller(project, Role.REVIEWER)
    repository = services.register(project=project, actor=SYSTEM, name="origin", terms=terms)
    return Scene(project, repository, origin, agent, reviewer)
