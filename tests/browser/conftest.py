from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from loomverify.accounts.models import Role, User
from tests.browser.scenes import Scene, make_scene
from tests.builders import signed_in
from tests.chromium import chromium

LOOKS = [(1280, "light"), (390, "dark")]
"""Each width and each theme once: a theme moves nothing, and a width colours nothing."""
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

# A busy machine is waited for: how long something takes is claimed where it is measured.
WAIT_SECONDS = 90
expect.set_options(timeout=WAIT_SECONDS * 1_000)


def until(page: Page, condition: Callable[[], object], what: str) -> None:
    """Wait for what the browser tells this process by and by: a request, an answer."""
    deadline = time.monotonic() + WAIT_SECONDS
    while not condition():
        assert time.monotonic() < deadline, f"{what} did not come"
        page.wait_for_timeout(20)  # what has come is handed over while this waits


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """One browser for all files of this folder that a worker runs in a row."""
    path = chromium()
    if path is None:
        pytest.skip("Chromium is not installed")
    # Playwright runs an event loop in this thread, in which Django refuses queries.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield browser
        browser.close()
    os.environ.pop("DJANGO_ALLOW_ASYNC_UNSAFE", None)
    asyncio.set_event_loop(None)


@pytest.fixture(autouse=True)
def _own_evidence(settings: Any, tmp_path: Path) -> None:
    evidence = {**settings.STORAGES["evidence"], "OPTIONS": {"location": tmp_path / "evidence"}}
    settings.STORAGES = {**settings.STORAGES, "evidence": evidence}


@pytest.fixture
def scene(transactional_db: None) -> Scene:
    return make_scene()


FETCHED_LATER = "[hx-trigger=load], .htmx-request, .htmx-settling"


@dataclass
class Visitor:
    """A signed-in person before a browser; keeps what the browser complained about."""

    page: Page
    address: str
    runs_scripts: bool = True
    complaints: list[str] = field(default_factory=list)

    def go(self, path: str) -> Page:
        """Open a page, and wait until the parts that it fetches by itself are in their places."""
        self.page.goto(self.address + path)
        if self.runs_scripts:
            expect(self.page.locator(FETCHED_LATER)).to_have_count(0)
        return self.page


Visit = Callable[..., Visitor]


@pytest.fixture
def visit(browser: Browser, live_server: Any, scene: Scene) -> Iterator[Visit]:
    contexts: list[BrowserContext] = []

    def open_for(
        user: User | None = None, *, width: int = 1280, theme: str = "light", script: bool = True
    ) -> Visitor:
        context = browser.new_context(
            viewport={"width": width, "height": 844},
            color_scheme="dark" if theme == "dark" else "light",
            java_script_enabled=script,
        )
        contexts.append(context)
        context.set_default_timeout(WAIT_SECONDS * 1_000)
        session = signed_in(user or scene.member(Role.ADMIN)).cookies["sessionid"].value
        context.add_cookies([{"name": "sessionid", "value": session, "url": live_server.url}])
        visitor = Visitor(context.new_page(), live_server.url, script)
        visitor.page.on("console", lambda said: _note(visitor, said.type, said.text))
        visitor.page.on("pageerror", lambda error: visitor.complaints.append(str(error)))
        return visitor

    yield open_for
    for context in contexts:
        context.close()
    _until_served()


def _until_served() -> None:
    """What pages asked for as they closed is answered before the tables are emptied."""
    for thread in threading.enumerate():
        if "process_request_thread" in thread.name:
            thread.join(timeout=WAIT_SECONDS)


def _note(visitor: Visitor, kind: str, text: str) -> None:
    if kind in ("error", "warning"):
        visitor.complaints.append(text)
