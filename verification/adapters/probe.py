"""The probe as workers use it: one limited child process each, killed when it takes too long."""

from __future__ import annotations

import atexit
import contextlib
import math
import os
import select
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import astuple
from pathlib import Path
from typing import Any, Final

from verification.adapters.probe_wire import LENGTHS, frame, opened, scratch_prefix, scratch_root
from verification.engine.evidence import (
    Answer,
    CouldNotInspect,
    Matches,
    NotInspected,
    Pattern,
    PatternMatch,
    SyntaxProblem,
    UnsupportedPattern,
)
from verification.engine.grammars import seconds_for
from verification.engine.matching import TOO_LONG
from verification.engine.reports.record import lines_of_runs

Allowance = Callable[[Iterable[tuple[str, int]]], float]
"""Seconds for one request by the (path, size) of its files."""

START_SECONDS: Final = 20.0
MAX_REQUESTS: Final = 5_000
_CHUNK_BYTES: Final = 1 << 16
_GRACE_SECONDS: Final = 0.1
"""The child stops by itself between two texts; who is late by this is within one."""
_ROOT: Final = Path(__file__).resolve().parents[2]
_KEPT_VARIABLES: Final = ("PATH", "LANG", "LC_ALL", "TMPDIR", "TEMP", "SYSTEMROOT")


class ChildProbe:
    """Starts its child on the first request, and a new one after a lost or long-served one.

    One request at a time; a fork gets a child of its own.
    """

    def __init__(
        self, *, allowance: Allowance = seconds_for, max_requests: int = MAX_REQUESTS
    ) -> None:
        self.allowance = allowance
        self.max_requests = max_requests
        self._lock = threading.Lock()
        self._child: _Child | None = None
        atexit.register(self.close)

    def syntax(
        self, sources: Sequence[tuple[str, bytes]]
    ) -> Sequence[Sequence[SyntaxProblem] | NotInspected]:
        seconds = self.allowance([(path, len(content)) for path, content in sources])
        header = {"ask": "syntax", "paths": [path for path, _ in sources]}
        rows = self._ask(header, [content for _, content in sources], seconds)["files"]
        return [
            NotInspected(row["why"])
            if isinstance(row, dict)
            else [SyntaxProblem(*problem) for problem in row]
            for row in rows
        ]

    def code_lines(self, sources: Sequence[tuple[str, bytes]]) -> Sequence[frozenset[int] | None]:
        """Lines of code of files (path, content), in their order; None: they are not known."""
        seconds = self.allowance([(path, len(content)) for path, content in sources])
        header = {"ask": "code", "paths": [path for path, _ in sources]}
        rows = self._ask(header, [content for _, content in sources], seconds)["files"]
        return [None if row is None else lines_of_runs(row) for row in rows]

    def search(
        self, patterns: Sequence[Pattern], texts: Sequence[bytes], *, seconds: float
    ) -> Sequence[Answer]:
        asked = [astuple(pattern) for pattern in patterns]
        header = {"ask": "search", "patterns": asked, "cpu_seconds": math.ceil(seconds)}
        deadline = time.monotonic() + seconds
        answers: list[Answer] = []
        with self._exchange(seconds) as child:
            try:
                child.send(frame(header, texts), deadline)
                child.receive(deadline)
                for pattern in patterns:
                    until = min(deadline, time.monotonic() + pattern.seconds + _GRACE_SECONDS)
                    answers.append(_answer(child.receive(until)))
            except TookTooLong as error:
                # Half an exchange is on the wire: this child can serve no other.
                self._drop()
                answers.append(NotInspected(str(error)))
        return answers

    def redact(
        self, patterns: Sequence[str], texts: Sequence[bytes], *, seconds: float
    ) -> Sequence[bytes]:
        """Return the texts with every match replaced.

        Raises:
            TookTooLong: not within so many seconds.
            CouldNotInspect: the child was lost.
        """
        header = {"ask": "redact", "patterns": patterns, "cpu_seconds": math.ceil(max(0, seconds))}
        with self._exchange(START_SECONDS) as child:
            deadline = time.monotonic() + seconds
            child.send(frame(header, texts), deadline)
            return child.receive_parts(deadline)[1]

    def start(self) -> None:
        """Start the child before the first request needs it."""
        with self._lock:
            self._ready_child()

    def close(self) -> None:
        atexit.unregister(self.close)
        with self._lock:
            self._drop()

    def _ask(
        self, header: dict[str, Any], parts: Sequence[bytes], seconds: float
    ) -> dict[str, Any]:
        header["cpu_seconds"] = math.ceil(seconds)
        with self._exchange(START_SECONDS) as child:
            deadline = time.monotonic() + seconds
            child.send(frame(header, parts), deadline)
            return child.receive(deadline)

    @contextlib.contextmanager
    def _exchange(self, start_seconds: float) -> Iterator[_Child]:
        with self._lock:
            child = self._ready_child(start_seconds)
            try:
                yield child
            except BaseException:
                # Half an exchange is on the wire: this child can serve no other.
                self._drop()
                raise

    def _ready_child(self, start_seconds: float = START_SECONDS) -> _Child:
        child = self._child
        if child and child.owner_pid != os.getpid():
            child = self._child = None
        if child and (child.has_ended or child.served >= self.max_requests):
            self._drop()
            child = None
        if child is None:
            child = self._child = _Child(start_seconds)
        return child

    def _drop(self) -> None:
        child, self._child = self._child, None
        if child and child.owner_pid == os.getpid():
            child.kill()


class TookTooLong(CouldNotInspect):
    """The child may be well, and is not to be waited for."""


class _Child:
    def __init__(self, start_seconds: float) -> None:
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
            self.receive(time.monotonic() + start_seconds)
        except BaseException:
            self.kill()
            raise

    @property
    def has_ended(self) -> bool:
        return self._process.poll() is not None

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

    def send(self, request: Iterable[bytes], deadline: float) -> None:
        self.served += 1
        for content in request:
            self._send(content, deadline)

    def receive(self, deadline: float) -> dict[str, Any]:
        return self.receive_parts(deadline)[0]

    def receive_parts(self, deadline: float) -> tuple[dict[str, Any], list[bytes]]:
        head_size, body_size = LENGTHS.unpack(self._read(LENGTHS.size, deadline))
        return opened(self._read(head_size, deadline), self._read(body_size, deadline))

    def _send(self, content: bytes, deadline: float) -> None:
        left = memoryview(content)
        while left:
            try:
                left = left[os.write(self._to, left) :]
            except BlockingIOError:
                _wait_for(self._to, select.POLLOUT, deadline)
            except BrokenPipeError:
                raise CouldNotInspect("The probe ended.") from None

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
        raise TookTooLong(TOO_LONG)


def _environment() -> dict[str, str]:
    """The child inherits no secrets."""
    kept = {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ}
    return {**kept, "PYTHONPATH": str(_ROOT), "PYTHONUTF8": "1", "RAYON_NUM_THREADS": "2"}


def _answer(told: dict[str, Any]) -> Answer:
    if "unsupported" in told:
        return UnsupportedPattern(told["unsupported"])
    if "why" in told:
        return NotInspected(told["why"])
    places = tuple(PatternMatch(*place) for place in told["places"])
    return Matches(told["count"], places, told["seconds"])
