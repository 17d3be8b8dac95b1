"""300 runs while everything that can die dies: each ends once, nothing is lost or doubled."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import psycopg
import pytest
import redis

from loomverify.embedded import start_server, stop_server
from tests.actions.receiver import Receiver, running_receiver
from tests.session import FAST
from tests.stack import Stack, redis_server, running_stack, wait_for

pytestmark = pytest.mark.faults

TASKS = 50
RUNS_PER_TASK = 3
RUNS = TASKS * RUNS_PER_TASK
WORKERS = ("worker", "worker-bulk")


@pytest.fixture(params=["filesystem", pytest.param("redis", marks=pytest.mark.redis)])
def stack(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Stack]:
    folder = tmp_path_factory.mktemp("stack")
    settings = "tests.faults.settings"
    if request.param == "filesystem":
        with running_stack(folder, settings=settings, own_server=True) as stack:
            yield stack
        return
    with (
        redis_server(tmp_path_factory.mktemp("redis")) as url,
        running_stack(folder, redis_url=url, settings=settings, own_server=True) as stack,
    ):
        yield stack


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with running_receiver() as receiver:
        yield receiver


def test_every_run_ends_once_whatever_dies(stack: Stack, receiver: Receiver) -> None:
    _add_webhook(stack, receiver)
    with ThreadPoolExecutor(8) as pool:
        breaking = pool.submit(_break_things, stack)
        runs = list(pool.map(lambda number: _submit(stack, number), range(RUNS)))
        breaking.result()
    wait_for(lambda: _finished(stack) == RUNS, "the end of all runs", seconds=240)
    wait_for(lambda: len(_heard(receiver)) == RUNS, "a webhook for every run", seconds=180)

    assert len(set(runs)) == RUNS
    assert _counts(stack, "select state, count(*) from runs_run group by state") == {
        "finished": RUNS
    }
    _assert_nothing_is_doubled(stack)
    _assert_attempts_are_exact(stack)
    _assert_webhooks_are_stable(receiver, runs)
    _assert_the_faults_were_real(stack)


def _assert_nothing_is_doubled(stack: Stack) -> None:
    finished = "verification_%"
    ends = "select run_id, count(*) from runs_event where kind like %s group by run_id"

    assert set(_counts(stack, ends, finished).values()) == {1}
    assert stack.query("select count(*) from runs_evaluation") == [(RUNS,)]
    assert stack.query("select count(*) from runs_evaluation where finished_at is null") == [(0,)]
    assert set(
        _counts(
            stack,
            "select evaluation_id, count(*) from runs_finding"
            " where reason_code = 'nonzero_return_code' group by evaluation_id",
        ).values()
    ) == {1}
    assert stack.query("select count(*) from runs_outboxevent where topic = 'run.finished'") == [
        (RUNS,)
    ]


def _assert_attempts_are_exact(stack: Stack) -> None:
    """Each task was sent a pass and two different rejects, in whatever order they ended."""
    assert stack.query(
        "select attempts_used, submissions, exhausted, count(*) from runs_task group by 1, 2, 3"
    ) == [(2, RUNS_PER_TASK, False, TASKS)]


def _assert_webhooks_are_stable(receiver: Receiver, runs: list[str]) -> None:
    ids: defaultdict[str, set[str]] = defaultdict(set)
    for event_id, run in _heard(receiver).items():
        ids[run].add(event_id)

    assert set(ids) == set(runs)
    assert {len(found) for found in ids.values()} == {1}


def _assert_the_faults_were_real(stack: Stack) -> None:
    takeovers = stack.query("select count(*), sum(fence - 1) from runs_run where fence > 1")
    resumed = stack.query(
        "select count(*) from runs_run r join runs_event e on e.run_id = r.id"
        " where r.fence > 1 and e.kind = 'tier_finished' and e.at + interval '1.5 s' < r.finished_at"
    )

    assert takeovers[0][1] >= 10  # about fifty: chance has it
    assert resumed[0][0] >= 1


def _submit(stack: Stack, number: int) -> str:
    """Submit until it is taken: the key makes repeats harmless."""
    task, turn = divmod(number, RUNS_PER_TASK)
    body: dict[str, Any] = {
        "process": "general",
        "task": {"id": f"task-{task}", "description": "Survive."},
        "output": f"Turn {turn}.",
        "return_code": 0 if turn == 0 else 1,
    }
    taken: list[str] = []

    def is_taken() -> bool:
        try:
            with stack.client(**{"Idempotency-Key": f"key-{number}"}) as client:
                answer = client.post("/runs", json=body)
        except httpx.TransportError:
            return False
        if answer.status_code in {200, 202}:
            taken.append(answer.json()["id"])
            return True
        assert answer.status_code >= 500, answer.text
        return False

    wait_for(is_taken, f"run {number}", seconds=120)
    return taken[0]


def _break_things(stack: Stack) -> None:
    """One fault after another, each when enough runs have ended since the one before."""
    for number, fault in enumerate(FAULTS, start=1):
        enough = number * RUNS // (len(FAULTS) + 2)
        wait_for(lambda enough=enough: _finished(stack) >= enough, f"{enough} runs", seconds=240)
        fault(stack)


def _kill_workers(stack: Stack) -> None:
    for name in WORKERS:
        stack.kill(name)
    stack.start(*WORKERS)


def _empty_broker(stack: Stack) -> None:
    if stack.redis_url:
        redis.Redis.from_url(stack.redis_url).flushall()
        return
    queue = stack.folder / "broker" / "queue"
    for message in list(queue.iterdir()):
        message.unlink(missing_ok=True)


def _restart_web(stack: Stack) -> None:
    stack.kill("web")
    stack.start("web")


def _restart_postgres(stack: Stack) -> None:
    stop_server(stack.folder / "postgres")
    start_server(stack.folder / "postgres", extra_settings=FAST)


def _add_webhook(stack: Stack, receiver: Receiver) -> None:
    with stack.client() as client:
        answer = client.post("/webhooks", json={"url": receiver.url, "topics": ["run.finished"]})
    assert answer.status_code == 201, answer.text


def _heard(receiver: Receiver) -> dict[str, str]:
    """`{event id: run}` of everything received so far."""
    heard = {}
    for one in list(receiver.received):
        payload = json.loads(one.body)
        headers = {name.lower(): value for name, value in one.headers.items()}
        heard[headers["loomverify-delivery"]] = payload["payload"]["run"]
    return heard


def _finished(stack: Stack) -> int:
    try:
        rows = stack.query("select count(*) from runs_run where state = 'finished'")
    except psycopg.Error:  # it is being restarted
        return -1
    return int(rows[0][0])


def _counts(stack: Stack, sql: str, *parameters: object) -> dict[Any, int]:
    return dict(stack.query(sql, *parameters))


FAULTS = (
    _kill_workers,
    _empty_broker,
    _restart_web,
    _kill_workers,
    _restart_postgres,
    _kill_workers,
    _empty_broker,
    _restart_postgres,
    _kill_workers,
)
