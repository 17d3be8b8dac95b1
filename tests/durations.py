"""Durations of the tests: recorded by `make durations`, used to order files, printed as a table.

`tests/durations.json` holds seconds per file, per item of at least `ITEM_SECONDS`, and per fixture
of at least `FIXTURE_SECONDS` in all. Record on a machine that does nothing else.

`python -m tests.durations` prints the most expensive items and fixtures, and measures what a
start costs.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

FILE = Path(__file__).with_name("durations.json")
ITEM_SECONDS = 0.3
FIXTURE_SECONDS = 0.5
OUTPUT = "loomverify_fixtures"
TABLE_ROWS = 50


class Recorder:
    """Plugin of a run that records. Both tiers are recorded one after the other, into one file."""

    def __init__(self) -> None:
        self.items: defaultdict[str, float] = defaultdict(float)
        self.fixtures: defaultdict[str, float] = defaultdict(float)

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any) -> Generator[None, Any, Any]:
        began = time.perf_counter()
        try:
            return (yield)
        finally:
            name = f"{fixturedef.baseid}::{fixturedef.argname} ({fixturedef.scope})"
            self.fixtures[name] += time.perf_counter() - began

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.items[report.nodeid] += report.duration

    def pytest_testnodedown(self, node: Any) -> None:
        for name, seconds in getattr(node, "workeroutput", {}).get(OUTPUT, {}).items():
            self.fixtures[name] += seconds

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if hasattr(session.config, "workerinput"):
            session.config.workeroutput[OUTPUT] = dict(self.fixtures)  # type: ignore[attr-defined]
        else:
            write(self.items, self.fixtures)


def write(items: dict[str, float], fixtures: dict[str, float]) -> None:
    """Add these seconds to what is recorded. `make durations` starts with an empty file."""
    recorded = read()
    files = defaultdict(float, recorded["files"])
    for item, seconds in items.items():
        files[item.partition("::")[0]] += seconds
    slow = {item: seconds for item, seconds in items.items() if seconds >= ITEM_SECONDS}
    large = {name: seconds for name, seconds in fixtures.items() if seconds >= FIXTURE_SECONDS}
    kinds: dict[str, dict[str, float]] = {
        "files": files,
        "items": recorded["items"] | slow,
        "fixtures": recorded["fixtures"] | large,
    }
    rounded = {
        kind: {name: round(seconds, 1) for name, seconds in sorted(values.items())}
        for kind, values in kinds.items()
    }
    FILE.write_text(json.dumps(rounded, indent=0) + "\n", encoding="utf-8")


def read() -> dict[str, dict[str, float]]:
    """Return the recorded seconds by kind: files, items, fixtures."""
    empty: dict[str, dict[str, float]] = {"files": {}, "items": {}, "fixtures": {}}
    if not FILE.exists():
        return empty
    recorded: dict[str, dict[str, float]] = json.loads(FILE.read_text(encoding="utf-8"))
    return empty | recorded


def measure_starts() -> Iterator[tuple[str, float]]:
    """Yield what each part of a start takes, in seconds, each in a process of its own."""
    environment = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o711)
        environment |= {"TMPDIR": folder, "DJANGO_SETTINGS_MODULE": "loomverify.settings"}
        for name, code in STARTS.items():
            began = time.perf_counter()
            subprocess.run([sys.executable, "-c", code], env=environment, check=True)
            yield name, time.perf_counter() - began


SERVER = "from tests.session import *; start_database(join_session())\n"
DJANGO = f"{SERVER}import django; django.setup()\n"
STARTS = {
    "interpreter": "",
    "pytest and Hypothesis": "import pytest, hypothesis",
    "PostgreSQL, from initdb to the end": SERVER,
    "… and django.setup()": DJANGO,
    "… and the template database": (
        f"{DJANGO}from tests.database import template_database; template_database()"
    ),
    "… and every URL": f"{DJANGO}import loomverify.urls",
    "… and the OpenAPI document": f"{DJANGO}import tests.openapi",
    "Celery": f"{DJANGO}from loomverify.celery import app; app.loader.import_default_modules()",
    "Chromium": """
import os
from playwright.sync_api import sync_playwright
from tests.chromium import chromium
with sync_playwright() as playwright:
    browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
    browser.close()
""",
    "a stack: web, worker, relay": """
import tempfile
from pathlib import Path
from tests.stack import running_stack
with running_stack(Path(tempfile.mkdtemp()), "web", "worker", "relay"):
    pass
""",
}


def main() -> None:
    recorded = read()
    for kind in ("items", "fixtures"):
        sys.stdout.write(f"| seconds | {kind} |\n|---:|---|\n")
        slowest = sorted(recorded[kind].items(), key=lambda entry: -entry[1])[:TABLE_ROWS]
        for name, seconds in slowest:
            sys.stdout.write(f"| {seconds:.1f} | `{name}` |\n")
        sys.stdout.write("\n")
    sys.stdout.write("| seconds | start |\n|---:|---|\n")
    for name, seconds in measure_starts():
        sys.stdout.write(f"| {seconds:.1f} | {name} |\n")


if __name__ == "__main__":
    main()
