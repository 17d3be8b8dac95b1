"""Several processes under one command, and none left behind: all of LoomVerify, or some pools."""

from __future__ import annotations

import fcntl
import http.client
import math
import signal
import socket
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from urllib.parse import urlsplit

from loomverify.children import Child
from loomverify.embedded import ensure_database, server_is_running, start_server, stop_server
from loomverify.env import Environment, environment
from loomverify.variables import ConfigurationError

STOP_SECONDS = 10.0
WEB_START_SECONDS = 60.0
TURN_SECONDS = 0.2

PROCESSES: dict[str, list[str]] = {
    "web": ["web"],
    "worker": ["worker", "--queues=live", "--concurrency=2", "--name=live"],
    "worker-bulk": ["worker", "--queues=bulk,shadow", "--concurrency=1", "--name=bulk"],
    "worker-sandbox": ["worker", "--queues=sandbox", "--concurrency=1", "--name=sandbox"],
    "relay": ["relay"],
    "scheduler": ["scheduler"],
}


class StopRequested(Exception):
    """Somebody pressed Ctrl-C, or asked politely."""


@dataclass(slots=True)
class Wish:
    """How often somebody asked to stop. Looked at between steps: no step is torn apart."""

    asked: int = 0

    def listen(self) -> None:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            ignored = signal.getsignal(number) is signal.SIG_IGN
            if number != signal.SIGHUP or not ignored:  # nohup keeps us
                signal.signal(number, self._hear)

    def check(self) -> None:
        if self.asked:
            raise StopRequested

    def _hear(self, _number: int, _frame: FrameType | None) -> None:
        self.asked += 1


def run_everything() -> int:
    """Run until Ctrl-C or SIGTERM; return the exit code.

    Raises:
        ConfigurationError: a port in use, a data folder in use or unusable, …
    """
    started = time.monotonic()
    wish = Wish()
    wish.listen()
    env = environment()
    with own_data_folder(env.data):
        _refuse_port_in_use(env.port)
        children: list[Child] = []
        try:
            _start(env, children, wish, started)
            while True:
                wish.check()
                _tend(env, children)
                time.sleep(TURN_SECONDS)
        except StopRequested:
            _say("Stopping …")
            return 0
        finally:
            _stop_children(children, wish)
            if not env.database_url:
                stop_server(env.data / "postgres")


def run_pools(pools: Mapping[str, list[str]]) -> int:
    """Run these commands until SIGTERM or Ctrl-C; return the exit code.

    What they are at is finished first, however long it takes: asked again, they end at once.
    """
    wish = Wish()
    wish.listen()
    children = [Child(name, arguments) for name, arguments in pools.items()]
    try:
        while True:
            wish.check()
            _tend_children(children)
            time.sleep(TURN_SECONDS)
    except StopRequested:
        return 0
    finally:
        _stop_children(children, wish, seconds=math.inf)


def _start(env: Environment, children: list[Child], wish: Wish, started: float) -> None:
    ensure_database(env)
    wish.check()
    secrets = _prepare(wish)
    try:
        wish.check()
        children.extend(Child(name, arguments) for name, arguments in _processes(env).items())
        children[0].start()
        _await_web(env, children[0], wish)
        # The first page comes first; the others come up while it is read.
        for child in children[1:]:
            child.start()
        _say(f"LoomVerify is at {env.base_url} ({time.monotonic() - started:.1f} s)")
    finally:
        for line in secrets:
            _say(line)
    _say("Ctrl-C stops everything.")


def _processes(env: Environment) -> dict[str, list[str]]:
    left_out = {"worker-sandbox"} if env.sandbox == "off" else set()
    return {name: one for name, one in PROCESSES.items() if name not in left_out}


def _prepare(wish: Wish) -> list[str]:
    import django

    django.setup()
    from django.db import connections

    from loomverify.setup import check_database, prepare_database

    check_database(environment())
    wish.check()
    try:
        return list(prepare_database(environment()))
    finally:  # before the server stops: a pool would try to reach it, and log that it cannot
        for connection in connections.all():
            connection.close()
            connection.close_pool()  # type: ignore[attr-defined]


def _tend(env: Environment, children: list[Child]) -> None:
    folder = env.data / "postgres"
    if not env.database_url and not server_is_running(folder):
        _say("PostgreSQL ended; starting it again")
        start_server(folder)
    _tend_children(children)


def _tend_children(children: list[Child]) -> None:
    for child in children:
        if line := child.tend():
            _say(line)


def _await_web(env: Environment, web: Child, wish: Wish) -> None:
    deadline = time.monotonic() + WEB_START_SECONDS
    while time.monotonic() < deadline:
        wish.check()
        if web.has_ended():
            raise ConfigurationError("The web server ended while starting; see above.")
        if _answers(env):
            return
        time.sleep(0.05)
    raise ConfigurationError("The web server did not answer in time.")


def _answers(env: Environment) -> bool:
    """Ask as a visitor would: other host names are refused."""
    visit = http.client.HTTPConnection("127.0.0.1", env.port, timeout=5)
    try:
        visit.request("GET", "/healthz", headers={"Host": urlsplit(env.base_url).netloc})
        return visit.getresponse().status == http.HTTPStatus.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        visit.close()


def _stop_children(children: list[Child], wish: Wish, *, seconds: float = STOP_SECONDS) -> None:
    """Ask, wait, then insist; at once when somebody pressed Ctrl-C again."""
    for child in children:
        child.ask_to_stop()
    deadline = time.monotonic() + seconds
    while not all(child.has_ended() for child in children):
        if time.monotonic() > deadline or wish.asked > 1:
            break
        time.sleep(0.02)
    for child in children:
        child.kill()


@contextmanager
def own_data_folder(data: Path) -> Iterator[None]:
    try:
        data.mkdir(parents=True, exist_ok=True)
        lock = (data / "lock").open("w")
    except OSError as error:
        raise ConfigurationError(
            f"The data folder {data} cannot be used: {error.strerror}. "
            "Set LOOMVERIFY_DATA to a folder that can."
        ) from error
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise ConfigurationError(
                f"Another LoomVerify is running on the data folder {data}."
            ) from error
        yield


def _refuse_port_in_use(port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("0.0.0.0", port))  # noqa: S104 - the address the web server takes
        except OSError as error:
            raise ConfigurationError(
                f"Port {port} cannot be used ({error.strerror}); set PORT to another."
            ) from error


def _say(text: str) -> None:
    with suppress(OSError):  # whoever read along may have left
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()
