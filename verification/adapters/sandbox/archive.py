"""Files on their way into a container: a tar archive of plain files, and nothing else."""

from __future__ import annotations

import io
import tarfile
import tempfile
from collections.abc import Iterable
from typing import IO

SPOOLED_BYTES = 16_000_000
MODE = 0o644


def archive(files: Iterable[tuple[str, bytes]]) -> tuple[IO[bytes], int]:
    """Pack files by their paths; return the archive, at its beginning, and its size in bytes.

    No links, no owners, no modes but one: what is to be executed says so to its interpreter.
    """
    spool = tempfile.SpooledTemporaryFile(max_size=SPOOLED_BYTES)  # noqa: SIM115 - the caller's
    with tarfile.open(fileobj=spool, mode="w", format=tarfile.PAX_FORMAT) as packed:
        for path, content in files:
            entry = tarfile.TarInfo(path)
            entry.size, entry.mode = len(content), MODE
            packed.addfile(entry, io.BytesIO(content))
    size = spool.tell()
    spool.seek(0)
    return spool, size
