"""Submitted content made ready to be shown: by one limited child process for each, and never in ours."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final

from verification.adapters.probe_wire import LENGTHS, frame, opened

CPU_SECONDS: Final = 5
WAIT_SECONDS: Final = 15.0
QUEUE_SECONDS: Final = 5.0
AT_ONCE: Final = 3
MAX_CONTENT_BYTES: Final = 24 * 1024 * 1024
MAX_ANSWER_BYTES: Final = 8 * 1024 * 1024
_CHUNK_BYTES: Final = 1 << 16
_ROOT: Final = Path(__file__).resolve().parents[2]
_KEPT_VARIABLES: Final = ("PATH", "LANG", "LC_ALL", "TMPDIR", "TEMP", "SYSTEMROOT")

TOO_LARGE: Final = "This is too large to show here."
TOO_MUCH: Final = "Opening this takes more time or memory than is spent on it here."
TOO_LATE: Final = "Opening this took too long."
BUSY: Final = "Too much is being opened at this moment. Try again."

_seats = threading.BoundedSemaphore(AT_ONCE)


@dataclass(frozen=True, slots=True)
class Opened:
    """What the child told of a content.

    A refusal that is not lasting came of the moment, not of the content.
    """

    told: Mapping[str, Any]
    parts: tuple[bytes, ...] = ()
    refusal: str = ""
    is_lasting: bool = True


def open_content(
    content: bytes, ask: str, *, wait_seconds: float = WAIT_SECONDS, **wishes: Any
) -> Opened:
    """Have the content opened as `markdown`, `table`, `sheets`, `tree`, `image` or `pages`.

    Whatever the content does to the child, the answer comes in bounded time and size.
    """
    if len(content) > MAX_CONTENT_BYTES:
        return Opened({}, refusal=TOO_LARGE)
    if not _seats.acquire(timeout=min(QUEUE_SECONDS, wait_seconds)):
        return Opened({}, refusal=BUSY, is_lasting=False)
    try:
        asked = {"ask": ask, "cpu_seconds": CPU_SECONDS, **wishes}
        return _answered(content, asked, time.monotonic() + wait_seconds)
    finally:
        _seats.release()


def _answered(content: bytes, asked: dict[str, Any], deadline: float) -> Opened:
    with tempfile.TemporaryFile() as request:
        request.writelines(frame(asked, [content]))
        request.seek(0)
        with _child(request) as process:
            raw = _read(process, deadline)
    if raw is None:
        return Opened({}, refusal=TOO_LATE, is_lasting=False)
    if len(raw) < LENGTHS.size or len(raw) > MAX_ANSWER_BYTES:
        return Opened({}, refusal=TOO_MUCH)
    head_size, body_size = LENGTHS.unpack_from(raw)
    body_at = LENGTHS.size + head_size
    if len(raw) != body_at + body_size:
        return Opened({}, refusal=TOO_MUCH)
    told, parts = opened(raw[LENGTHS.size : body_at], raw[body_at:])
    return Opened(told, tuple(parts), refusal=told.pop("refusal", ""))


@contextlib.contextmanager
def _child(request: IO[bytes]) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(  # noqa: S603 - our own module, no shell
        [sys.executable, "-m", "verification.adapters.viewing_child", str(os.getpid())],
        stdin=request,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        bufsize=0,
        env=_environment(),
        start_new_session=True,
    )
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        if process.stdout:
            process.stdout.close()
        process.wait()


def _read(process: subprocess.Popen[bytes], deadline: float) -> bytes | None:
    """All that the child says, or a little more than is taken; None when it was too slow."""
    assert process.stdout  # noqa: S101 - a pipe was asked for
    descriptor = process.stdout.fileno()
    poll = select.poll()
    poll.register(descriptor, select.POLLIN | select.POLLHUP)
    said = bytearray()
    while len(said) <= MAX_ANSWER_BYTES:
        left = deadline - time.monotonic()
        if left <= 0 or not poll.poll(left * 1000):
            return None
        chunk = os.read(descriptor, _CHUNK_BYTES)
        if not chunk:
            break
        said += chunk
    return bytes(said)


def _environment() -> dict[str, str]:
    """The child inherits no secrets."""
    kept = {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ}
    return {**kept, "PYTHONPATH": str(_ROOT), "PYTHONUTF8": "1"}
