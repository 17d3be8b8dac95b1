"""Advisories of a zip, a folder or a file of JSON lines, one after another. Hostile input.

Names in an archive are told, never followed: nothing is unpacked to a disk.
"""

from __future__ import annotations

import lzma
import os
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from loomverify.errors import InputError
from verification.engine.advisories.osv import MAX_ADVISORY_BYTES

MAX_ENTRIES = 1_000_000
MAX_UNPACKED_BYTES = 10_000_000_000
MAX_PACKED_BYTES = 2_000_000_000
SUFFIX = ".json"
_DAMAGED = (
    zipfile.BadZipFile, zlib.error, lzma.LZMAError, OSError, EOFError,
    RuntimeError, ValueError,
)  # fmt: skip
"""`RuntimeError`: encrypted, or packed in a way that nobody here knows."""

Named = tuple[str, bytes | None]
"""A name to tell, and a content; None is one that cannot be had, or is too large."""


def contents_of(path: Path) -> Iterator[Named]:
    """Read every advisory there is.

    Raises:
        InputError: `advisories.unreadable`, `advisories.too_many`.
    """
    try:
        yield from _bounded(_contents(path))
    except (OSError, zipfile.BadZipFile) as error:
        why = getattr(error, "strerror", None) or "it is damaged"
        raise InputError("advisories.unreadable", f"{path} cannot be read: {why}.") from error


def _contents(path: Path) -> Iterator[Named]:
    if path.is_dir():
        return _of_folder(path)
    if path.stat().st_size > MAX_PACKED_BYTES:
        raise InputError("advisories.too_many", f"{path} is larger than what is read.")
    return _of_zip(path) if zipfile.is_zipfile(path) else _of_lines(path)


def _bounded(contents: Iterator[Named]) -> Iterator[Named]:
    size = 0
    for number, (name, content) in enumerate(contents):
        size += len(content or b"")
        if number >= MAX_ENTRIES or size > MAX_UNPACKED_BYTES:
            raise InputError("advisories.too_many", "There are more advisories than are read.")
        yield name, content


def _of_zip(path: Path) -> Iterator[Named]:
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            if member.filename.endswith(SUFFIX):
                yield member.filename, _of_member(archive, member)


def _of_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes | None:
    """What the archive says of sizes is not believed."""
    try:
        with archive.open(member) as file:
            return _whole(file)
    except _DAMAGED:
        return None


def _of_folder(path: Path) -> Iterator[Named]:
    for folder, _, names in os.walk(path):
        for name in sorted(names):
            file = Path(folder, name)
            if name.endswith(SUFFIX) and not file.is_symlink():
                yield name, _of_file(file)


def _of_file(path: Path) -> bytes | None:
    try:
        with path.open("rb") as file:
            return _whole(file)
    except OSError:
        return None


def _whole(file: IO[bytes]) -> bytes | None:
    content = file.read(MAX_ADVISORY_BYTES + 1)
    return content if len(content) <= MAX_ADVISORY_BYTES else None


def _of_lines(path: Path) -> Iterator[Named]:
    number = 0
    with path.open("rb") as file:
        while line := file.readline(MAX_ADVISORY_BYTES + 1):
            number += 1
            is_whole = len(line) <= MAX_ADVISORY_BYTES
            while not line.endswith(b"\n") and (rest := file.readline(MAX_ADVISORY_BYTES)):
                is_whole, line = False, rest
            if line.strip():
                yield f"line {number}", line if is_whole else None
