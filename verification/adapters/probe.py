"""The probe as workers use it: one limited child process each, killed when it takes too long."""

from __future__ import annotations

import atexit
import contextlib
import os
import select
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from verification.adapters.probe_wire import LENGTHS, frame, opened, scratch_prefix, scratch_root
from verification.engine.evidence import (
    CouldNotInspect,
    Matches,
    NotInspected,
    Pattern,
    PatternMatch,
    SyntaxProblem,
    UnsupportedPattern,
)

DEADLINE_SECONDS: Final = 2.0
START_SECONDS: Final = 20.0
MAX_REQUESTS: Final = 5_000
_CHUNK_BYTES: Final = 1 << 16
_ROOT: Final = Path(__file__).resolve().parents[2]
_KEPT_VARIABLES: Final = ("PATH", "LANG", "LC_ALL", "TMPDIR", "TEMP", "SYSTEMROOT")


class ChildProbe:
    """Starts its child on the first request, and a new one after a lost or long-served one.

    One request at a time; a fork gets a child of its own.
    """

    def __init__(
        self, *, deadline_seconds: float = DEADLINE_SECONDS, max_requests: int = MAX_REQUESTS
    ) -> None:
        self.deadline_seconds = deadline_seconds
        self.max_requests = max_requests
        self._lock = threading.Lock()
        self._child: _Child | None = None
        atexit.register(self.close)

    def syntax(
        self, sources: Sequence[tuple[str, bytes]]
    ) -> Sequence[Sequence[SyntaxProblem] | NotInspected]:
        header = {"ask": "syntax", "paths": [path for path, _ in sources]}
        rows = self._ask(header, [content for _, content in sources])["files"]
        return [
            NotInspected(row["why"])
            if isinstance(row, dict)
            else [SyntaxProblem(*problem) for problem in row]
            for row in rows
        ]

    def matches(
        self, patterns: Sequence[Pattern], texts: Sequence[str]
    ) -> Sequence[Sequence[Matches | UnsupportedPattern]]:
        header = {"ask": "matches", "patterns": [(one.text, one.limit) for one in patterns]}
        rows = self._ask(header, [text.encode(errors="replace") for text in texts])["rows"]
        return [[_found(one) for one in row] for row in rows]

    def start(self) -> None:
        """Start the child before the first request needs it."""
        with self._lock:
            self._ready_child()

    def close(self) -> None:
        atexit.unregister(self.close)
        with self._lock:
            self._drop()

    def _ask(self, header: dict[str, Any], parts: Sequence[bytes]) -> dict[str, Any]:
        header["cpu_seconds"] = max(1, round(self.deadline_seconds))
        with self._lock:
            child = self._ready_child()
            try:
                answer = child.ask(frame(header, parts), self.deadline_seconds)
            except BaseException:
                # Half an exchange is on the wire: this child can serve no other.
                self._drop()
                raise
        return answer

    def _ready_child(self) -> _Child:
        child = self._child
        if child and child.owner_pid != os.getpid():
            child = self._child = None
        if child and (child.has_ended or child.served >= self.max_requests):
            self._drop()
            child = None
        if child is None:
            child = self._child = _Child()
        return child

    def _drop(self) -> None:
        child, self._child = self._child, None
        if child and child.owner_pid == os.getpid():
            child.kill()


class _Child:
    def __init__(self) -> None:
        self.owner_pid = os.getpid()
        self.served = 0
        self._process = subprocess.Popen(  # noqa: S603 - our own module, no shell
            [sys.executable, "-m", "verification.adapters.probe_child", str(self.owner_pid)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            env=_environment(),
            start_new_session=True,
        )
        assert self._process.stdin  # noqa: S101 - a pipe was asked for
        assert self._process.stdout  # noqa: S101
        self._to, self._from = self._process.stdin.fileno(), self._process.stdout.fileno()
        os.set_blocking(self._to, False)
        os.set_blocking(self._from, False)
        try:
            self._receive(time.monotonic() + START_SECONDS)
        except BaseException:
            self.kill()
            raise

    @property
    def has_ended(self) -> bool:
        return self._process.poll() is not None

    def ask(self, request: bytes, seconds: float) -> dict[str, Any]:
        deadline = time.monotonic() + seconds
        self.served += 1
        self._send(request, deadline)
        return self._receive(deadline)

    def kill(self) -> None:
        """Kill the child and the parser that it may have started."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe:
                with contextlib.suppress(OSError):
                    pipe.close()
        self._process.wait()
        for folder in scratch_root().glob(f"{scratch_prefix(self._process.pid)}*"):
            shutil.rmtree(folder, ignore_errors=True)

    def _send(self, content: bytes, deadline: float) -> None:
        left = memoryview(content)
        while left:
            try:
                left = left[os.write(self._to, left) :]
            except BlockingIOError:
                _wait_for(self._to, select.POLLOUT, deadline)
            except BrokenPipeError:
                raise CouldNotInspect("The probe ended.") from None

    def _receive(self, deadline: float) -> dict[str, Any]:
        head_size, body_size = LENGTHS.unpack(self._read(LENGTHS.size, deadline))
        header, _ = opened(self._read(head_size, deadline), self._read(body_size, deadline))
        return header

    def _read(self, size: int, deadline: float) -> bytes:
        content = bytearray()
        while len(content) < size:
            try:
                chunk = os.read(self._from, min(size - len(content), _CHUNK_BYTES))
            except BlockingIOError:
                _wait_for(self._from, select.POLLIN, deadline)
                continue
            if not chunk:
                raise CouldNotInspect("The probe ended before it answered.")
            content += chunk
        return bytes(content)


def _wait_for(descriptor: int, event: int, deadline: float) -> None:
    left = deadline - time.monotonic()
    poll = select.poll()
    poll.register(descriptor, event)
    if left <= 0 or not poll.poll(left * 1000):
        raise CouldNotInspect("It took too long.")


def _environment() -> dict[str, str]:
    """The child inherits no secrets."""
    kept = {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ}
    return {**kept, "PYTHONPATH": str(_ROOT), "PYTHONUTF8": "1", "RAYON_NUM_THREADS": "2"}


def _found(row: Any) -> Matches | UnsupportedPattern:
    if isinstance(row, dict):
        return UnsupportedPattern(row["why"])
    return [PatternMatch(start, end) for start, end in zip(row[::2], row[1::2], strict=True)]
