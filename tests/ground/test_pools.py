"""Which queues a worker serves in which pool, and as what each pool is known to be alive."""

from __future__ import annotations

import pytest
from celery import Celery

from loomverify.cli import QUEUES, _pools
from verification.runs import heartbeats, tasks


@pytest.mark.parametrize(
    ("queues", "concurrency", "pools"),
    [
        (QUEUES, 4, {"w": ("live,bulk", 4, "worker"), "w-shadow": ("shadow", 2, "worker-beside")}),
        (
            "shadow,live",
            1,
            {"w": ("live", 1, "worker"), "w-shadow": ("shadow", 1, "worker-beside")},
        ),
        ("live", 4, {}),
        ("live,bulk,sandbox", 4, {}),
        ("shadow,bulk", 4, {}),
        ("bulk", 4, {}),
    ],
)
def test_live_runs_share_no_pool_with_trials(
    queues: str, concurrency: int, pools: dict[str, tuple[str, int, str]]
) -> None:
    found = _pools(queues.split(","), concurrency, "w")

    assert found == {
        name: ["worker", f"--queues={served}", f"--concurrency={size}", f"--name={name}"]
        for name, (served, size, _) in pools.items()
    }
    assert [known_as(served) for served, _, _ in pools.values()] == [
        role for _, _, role in pools.values()
    ]


def test_a_worker_is_known_as_one_where_it_takes_live_runs() -> None:
    assert known_as("live") == known_as("sandbox,live") == heartbeats.WORKER
    assert known_as("shadow,bulk") == known_as("bulk") == heartbeats.WORKER_BESIDE


def known_as(queues: str) -> str:
    """By what Celery keeps of `--queues`."""
    app = Celery(set_as_current=False)
    app.amqp.queues.select(queues.split(","))
    return tasks.role_of(app.amqp.queues.consume_from)
