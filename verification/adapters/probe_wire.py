"""Frames between a worker and its probe: two lengths, a JSON header, and raw bytes."""

from __future__ import annotations

import json
import os
import struct
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

LENGTHS: Final = struct.Struct(">II")


def frame(header: dict[str, Any], parts: Sequence[bytes] = ()) -> bytes:
    head = json.dumps({**header, "sizes": [len(part) for part in parts]}).encode()
    body = b"".join(parts)
    return LENGTHS.pack(len(head), len(body)) + head + body


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
