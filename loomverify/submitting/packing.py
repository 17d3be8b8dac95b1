"""A folder as one archive: the same folder gives the same bytes."""

from __future__ import annotations

import gzip
import io
import os
import stat
import tarfile
from collections.abc import Iterator
from pathlib import Path

from loomverify.submitting.errors import UsageError
from loomverify.submitting.task_file import STATE_FOLDER

SKIPPED_FOLDERS = frozenset({".git", STATE_FOLDER})
MAX_FILES = 10_000
MAX_BYTES = 64 * 1024 * 1024


def pack(folder: Path, *, without: Path | None = None, max_bytes: int = MAX_BYTES) -> bytes:
    """Return the folder as `.tar.gz`. `without` is left out.

    Raises:
        UsageError: a link, a special file, a name that is not UTF-8, or too much.
    """
    buffer = io.BytesIO()
    size = count = 0
    with (
        gzip.GzipFile(fileobj=buffer, mode="wb", mtime=0, filename="") as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar,
    ):
        for path in _files(folder):
            if path == without:
                continue
            content = _read(path, max_bytes)
            size, count = size + len(content), count + 1
            if size > max_bytes or count > MAX_FILES:
                raise UsageError(
                    f"{folder} holds more than can be submitted: at most "
                    f"{max_bytes // 1024 // 1024} MiB in {MAX_FILES:,} files."
                )
            entry = tarfile.TarInfo(_name(path.relative_to(folder)))
            entry.size = len(content)
            entry.mode = 0o755 if path.stat().st_mode & stat.S_IXUSR else 0o644
            tar.addfile(entry, io.BytesIO(content))
    return buffer.getvalue()


def _files(folder: Path) -> Iterator[Path]:
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError as error:
        raise UsageError(f"{folder} cannot be read: {error.strerror}.") from error
    for entry in entries:
        path = Path(entry.path)
        if entry.is_symlink():
            raise UsageError(f"{path} is a symbolic link; replace it by what it leads to.")
        if entry.is_dir():
            if entry.name not in SKIPPED_FOLDERS:
                yield from _files(path)
        elif entry.is_file():
            yield path
        else:
            raise UsageError(f"{path} is not a regular file; only files and folders can be sent.")


def _read(path: Path, max_bytes: int) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(max_bytes + 1)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.") from error


def _name(relative: Path) -> str:
    name = relative.as_posix()
    try:
        name.encode()
    except UnicodeEncodeError as error:
        raise UsageError(f"The name {name!a} is not UTF-8.") from error
    return name
