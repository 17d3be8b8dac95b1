"""Not collected by `make test`: a model must be built first. `make test-model` does both."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.model.served import Served, served

PYTHON = os.environ.get("LOOMVERIFY_MODEL_PYTHON", "")
collect_ignore = [] if PYTHON else ["test_small_model.py"]


@pytest.fixture(scope="session")
def small_model(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(Path(PYTHON), tmp_path_factory.mktemp("model")) as model:
        yield model
