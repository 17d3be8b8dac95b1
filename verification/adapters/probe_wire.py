"""Frames between a worker and its probe: two lengths, a JSON header, and raw bytes."""

from __future__ import annotations

import json
import os
import struct
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

LENGTHS: Final = struct.Struct(">II")
MAX_SMALL_BYTES: Final = 1_000_000


def frame(header: dict[str, Any], parts: Sequence[bytes] = ()) -> Iterator[bytes]:
    """Yield what to send; large parts are not copied together."""
    sizes = [len(part) for part in parts]
    head = json.dumps({**header, "sizes": sizes}).encode()
    yield LENGTHS.pack(len(head), sum(sizes)) + head
    small: list[bytes] = []
    for part in parts:
        if len(part) > MAX_SMALL_BYTES:
            yield b"".join(small)
            yield part
            small = []
        else:
            small.append(part)
    yield b"".join(small)


def opened(head: bytes, body: bytes) -> tuple[dict[str, Any], list[bytes]]:
    header = json.loads(head)
    parts, start = [], 0
    for size in header.pop("sizes"):
        parts.append(body[start : start + size])
        start += size
    return header, parts


def scratch_root() -> Path:
    """Where a child's scratch folders stand: in memory, where the system has such a place."""
    in_memory = Path("/dev/shm")  # noqa: S108 - folders in it have unguessable names
    return in_memory if os.access(in_memory, os.W_OK) else Path(tempfile.gettempdir())


def scratch_prefix(pid: int) -> str:
    """How the names of a child's scratch folders begin, so that they outlive no killed child."""
    return f"loomverify-probe-{pid}-"
