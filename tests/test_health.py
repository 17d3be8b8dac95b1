from __future__ import annotations

import json
import os
from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.db import connection
from django.http import HttpRequest
from django.test import Client
from django.utils import timezone

from loomverify import health, ops
from tests.scripted_server import ScriptedServer, scripted_server
from verification.runs import heartbeats
from verification.runs.models import Heartbeat


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with scripted_server() as server:
        yield server


@pytest.mark.parametrize(("status", "code"), [(200, 0), (503, 1)])
def test_the_web_is_asked_under_its_own_name(
    server: ScriptedServer, monkeypatch: pytest.MonkeyPatch, status: int, code: int
) -> None:
    server.answers = [(status, {})]
    monkeypatch.setenv("PORT", str(server.port))
    monkeypatch.setenv("BASE_URL", "https://verify.example.com")

    result = health.main(["web"])

    assert result == code
    assert server.requests[0].path == "/healthz"
    assert server.requests[0].headers["Host"] == "verify.example.com"


@pytest.fixture
def environment_of_test_database(monkeypatch: pytest.MonkeyPatch, transactional_db: None) -> None:
    path, _, query = os.environ["DATABASE_URL"].partition("?")
    name = connection.settings_dict["NAME"]
    monkeypatch.setenv("DATABASE_URL", f"{path.rpartition('/')[0]}/{name}?{query}")


@pytest.mark.usefixtures("environment_of_test_database")
def test_a_worker_is_healthy_while_it_beats_on_this_host(
    capsys: pytest.CaptureFixture[str],
) -> None:
    before = health.main(["worker"])
    heartbeats.beat("worker")
    beating = health.main(["worker"])
    Heartbeat.objects.update(at=timezone.now() - timedelta(minutes=2))
    stale = health.main(["worker"])

    assert (before, beating, stale) == (1, 0, 1)
    assert "worker: no recent heartbeat" in capsys.readouterr().err


@pytest.mark.usefixtures("environment_of_test_database")
def test_a_pool_of_trials_says_nothing_of_the_one_for_live_runs() -> None:
    heartbeats.beat(heartbeats.WORKER_BESIDE)

    ready = json.loads(ops.readyz(HttpRequest()).content)

    assert (health.main(["worker"]), health.main(["worker-beside"])) == (1, 0)
    assert (ready["worker"], ready["ready"]) == ("never seen", False)


@pytest.mark.usefixtures("environment_of_test_database")
def test_another_hosts_heartbeat_says_nothing_about_this_one() -> None:
    Heartbeat.objects.create(role="worker", name="worker@elsewhere:1", at=timezone.now())

    assert health.main(["worker"]) == 1


def test_an_unknown_role_is_not_healthy() -> None:
    assert health.main(["kitchen"]) == 1


def test_the_probes_answer_over_http(client: Client, transactional_db: None) -> None:
    for role in ("worker", "relay"):
        heartbeats.beat(role)

    alive, ready = client.get("/healthz"), client.get("/readyz")

    assert (alive.status_code, alive.content) == (200, b"ok\n")
    assert (ready.status_code, ready.json()["ready"]) == (200, True)
