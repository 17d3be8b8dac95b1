"""Real installations for tests: database, broker, web, workers and relay as processes."""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from itertools import cycle
from pathlib import Path
from typing import Any

import httpx
import psutil
import psycopg

from loomverify.embedded import start_server, stop_server
from tests.database import clone_database, drop_database, schema_digest
from tests.session import FAST, locked

START_SECONDS = 150.0
PASSWORD = "correct horse battery"
KEY = "lv_test-stack-0123456789abcdefghijklmnopqrstuv"
"""The same in every process of a run, since they share the template installation."""
COMMANDS: dict[str, Sequence[str]] = {
    "web": ("web", "--host=127.0.0.1"),
    "worker": ("worker", "--queues=live", "--concurrency=2"),
    "worker-bulk": ("worker", "--queues=bulk,shadow", "--concurrency=1", "--name=bulk"),
    "worker-bulk-pair": ("worker", "--queues=bulk,shadow", "--concurrency=2", "--name=bulk"),
    "worker-sandbox": ("worker", "--queues=sandbox", "--concurrency=1", "--name=sandbox"),
    "relay": ("relay",),
}
USUAL = ("web", "worker", "worker-bulk", "relay")


def free_port() -> int:
    """Return a free port below those that the system gives to outgoing connections.

    Each worker of a run has a thousand ports of its own, and takes them in turn, so that nobody
    takes a port before its server does. Runs side by side begin at different ports.
    """
    return next(port for port in _ports() if is_free(port))


@cache
def _ports() -> Iterator[int]:
    first = 10_000 + 1_000 * (int(os.environ.get("PYTEST_XDIST_WORKER", "gw0")[2:]) % 20)
    begin = os.getpid() % 1_000
    return cycle(first + (begin + number) % 1_000 for number in range(1_000))


def is_free(port: int) -> bool:
    """Whether a server can have `port`: one that is being killed keeps its socket longest."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("0.0.0.0", port))  # noqa: S104 - as the web server will
        except OSError:
            return False
    return True


def api_client(url: str, key: str, **headers: str) -> httpx.Client:
    """Return a client of the API of the installation at `url`."""
    return httpx.Client(
        base_url=f"{url}/api/v1",
        headers={"Authorization": f"Bearer {key}", **headers},
        timeout=90,
    )


@contextmanager
def redis_server(folder: Path, *, port: int | None = None) -> Iterator[str]:
    """A Redis of our own; yields its address."""
    port = port or free_port()
    process = subprocess.Popen(
        ["redis-server", "--port", str(port), "--save", "", "--dir", str(folder)],
        stdout=subprocess.DEVNULL,
    )
    try:
        wait_for(lambda: _accepts(port), "redis")
        assert process.poll() is None, "another server has the port"
        yield f"redis://127.0.0.1:{port}/0"
    finally:
        process.terminate()
        process.wait()


def wait_for(condition: Any, what: str, *, seconds: float = START_SECONDS) -> None:
    """Wait until `condition()` is true; the assertion names what never came."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"{what} did not come within {seconds} s"
        time.sleep(0.02)


