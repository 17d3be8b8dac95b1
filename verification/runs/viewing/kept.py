"""Views that were made once, kept for a day beside the evidence: a page seen again is there at once.

Nothing is lost when they are: each can be made again from its content.
"""

from __future__ import annotations

import struct
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Final

from django.core.files.base import ContentFile
from django.core.files.storage import Storage, storages
from django.utils import timezone

from verification.adapters.probe_wire import LENGTHS, frame, opened
from verification.adapters.viewing import Opened

VERSION: Final = 1
"""Told by every name: a viewer that shows something else has a higher one."""
KEPT_FOR: Final = timedelta(days=1)
MAX_KEPT_BYTES: Final = 512 * 1024 * 1024
SWEEP_SECONDS: Final = 600.0
SWEEP_BYTES: Final = 64 * 1024 * 1024


def kept(project: int, name: str) -> Opened | None:
    try:
        with _storage().open(_path(project, name)) as file:
            raw = bytes(file.read())
        head_size, _ = LENGTHS.unpack_from(raw)
        body_at = LENGTHS.size + head_size
        told, parts = opened(raw[LENGTHS.size : body_at], raw[body_at:])
        return Opened(told["told"], tuple(parts), told["refusal"])
    except (OSError, ValueError, KeyError, struct.error):
        return None  # none, or one that a killed process left: it is made anew


def keep(project: int, name: str, view: Opened) -> None:
    """Keep it, and make room where much was kept since room was made last."""
    raw = b"".join(frame({"told": dict(view.told), "refusal": view.refusal}, view.parts))
    path = _path(project, name)
    with suppress(OSError):  # a full disk costs time at the next look, and nothing else
        _storage().delete(path)
        _storage().save(path, ContentFile(raw))
    if _due.add(len(raw)):
        sweep()


def sweep(now: datetime | None = None, *, max_bytes: int = MAX_KEPT_BYTES) -> int:
    """Delete what was made more than a day ago, then the oldest until the rest fits; return how many."""
    past, left, swept = (now or timezone.now()) - KEPT_FOR, max_bytes, 0
    for made_at, size, path in sorted(_all(), reverse=True):
        left -= size
        if made_at < past or left < 0:
            with suppress(OSError):
                _storage().delete(path)
                swept += 1
    return swept


def delete_all(project: int) -> None:
    """Delete every view of a project that is being removed, and its folders."""
    storage, folder = _storage(), str(project)
    for inner in _folders(folder):
        for name in storage.listdir(inner)[1]:
            with suppress(OSError):  # another process has just swept it
                storage.delete(f"{inner}/{name}")
        with suppress(OSError):
            storage.delete(inner)
    with suppress(OSError):
        storage.delete(folder)


class _Due:
    """Whether it is time to make room."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._bytes, self._at = 0, time.monotonic()

    def add(self, size: int) -> bool:
        with self._lock:
            self._bytes += size
            now = time.monotonic()
            if self._bytes < SWEEP_BYTES and now - self._at < SWEEP_SECONDS:
                return False
            self._bytes, self._at = 0, now
            return True


def _all() -> Iterator[tuple[datetime, int, str]]:
    storage = _storage()
    for folder in _folders(""):
        for inner in _folders(folder):
            for name in storage.listdir(inner)[1]:
                path = f"{inner}/{name}"
                with suppress(OSError):  # another process has just swept it
                    yield storage.get_modified_time(path), storage.size(path), path


def _folders(path: str) -> list[str]:
    with suppress(OSError):
        return [f"{path}/{name}" if path else name for name in _storage().listdir(path)[0]]
    return []


def _path(project: int, name: str) -> str:
    return f"{project}/{name[:2]}/{name}-v{VERSION}"


def _storage() -> Storage:
    return storages["views"]


_due = _Due()
