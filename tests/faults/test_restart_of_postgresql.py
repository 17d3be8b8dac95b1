from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from loomverify.embedded import start_server, stop_server
from tests.postgres import FAST
from tests.stack import Stack, running_stack

pytestmark = pytest.mark.faults

THREADS = 64
REQUESTS = 300


@pytest.fixture
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with running_stack(tmp_path_factory.mktemp("restart"), "web") as stack:
        yield stack


def test_a_full_pool_gets_over_a_restart_without_an_error(stack: Stack) -> None:
    with ThreadPoolExecutor(THREADS) as pool, stack.client() as client:
        busy = set(pool.map(lambda _: client.get("/runs").status_code, range(REQUESTS)))

    stop_server(stack.folder / "postgres")
    start_server(stack.folder / "postgres", extra_settings=FAST)
    with stack.client() as client:
        after = [client.get("/runs").status_code for _ in range(20)]

    assert busy == {200}
    assert set(after) == {200}
