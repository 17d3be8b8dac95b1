from __future__ import annotations

from collections.abc import Iterator

import pytest
from docker import APIClient

from tests.sandbox.engine import SETTINGS
from verification.adapters.sandbox.docker import connect


@pytest.fixture(scope="session")
def engine() -> Iterator[APIClient]:
    client = connect(SETTINGS)
    yield client
    client.close()


@pytest.fixture(autouse=True)
def nothing_is_left_behind(engine: APIClient) -> Iterator[None]:
    yield
    label = {"label": f"loomverify.owner={SETTINGS.owner}"}
    assert engine.containers(all=True, filters=label) == []
