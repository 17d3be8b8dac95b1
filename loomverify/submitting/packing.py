"""The files of a folder as one archive: the same files give the same bytes."""

from __future__ import annotations

import gzip
import io
import tarfile

from loomverify.submitting.errors import UsageError
from loomverify.submitting.selecting import Selection

MAX_FILES = 10_000
MAX_BYTES = 64 * 1024 * 1024


def pack(selection: Selection, *, max_bytes: int = MAX_BYTES) -> bytes:
    """Return the selected files as `.tar.gz`.

    Raises:
        UsageError: one cannot be read, a name that is not UTF-8, or too much.
    """
    buffer = io.BytesIO()
    size = 0
    if len(selection.files) > MAX_FILES:
        raise UsageError(explain_size(selection, max_bytes))
    with (
        gzip.GzipFile(fileobj=buffer, mode="wb", mtime=0, filename="") as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar,
    ):
        for path in selection.files:
            content, is_executable = selection.folder.read(path, max_bytes + 1)
            size += len(content)
            if size > max_bytes:
                raise UsageError(explain_size(selection, max_bytes))
            entry = tarfile.TarInfo(_name(path))
            entry.size = len(content)
            entry.mode = 0o755 if is_executable else 0o644
            tar.addfile(entry, io.BytesIO(content))
    return buffer.getvalue()


def explain_size(selection: Selection, max_bytes: int = MAX_BYTES) -> str:
    return (
        f"{selection.folder.root} holds more than can be submitted: at most "
        f"{max_bytes // 1024 // 1024} MiB in {MAX_FILES:,} files. --dry-run shows what would be "
        "sent; .loomverifyignore leaves files out."
    )


def _name(path: str) -> str:
    try:
        path.encode()
    except UnicodeEncodeError as error:
        raise UsageError(f"The name {path!a} is not UTF-8.") from error
    return path
