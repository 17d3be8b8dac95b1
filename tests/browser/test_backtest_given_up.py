"""Whoever types on gives up what was begun before: in the pane, and on the server that works on it."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import threading
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
import uvicorn
from asgiref.sync import sync_to_async
from django.contrib.staticfiles.handlers import ASGIStaticFilesHandler
from django.core.asgi import get_asgi_application
from django.db import connection
from django.urls import reverse
from playwright.sync_api import expect

from loomverify.accounts.access import person
from loomverify.accounts.models import Role
from processes.services import open_draft
from tests.browser.conftest import Visit, until
from tests.browser.scenes import Scene
from tests.builders import make_run
from verification.rules.backtest.readers import Reader
from verification.rules.backtest.running import FIRST_BATCH, Running
from verification.rules.models import Backtest

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def web(live_server: Any) -> Iterator[str]:
    """A web server as it is shipped: the other one learns of those who left when it writes."""
    served = ASGIStaticFilesHandler(get_asgi_application())
    config = uvicorn.Config(served, lifespan="off", log_level="error")
    server = uvicorn.Server(config)
    listening = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        async def until_stopped() -> None:
            await server.serve([listening])
            await sync_to_async(lambda: connection.close())()  # the thread's own

        asyncio.run(until_stopped())

    thread = threading.Thread(target=serve)
    thread.start()
    yield f"http://localhost:{listening.getsockname()[1]}"
    server.should_exit = True
    thread.join()


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> dict[str, Running]:
    """What was begun, by its pattern. Of `old` the second batch is never answered."""
    begun: dict[str, Running] = {}
    asked_for: dict[Reader, str] = {}
    batches: list[str] = []
    make, begin, ask = Running.__init__, Reader.begin, Reader.ask

    def makes(running: Running, wish: Any, **more: Any) -> None:
        make(running, wish, **more)
        begun[wish.rule.check] = running

    def begins(reader: Reader, job: Any) -> None:
        asked_for[reader] = job["pattern"]
        begin(reader, job)

    def asks(reader: Reader, runs: Sequence[tuple[int, str]]) -> None:
        batches.append(asked_for[reader])
        if batches.count("old") == 2 and asked_for[reader] == "old":
            os.kill(reader._process.pid, signal.SIGSTOP)
        ask(reader, runs)

    monkeypatch.setattr(Running, "__init__", makes)
    monkeypatch.setattr(Reader, "begin", begins)
    monkeypatch.setattr(Reader, "ask", asks)
    return begun


def test_typing_on_stops_what_was_begun_and_shows_the_new_figures_alone(
    web: str, visit: Visit, scene: Scene, begun: dict[str, Running]
) -> None:
    for _ in range(FIRST_BATCH + 5):
        make_run(scene.project, output="old and new", phase="build")
    runs = scene.project.runs.filter(state="finished", live_evaluation__isnull=False).count()
    user = scene.member(Role.ADMIN)
    open_draft(process=scene.project.processes.get(), editor=user, actor=person(user))
    visitor = visit(user)
    visitor.address = web
    page = visitor.go(reverse("draft_rule_new", args=[scene.project.slug, "small-work"]))
    pane = page.locator("[data-history]")
    page.locator("[name=name]").fill("no-open-cells")
    page.locator("[name=type]").select_option("regex")
    page.locator("[name=check]").fill("old")
    expect(pane.get_by_role("status")).to_have_text(f"{FIRST_BATCH} of {runs} runs")
    old = begun["old"]
    assert not old.is_stopped

    page.locator("[name=check]").fill("new")
    until(page, lambda: old.is_stopped and not old.owed, "the end of the old one")

    expect(pane.get_by_role("status")).to_have_text(f"{runs} of {runs} runs")
    expect(page.locator("[data-history-note]")).to_be_hidden()
    assert set(pane.locator("mark").all_inner_texts()) == {"new"}
    assert [kept.looks_for_sha256 for kept in Backtest.objects.all()] == [
        begun["new"].wish.rule.looks_for_sha256
    ]
