"""Environments of benchmarks: an empty folder, or an installation that nobody else uses."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import ClassVar

from tests.benchmarks.framework import Requirement
from tests.model_server import ModelServer, model_server
from tests.stack import Stack, redis_server, wait_for

SETTINGS = "tests.benchmarks.settings"


@dataclass(frozen=True, slots=True)
class EmptyFolder:
    """The benchmark starts what it needs in this folder."""

    requirements: tuple[Requirement, ...] = ()
    is_shareable: ClassVar[bool] = False

    @contextmanager
    def open(self, folder: Path) -> Iterator[Path]:
        yield folder


@dataclass(frozen=True, slots=True)
class FreshStack:
    """An installation with these processes; without any, its database alone."""

    processes: tuple[str, ...] = ()
    has_redis: bool = False
    has_own_server: bool = False
    is_shareable: ClassVar[bool] = True

    @property
    def requirements(self) -> tuple[Requirement, ...]:
        return (Requirement.REDIS,) if self.has_redis else ()

    @contextmanager
    def open(self, folder: Path) -> Iterator[Stack]:
        data = folder / "data"
        data.mkdir()
        with ExitStack() as cleanup:
            url = cleanup.enter_context(redis_server(folder)) if self.has_redis else ""
            stack = Stack(data, redis_url=url, settings=SETTINGS, own_server=self.has_own_server)
            cleanup.callback(stack.stop)
            stack.prepare()
            if self.processes:
                _start(stack, *self.processes)
            yield stack


def missing_requirement(requirements: tuple[Requirement, ...]) -> str:
    """Return what the machine lacks as a sentence without its full stop; '' if it lacks nothing."""
    if Requirement.REDIS in requirements and shutil.which("redis-server") is None:
        return "redis-server is not installed"
    if Requirement.DOCKER in requirements:
        from tests.sandbox.engine import lacking_engine

        return lacking_engine()
    return ""


@dataclass(frozen=True, slots=True)
class Judged:
    """An installation, and the model server that all its judges ask."""

    stack: Stack
    model: ModelServer


@dataclass(frozen=True, slots=True)
class JudgedStack:
    """An installation with a judge, an alternate and a panel; the benchmark scripts the replies."""

    voters: int
    deadline_seconds: int
    requirements: ClassVar[tuple[Requirement, ...]] = ()
    is_shareable: ClassVar[bool] = True

    @contextmanager
    def open(self, folder: Path) -> Iterator[Judged]:
        with ExitStack() as cleanup:
            model = cleanup.enter_context(model_server())
            stack = Stack(
                folder,
                settings="tests.faults.judged_settings",
                variables={
                    "LOOMVERIFY_REVERIFY_DEADLINE": str(self.deadline_seconds),
                    "LOOMVERIFY_PANEL_MODELS": ",".join(
                        f"openai/voter-{number}" for number in range(self.voters)
                    ),
                    **_judge_variables("LOOMVERIFY_JUDGE", model.url),
                    **_judge_variables("LOOMVERIFY_ALTERNATE_JUDGE", model.url),
                },
            )
            cleanup.callback(stack.stop)
            stack.prepare()
            # Stores the judges: the copied database was made without them.
            stack.migrate()
            _start(stack, "web", "worker", "relay")
            yield Judged(stack, model)


def _judge_variables(prefix: str, url: str) -> dict[str, str]:
    return {
        f"{prefix}_MODEL": f"openai/{prefix.lower()}",
        f"{prefix}_API_BASE": url,
        f"{prefix}_API_KEY": "unused",
    }


WHOLE = FreshStack(("web", "worker", "worker-bulk-pair", "relay"), has_redis=True)
"""Web, relay, and two worker processes each for live runs and for the rest, with Redis."""
WITHOUT_REDIS = FreshStack(("web", "worker"), has_own_server=True)
DATABASE = FreshStack()
JUDGED = JudgedStack(voters=5, deadline_seconds=60)


@contextmanager
def paused_worker(stack: Stack) -> Iterator[None]:
    """Suspend the worker of live runs for a while: its tasks wait in the queue."""
    group = stack.processes["worker"].pid
    os.killpg(group, signal.SIGSTOP)
    try:
        yield
    finally:
        os.killpg(group, signal.SIGCONT)


@contextmanager
def stopped_relay(stack: Stack) -> Iterator[None]:
    """Stop the relay for a while: it would send tasks again that wait for long."""
    stack.kill("relay")
    try:
        yield
    finally:
        stack.start("relay")


def _start(stack: Stack, *names: str) -> None:
    """Start processes; return when pages load and workers take tasks."""
    stack.start(*names)
    for name in names:
        if name.startswith("worker"):
            heartbeat = f"%:{stack.processes[name].pid}"
            is_up = partial(
                stack.query, "select 1 from runs_heartbeat where name like %s", heartbeat
            )
            wait_for(is_up, f"the heartbeat of {name}")
