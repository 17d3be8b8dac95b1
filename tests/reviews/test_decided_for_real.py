"""With the real relay, the real web server and somebody who waits."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any

import httpx
import pytest

from tests.actions.receiver import Receiver, running_receiver
from tests.runs.conftest import body_of
from tests.stack import Stack, running_stack, wait_for

DECIDED = "?wait=60&until=decided"


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    folder = tmp_path_factory.mktemp("decided")
    with running_stack(folder, settings="tests.reviews.without_polling") as stack:
        yield stack


@pytest.fixture
def receiver(stack: Stack) -> Iterator[Receiver]:
    with running_receiver() as receiver, stack.client() as client:
        hook = {"url": receiver.url, "topics": ["run.decided"]}
        assert client.post("/webhooks", json=hook).status_code == 201
        yield receiver


def in_doubt(client: httpx.Client) -> dict[str, Any]:
    run: dict[str, Any] = client.post("/runs?wait=60", json=body_of(tier=2)).json()
    assert run["review"]["state"] == "pending"
    return run


@pytest.mark.extended
def test_a_decision_on_a_page_wakes_the_waiting_request_when_it_can_no_longer_be_undone(
    stack: Stack, receiver: Receiver
) -> None:
    with ThreadPoolExecutor(1) as pool, stack.client() as client:
        run = in_doubt(client)
        waiting = pool.submit(client.get, f"/runs/{run['id']}{DECIDED}")
        began = time.monotonic()
        _decide_on_the_page(stack)
        answer = waiting.result(timeout=90)
        waited = time.monotonic() - began

    assert answer.json()["review"]["comment"] == "I read it."
    assert (answer.json()["final_outcome"], answer.json()["verdict"]) == ("pass", "undecided")
    assert 9 < waited < 55  # the ten seconds of undo, of the sixty that it would wait
    wait_for(lambda: receiver.received, "the webhook")
    [heard] = receiver.received
    assert heard.headers["LoomVerify-Event"] == "run.decided"
    assert json.loads(heard.body)["payload"]["final_outcome"] == "pass"


def test_a_decision_over_the_api_wakes_the_request_that_waits_for_it(stack: Stack) -> None:
    with ThreadPoolExecutor(1) as pool, stack.client() as client, stack.client() as other:
        run = in_doubt(client)
        waiting = pool.submit(client.get, f"/runs/{run['id']}{DECIDED}")
        wait_for(lambda: _listens(stack), "the listener")
        decision = {"outcome": "fail", "comment": "A quarter is missing."}
        assert other.post(f"/runs/{run['id']}/review", json=decision).status_code == 200
        answer = waiting.result(timeout=90)

    assert (answer.json()["review"]["passed"], answer.json()["passed"]) == (False, None)
    assert answer.elapsed.total_seconds() < 55  # of the sixty that it would wait


def test_a_wait_for_a_decision_returns_at_once_where_nothing_is_pending(stack: Stack) -> None:
    with stack.client() as client:
        run = client.post("/runs?wait=60", json=body_of()).json()
        answer = client.get(f"/runs/{run['id']}{DECIDED}")

    assert answer.json()["review"]["state"] == "not_required"
    assert answer.elapsed.total_seconds() < 55  # of the sixty


@pytest.mark.extended
def test_a_wait_for_a_decision_ends_with_its_time(stack: Stack) -> None:
    with stack.client() as client:
        run = in_doubt(client)
        answer = client.get(f"/runs/{run['id']}?wait=0.5&until=decided")
        over = client.get(f"/runs/{run['id']}?wait=60&until=over")

    assert (answer.status_code, answer.json()["review"]["state"]) == (200, "pending")
    assert over.elapsed.total_seconds() < 55  # of the sixty


def _decide_on_the_page(stack: Stack) -> None:
    [[review]] = stack.query("select uuid from runs_review where state = 'pending'")
    with closing(stack.browser()) as page:
        answer = page.post(
            f"/p/default/review/{review}/decide/",
            data={"outcome": "pass", "comment": "I read it."},
            headers={"X-CSRFToken": page.cookies["csrftoken"]},
        )
    assert answer.status_code == 200


def _listens(stack: Stack) -> bool:
    found = "select count(*) from pg_stat_activity where query ilike 'listen run_over%%'"
    return bool(stack.query(found)[0][0])
