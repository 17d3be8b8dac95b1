"""Files on their way into a container: a tar archive of plain files, and nothing else."""

from __future__ import annotations

import io
import tarfile
import tempfile
from collections.abc import Iterable
from typing import IO

SPOOLED_BYTES = 16_000_000
MODE, PROGRAM_MODE = 0o644, 0o755
PROGRAMS = (b"#!", b"\x7fELF")
"""How a file begins that a system would execute."""
WRITTEN_AT = 1_577_836_800
"""The start of 2020, for every file: a time that every format knows, and that nothing goes by."""


def archive(files: Iterable[tuple[str, bytes]]) -> tuple[IO[bytes], int]:
    """Pack files by their paths; return the archive, at its beginning, and its size in bytes.

    No links and no owners. A submission has no modes: what begins as a program is one.
    """
    spool = tempfile.SpooledTemporaryFile(max_size=SPOOLED_BYTES)  # noqa: SIM115 - the caller's
    with tarfile.open(fileobj=spool, mode="w", format=tarfile.PAX_FORMAT) as packed:
        for path, content in files:
            entry = tarfile.TarInfo(path)
            entry.size, entry.mtime = len(content), WRITTEN_AT
            entry.mode = PROGRAM_MODE if content.startswith(PROGRAMS) else MODE
            packed.addfile(entry, io.BytesIO(content))
    size = spool.tell()
    spool.seek(0)
    return spool, size
