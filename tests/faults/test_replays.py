"""Replays while their worker dies and the broker forgets: each ends, and each case once."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from tests.stack import Stack, running_stack, wait_for

pytestmark = pytest.mark.faults
CASES = 600
MAKE = f"""
import django; django.setup()
from tests.benchmarks.golden_replays import make_cases
make_cases({CASES})
"""


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    folder = tmp_path_factory.mktemp("stack")
    names = ("web", "worker-bulk", "relay")
    with running_stack(folder, *names, settings="tests.faults.judged_settings") as stack:
        subprocess.run([sys.executable, "-c", MAKE], env=stack.environment, check=True)
        yield stack


def start(stack: Stack, **wish: Any) -> str:
    with stack.client() as client:
        answer = client.post("/golden/replays", json=wish)
    assert answer.status_code == 202, answer.text
    return str(answer.json()["id"])


def ended(stack: Stack, replay: str) -> dict[str, Any]:
    found: dict[str, Any] = {}

    def is_over() -> bool:
        with stack.client() as client:
            found.update(client.get(f"/golden/replays/{replay}?wait=60").json())
        return found["state"] not in {"queued", "running"}

    wait_for(is_over, "the end of the replay", seconds=240)
    return found


def done(stack: Stack, replay: str) -> int:
    [[count]] = stack.query(
        "select count(*) from golden_replayresult result join golden_replay replay"
        " on replay.id = replay_id where uuid = %s and replayed_at is not null",
        replay,
    )
    return int(count)


def test_a_replay_ends_though_its_worker_is_killed_and_the_broker_forgets(stack: Stack) -> None:
    replay = start(stack)
    for share in (0.1, 0.4):
        wait_for(lambda share=share: done(stack, replay) >= share * CASES, "some cases")
        stack.kill("worker-bulk")
        for message in list((stack.folder / "broker" / "queue").iterdir()):
            message.unlink(missing_ok=True)
        assert done(stack, replay) < CASES
        stack.start("worker-bulk")

    found = ended(stack, replay)

    assert found["counts"]["held"] == found["total"] == done(stack, replay) == CASES
    claims = stack.query(
        "select max(claims) from golden_replayresult where replayed_at is not null"
    )
    assert 2 <= claims[0][0] <= 3
    finished = "select count(*) from accounts_auditentry where verb = 'replay.finished'"
    assert stack.query(finished) == [(1,)]


def test_a_replay_that_is_cancelled_leaves_its_worker_to_the_next(stack: Stack) -> None:
    replay = start(stack)
    wait_for(lambda: done(stack, replay) > 0, "the first cases")

    with stack.client() as client:
        cancelled = client.post(f"/golden/replays/{replay}/cancel").json()
    following = ended(stack, start(stack, tags=["injection"]))

    assert (cancelled["state"], cancelled["cancelled"]) == ("cancelled", True)
    assert following["state"] == "finished"
    left = done(stack, replay)
    assert 0 < left < CASES
    found = ended(stack, replay)
    assert (found["state"], found["counts"], found["progress"]["done"]) == ("cancelled", {}, left)
