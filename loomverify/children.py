"""The processes of one installation: started, started again, read, and never left behind."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass

MAX_PAUSE_SECONDS = 30.0
STEADY_SECONDS = 60.0
PARENT_VARIABLE = "LOOMVERIFY_PARENT"
PR_SET_PDEATHSIG = 1


@dataclass(slots=True)
class Child:
    """One process, started again when it dies, slower each time it dies young."""

    name: str
    arguments: list[str]
    process: subprocess.Popen[str] | None = None
    started: float = 0.0
    pause: float = 0.0
    due: float = 0.0

    def start(self) -> None:
        self.started = time.monotonic()
        self.process = subprocess.Popen(  # noqa: S603 - our own command
            [sys.executable, "-m", "loomverify.cli", *self.arguments],
            env={**os.environ, PARENT_VARIABLE: str(os.getpid()), "PYTHONUNBUFFERED": "1"},
            start_new_session=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
        )
        threading.Thread(target=self._pass_on, args=(self.process,), daemon=True).start()

    def tend(self) -> str:
        """Start it again when it is time; return what there is to say."""
        now = time.monotonic()
        if self.process is None:
            if now >= self.due:
                self.start()
            return ""
        code = self.process.poll()
        if code is None:
            return ""
        self.kill()
        steady = now - self.started > STEADY_SECONDS
        self.pause = 0.5 if steady or not self.pause else min(self.pause * 2, MAX_PAUSE_SECONDS)
        self.process, self.due = None, now + self.pause
        return f"{self.name} ended ({_how(code)}); starting again in {self.pause:g} s"

    def ask_to_stop(self) -> None:
        """The process tells its own children: a worker lets them finish what they are at."""
        if self.process is not None:
            self.process.terminate()

    def has_ended(self) -> bool:
        return self.process is None or self.process.poll() is not None

    def kill(self) -> None:
        """Whatever is left of it, its children too."""
        if self.process is not None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()

    def _pass_on(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None  # noqa: S101 - asked for above
        for line in process.stdout:
            with suppress(OSError, ValueError):
                sys.stderr.write(f"{self.name:<11} | {line.rstrip()}\n")
                sys.stderr.flush()


def end_with_parent() -> None:
    """Be killed as soon as the supervisor is. Linux alone can promise that.

    Nobody is left to insist, so nothing is asked for that could be missed: what was being done is
    done again, as after any kill.
    """
    parent = os.environ.pop(PARENT_VARIABLE, "")
    if parent:
        die_with(int(parent))


def die_with(parent: int) -> None:
    """Be killed when the process `parent` ends; at once where it has ended already."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)


def _how(code: int) -> str:
    return f"exit code {code}" if code >= 0 else signal.Signals(-code).name
