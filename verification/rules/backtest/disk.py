"""The folder of stored content, read one file after another; a cold disk is asked for many at a time."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

FETCHERS = 8
SLOW_SECONDS = 0.000_3
"""A file that lies in memory is there sooner."""


class Disk:
    """Files by their digest. Where they came slowly, the next ones are fetched ahead of time."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._seconds = 0.0
        self._count = 0

    def announce(self, digests: Iterable[str]) -> None:
        """Have the system begin to read what will be asked for, if it is slow to answer."""
        is_slow = self._seconds > SLOW_SECONDS * self._count
        self._seconds, self._count = 0.0, 0
        if is_slow:
            with ThreadPoolExecutor(FETCHERS) as pool:
                for _ in pool.map(self._fetch, digests):
                    pass

    def read(self, sha256: str) -> bytes:
        """Raises: OSError, it is not there, or is not what was stored."""
        began = time.perf_counter()
        content = self._path(sha256).read_bytes()
        self._seconds += time.perf_counter() - began
        self._count += 1
        if hashlib.sha256(content).hexdigest() != sha256:
            raise OSError("changed")
        return content

    def _fetch(self, sha256: str) -> None:
        with suppress(OSError):
            file = os.open(self._path(sha256), os.O_RDONLY)
            try:
                os.posix_fadvise(file, 0, 0, os.POSIX_FADV_WILLNEED)
            finally:
                os.close(file)

    def _path(self, sha256: str) -> Path:
        return self.folder / sha256[:2] / sha256