@dataclass(slots=True)
class Stack:
    """Processes of one installation. `key` is an admin's key of the project `default`."""

    folder: Path
    redis_url: str = ""
    settings: str = "loomverify.settings"
    variables: Mapping[str, str] = field(default_factory=dict)
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    port: int = field(default_factory=free_port)
    key: str = KEY
    own_server: bool = False
    """A PostgreSQL of its own, for tests that restart it. Default: a database on the run's server."""
    database_url: str = ""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def environment(self) -> dict[str, str]:
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
        return kept | {
            "DJANGO_SETTINGS_MODULE": self.settings,
            "DATABASE_URL": self.database_url,
            "REDIS_URL": self.redis_url,
            "PORT": str(self.port),
            "BASE_URL": self.url,
            "LOOMVERIFY_DATA": str(self.folder),
            "LOOMVERIFY_API_KEY": self.key,
            "LOOMVERIFY_ADMIN_PASSWORD": PASSWORD,
            "LOOMVERIFY_REVIEW_SAMPLE_RATE": "0",  # no run is drawn but where a test asks for it
            **self.variables,
        }

    def prepare(self) -> None:
        template = _template_installation()
        subprocess.run(["cp", "-a", f"{template}/.", str(self.folder)], check=True)
        if self.own_server:
            self.database_url = start_server(self.folder / "postgres", extra_settings=FAST)
            self.migrate()
        else:
            self.database_url = clone_database(self._database, template.name)

    def migrate(self) -> None:
        """Make tables and first objects. Its output, a password and a key, is not shown."""
        self.run("migrate")

    def run(self, *arguments: str) -> None:
        """Run a command of the program to its end, without its output."""
        subprocess.run(
            self._command(*arguments),
            env=self.environment,
            check=True,
            stdout=subprocess.DEVNULL,
        )

    @property
    def _database(self) -> str:
        return f"stack_{self.port}_{os.getpid()}"

    def start(self, *names: str) -> None:
        for name in names or USUAL:
            with (self.folder / f"{name}.log").open("ab") as log:
                self.processes[name] = subprocess.Popen(
                    self._command(*COMMANDS[name]),
                    env=self.environment,
                    start_new_session=True,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                )
        if "web" in self.processes:
            wait_for(self._answers, "the web server")

    def kill(self, name: str, number: int = signal.SIGKILL) -> None:
        """Signal a process and everything it started, and see it end."""
        process = self.processes.pop(name)
        os.killpg(process.pid, number)
        process.wait(timeout=90)
        if name == "web":  # what it started may end, and give the port back, a moment later
            wait_for(lambda: is_free(self.port), "the end of the web server's socket")

    def kill_amid(self, name: str, condition: Any, what: str) -> None:
        """Kill it when `condition()` holds, which is looked at while it stands still."""
        group = self.processes[name].pid

        def is_amid() -> bool:
            os.killpg(group, signal.SIGSTOP)
            if condition():
                return True
            os.killpg(group, signal.SIGCONT)
            return False

        wait_for(is_amid, what)
        self.kill(name)

    def stop(self) -> None:
        for name in list(self.processes):
            self.kill(name)
        if self.own_server:
            stop_server(self.folder / "postgres")
        elif self.database_url:
            drop_database(self._database)
        shutil.rmtree(self.folder, ignore_errors=True)

    def peak_megabytes(self, name: str) -> dict[int, int]:
        """The most memory that each living process of this name ever held, by its number."""
        first = psutil.Process(self.processes[name].pid)
        found = {}
        for process in (first, *first.children(recursive=True)):
            with suppress(FileNotFoundError, ProcessLookupError):
                status = Path(f"/proc/{process.pid}/status").read_text()
                [peak] = [line for line in status.splitlines() if line.startswith("VmHWM")]
                found[process.pid] = int(peak.split()[1]) // 1024
        return found

    def client(self, **headers: str) -> httpx.Client:
        return api_client(self.url, self.key, **headers)

    def browser(self) -> httpx.Client:
        """A client that is signed in as the admin."""
        client = httpx.Client(base_url=self.url, follow_redirects=True, timeout=90)
        client.get("/sign-in/")
        form = {"username": "admin", "password": PASSWORD}
        token = {"X-CSRFToken": client.cookies["csrftoken"]}
        assert client.post("/sign-in/", data=form, headers=token).url.path.startswith("/p/")
        return client

    def make_key(self, role: str) -> str:
        """A further key of the project `default`."""
        key = f"lv_{secrets.token_urlsafe(32)}"
        self.query(
            "insert into accounts_apikey (uuid, project_id, name, prefix, sha256, role, created_at)"
            " select gen_random_uuid(), id, %s, %s, %s, %s, now() from accounts_project"
            " where slug = 'default' returning id",
            *(role, key[:7], hashlib.sha256(key.encode()).hexdigest(), role),
        )
        return key

    def query(self, sql: str, *parameters: Any) -> list[tuple[Any, ...]]:
        with psycopg.connect(self.database_url, autocommit=True) as connection:
            return connection.execute(sql, parameters).fetchall()

    def _answers(self) -> bool:
        assert self.processes["web"].poll() is None, (self.folder / "web.log").read_text()
        try:
            return httpx.get(f"{self.url}/healthz", timeout=5).status_code == 200
        except httpx.TransportError:
            return False

    @staticmethod
    def _command(*arguments: str) -> list[str]:
        return [sys.executable, "-m", "loomverify.cli", *arguments]


@cache
def _template_installation() -> Path:
    """Return the data folder of an installation with an admin. Its database has the same name.

    It is made once per run, and copied for each stack.
    """
    with locked("stack-template") as home:
        folder = home / f"stack_template_{schema_digest()}"
        if not folder.exists():
            unfinished = Path(tempfile.mkdtemp(prefix="stack-", dir=home))
            stack = Stack(unfinished)
            drop_database(folder.name)
            stack.database_url = clone_database(folder.name, "template0")
            stack.migrate()
            unfinished.rename(folder)
    return folder


@contextmanager
def running_stack(folder: Path, *names: str, **options: Any) -> Iterator[Stack]:
    """Prepare, start, and in the end stop, whatever happens."""
    stack = Stack(folder, **options)
    try:
        stack.prepare()
        stack.start(*names)
        yield stack
    finally:
        stack.stop()


def _accepts(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
