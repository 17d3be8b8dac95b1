"""One installation as `make run` starts it: a real supervisor in a terminal's place."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import psutil

from tests.stack import free_port, is_free, wait_for

READY = "Ctrl-C stops everything."
WORKERS = 7
"""Three workers, and the four processes that do their work."""


@dataclass(slots=True)
class Installation:
    data: Path
    port: int = field(default_factory=free_port)
    process: subprocess.Popen[bytes] | None = None

    @property
    def variables(self) -> dict[str, str]:
        """Nothing but what a bare machine gives: no HOME, no language."""
        return {
            "PATH": os.environ["PATH"],
            "PORT": str(self.port),
            "LOOMVERIFY_DATA": str(self.data),
        }

    @property
    def output(self) -> str:
        """Everything said on the terminal since the last start."""
        return self._terminal.read_text()

    @property
    def supervisor(self) -> psutil.Process:
        assert self.process is not None
        return psutil.Process(self.process.pid)

    @property
    def postmaster(self) -> int:
        """PostgreSQL's process id; 0 where it has none."""
        try:
            return int((self.data / "postgres" / "postmaster.pid").read_text().split()[0])
        except (FileNotFoundError, IndexError):
            return 0

    def start(self, **variables: str) -> None:
        with self._terminal.open("wb") as terminal:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "loomverify.cli", "run"],
                env={**self.variables, **variables},
                stdout=terminal,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def start_and_wait(self) -> None:
        self.start()
        wait_for(lambda: READY in self.output or not self.is_running, "the start")
        assert self.is_running, self.output

    @property
    def is_running(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def press(self, number: signal.Signals = signal.SIGINT) -> None:
        """As a terminal does: the whole foreground group gets it."""
        assert self.process is not None
        os.killpg(self.process.pid, number)

    def wait(self, seconds: float = 120) -> int:
        assert self.process is not None
        return self.process.wait(seconds)

    def child(self, command: str) -> psutil.Process | None:
        """The process that runs `loomverify COMMAND`, where there is one."""
        for process in self.supervisor.children():
            if f"loomverify.cli {command}" in _command(process):
                return process
        return None

    def processes(self) -> list[psutil.Process]:
        """Whatever on this machine belongs to the data folder, PostgreSQL too."""
        return [process for process in psutil.process_iter() if self._is_ours(process)]

    def workers(self) -> list[psutil.Process]:
        return [
            process for process in self.processes() if "loomverify.cli worker" in _command(process)
        ]

    def answers(self) -> bool:
        try:
            return httpx.get(f"http://127.0.0.1:{self.port}/healthz", timeout=90).status_code == 200
        except httpx.TransportError:
            return False

    def kill_everything(self) -> None:
        for process in self.processes():
            with suppress(psutil.NoSuchProcess):
                process.kill()
        if self.process is not None:
            self.process.wait()
        wait_for(lambda: not self.processes(), "the end of every process")
        wait_for(lambda: is_free(self.port), "the end of the web server's socket")

    @property
    def _terminal(self) -> Path:
        return self.data.with_name(f"{self.data.name}.terminal")

    def _is_ours(self, process: psutil.Process) -> bool:
        try:
            if process.status() == psutil.STATUS_ZOMBIE:
                return False
            given = process.environ().get("LOOMVERIFY_DATA")
            return given == str(self.data) or Path(process.cwd()) == self.data / "postgres"
        except psutil.Error:
            return False


def _command(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""


@contextmanager
def installed(data: Path) -> Iterator[Installation]:
    installation = Installation(data)
    try:
        yield installation
    finally:
        installation.kill_everything()
