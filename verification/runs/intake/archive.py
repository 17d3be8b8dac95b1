"""Submitted archives: names, sizes, counts and ratio are looked at before anything is kept."""

from __future__ import annotations

import hashlib
import io
import re
import struct
import tarfile
import unicodedata
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from typing import IO, TypeVar

from loomverify.errors import InputError, Loc
from verification.runs.intake.schemas import MAX_FILES
from verification.runs.intake.unpacking import MAX_PATH, Budget, Entry, tar_entries
from verification.runs.intake.zips import zip_entries

MAX_ARCHIVE_BYTES = 64 * 1024 * 1024

T = TypeVar("T")

_UNSAFE = re.compile(r"[\x00-\x1f\x7f\\\ud800-\udfff]|^[A-Za-z]:")


def clean_path(path: str, *, loc: Loc) -> str:
    """Return the path below the workspace's root, without `./`.

    Raises:
        InputError: `path.unsafe` when it is absolute, climbs, or holds what no path should.
    """
    parts = [part for part in path.split("/") if part not in {"", "."}]
    if path.startswith("/") or ".." in parts or _UNSAFE.search(path) or not parts:
        raise InputError(
            "path.unsafe", f"{path[:120]!r} does not stay inside the workspace.", loc=loc
        )
    clean = "/".join(parts)
    if len(clean) > MAX_PATH or any(len(part.encode()) > 255 for part in parts):
        raise InputError("path.too_long", f"A path has at most {MAX_PATH} characters.", loc=loc)
    return clean


def refuse_duplicates(names: Sequence[tuple[str, str]], *, loc: Loc) -> dict[str, str]:
    """Return `{clean path: given path}`; also refuse a file that is another's folder.

    Paths that look alike, and differ only in how Unicode composes a letter, are the same.
    """
    given_by_clean: dict[str, str] = {}
    given_by_composed: dict[str, str] = {}
    for clean, given in names:
        composed = unicodedata.normalize("NFC", clean)
        if composed in given_by_composed:
            first = given_by_composed[composed]
            spellings = "" if first == given else f", as {first!a} and as {given!a}"
            raise InputError("path.duplicate", f"{clean!r} is there twice{spellings}.", loc=loc)
        given_by_composed[composed] = given
        given_by_clean[clean] = given
    _refuse_folders(set(given_by_composed), given_by_composed, loc)
    return given_by_clean


def _refuse_folders(files: set[str], paths: Iterable[str], loc: Loc) -> None:
    """Refuse a file where one of the paths has a folder."""
    seen: set[str] = set()
    for path in paths:
        folder = path.rpartition("/")[0]
        while folder and folder not in seen:
            if folder in files:
                raise InputError(
                    "path.duplicate", f"{folder!r} is both a file and a folder.", loc=loc
                )
            seen.add(folder)
            folder = folder.rpartition("/")[0]


def archive_sha256(archive: IO[bytes]) -> str:
    archive.seek(0)
    return hashlib.file_digest(archive, "sha256").hexdigest()  # type: ignore[arg-type]


def check_archive(archive: IO[bytes], *, besides: Iterable[str] = (), loc: Loc) -> None:
    """Read the whole archive once, keeping nothing. `besides`: clean paths of other files.

    Raises:
        InputError: anything in it is not as it should be; names the entry.
    """
    names = [(path, path) for path in besides]
    folders = []
    for path, pieces in _entries(archive, loc=loc):
        if pieces is None:
            if path.strip("./") or path.startswith("/") or ".." in path:
                folders.append(clean_path(path, loc=(*loc, path)) + "/.")
            continue
        names.append((clean_path(path, loc=(*loc, path)), path))
        for _piece in pieces:
            pass
    files = refuse_duplicates(names, loc=loc)
    _refuse_folders(set(files), folders, loc)
    if len(names) > MAX_FILES:
        raise InputError(
            "archive.too_many_files", f"At most {MAX_FILES} files.", loc=loc, status=413
        )


def read_archive(archive: IO[bytes], *, loc: Loc) -> Iterator[tuple[str, bytes]]:
    """Yield `(path as given, content)` of each file of a `.zip` or `.tar.gz`."""
    for path, pieces in _entries(archive, loc=loc):
        if pieces is not None:
            yield path, b"".join(pieces)


def _entries(archive: IO[bytes], *, loc: Loc) -> Iterator[Entry]:
    size = archive.seek(0, io.SEEK_END)
    if size > MAX_ARCHIVE_BYTES:
        raise InputError(
            "archive.too_large", f"At most {MAX_ARCHIVE_BYTES} bytes.", loc=loc, status=413
        )
    archive.seek(0)
    magic = archive.read(4)
    archive.seek(0)
    budget = Budget(loc, compressed=size)
    if magic[:2] == b"\x1f\x8b":
        return _readable(tar_entries(archive, budget), loc)
    if magic[:2] == b"PK":
        return _readable(zip_entries(archive, budget), loc)
    raise InputError("archive.unknown", "Send a .zip or a .tar.gz.", loc=loc)


def _readable(entries: Iterator[Entry], loc: Loc) -> Iterator[Entry]:
    """The same entries; whatever is wrong with the archive's bytes is its sender's mistake."""
    for path, pieces in _or_broken(entries, loc):
        yield path, None if pieces is None else _or_broken(pieces, loc)


def _or_broken(found: Iterator[T], loc: Loc) -> Iterator[T]:
    try:
        yield from found
    except (
        tarfile.TarError, zipfile.BadZipFile, zlib.error, struct.error, EOFError, IndexError,
        NotImplementedError, UnicodeError, RuntimeError, ValueError, OverflowError,
    ) as error:  # fmt: skip
        raise InputError(
            "archive.broken", "The archive cannot be read to its end.", loc=loc
        ) from error
