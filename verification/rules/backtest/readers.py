"""The child processes that read and search past runs: kept warm, bounded in number, killed when late."""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from django.conf import settings
from django.db import connection

from loomverify.errors import InputError
from verification.runs.waiting import ADDRESS_FIELDS

SIDE_BY_SIDE = 2
"""Readers of one backtest: what reads also decompresses, so that a second core is of use."""
MAX_BACKTESTS = 2
"""At once in one web process; who comes next waits a little, then is told."""
WAIT_SECONDS = 10.0
ROOT = Path(settings.BASE_DIR)


class ReaderLost(Exception):
    """The child ended, or was killed: nothing is known about what it was asked."""


class Reader:
    """One child. Ask, then take the answer; a second question waits in the pipe."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "verification.rules.backtest.child"],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            start_new_session=True,
        )
        self._ask(_database())

    @property
    def answers(self) -> IO[bytes]:
        """To wait for."""
        assert self._process.stdout is not None  # noqa: S101 - a pipe was asked for
        return self._process.stdout

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def begin(self, job: Mapping[str, Any]) -> None:
        self._ask({"job": job})

    def ask(self, runs: Sequence[tuple[int, str]]) -> None:
        self._ask({"runs": runs})

    def answer(self) -> list[list[Any]]:
        """Return what `child.answer` yields, of one batch.

        Raises:
            ReaderLost
        """
        line = self.answers.readline()
        if not line.endswith(b"\n"):
            raise ReaderLost
        answers: list[list[Any]] = json.loads(line)
        return answers

    def interrupt(self) -> None:
        """End it while another thread waits for its answer: that one is told of a lost reader."""
        self._process.kill()

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            with suppress(OSError):
                pipe and pipe.close()

    def _ask(self, asked: Mapping[str, Any]) -> None:
        pipe = self._process.stdin
        assert pipe is not None  # noqa: S101 - a pipe was asked for
        try:
            pipe.write(json.dumps(asked).encode() + b"\n")
            pipe.flush()
        except (OSError, ValueError) as error:  # the latter of a pipe that is closed already
            raise ReaderLost from error


def _database() -> dict[str, Any]:
    known = connection.get_connection_params()
    return {"database": {name: known[name] for name in ADDRESS_FIELDS if known.get(name)}}


class Readers:
    """Those that wait for their next job. A reader that still owes an answer is never kept."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: list[Reader] = []
        self._places = threading.BoundedSemaphore(MAX_BACKTESTS)
        atexit.register(self.close)

    @contextmanager
    def place(self) -> Iterator[None]:
        """One of the places for backtests.

        Raises:
            InputError: `backtest.busy`, none was free for a while.
        """
        if not self._places.acquire(timeout=WAIT_SECONDS):
            busy = "Others try rules on history just now. Try again in a moment."
            raise InputError("backtest.busy", busy, status=429)
        try:
            yield
        finally:
            self._places.release()

    def take(self) -> Reader:
        with self._lock:
            while self._waiting:
                reader = self._waiting.pop()
                if reader.is_alive:
                    return reader
                reader.kill()
        return Reader()

    def give_back(self, reader: Reader, *, owes: bool) -> None:
        """Keep a reader for the next job; one that still works on the last is replaced."""
        with self._lock:
            if owes or len(self._waiting) >= SIDE_BY_SIDE or not reader.is_alive:
                reader.kill()
            else:
                self._waiting.append(reader)

    def close(self) -> None:
        with self._lock:
            while self._waiting:
                self._waiting.pop().kill()


READERS = Readers()
