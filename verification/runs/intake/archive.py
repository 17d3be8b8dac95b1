"""Submitted archives, read within bounds: names, sizes, counts and ratio before anything is kept."""

from __future__ import annotations

import gzip
import hashlib
import io
import re
import tarfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from typing import IO

from loomverify.errors import InputError, Loc
from verification.runs.intake.schemas import MAX_FILES

MAX_ARCHIVE_BYTES = 64 * 1024 * 1024
MAX_TOTAL_BYTES = 128 * 1024 * 1024
MAX_FILE_BYTES = 64 * 1024 * 1024
MAX_RATIO = 200
RATIO_FREE_BYTES = 4 * 1024 * 1024
"""A small archive may have any ratio: ten empty kilobytes harm nobody."""
MAX_PATH = 500
CHUNK = 1024 * 1024

_UNSAFE = re.compile(r"[\x00-\x1f\x7f\\]|^[A-Za-z]:")


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
    """Return `{clean path: given path}`; also refuse a file that is another's folder."""
    found: dict[str, str] = {}
    for clean, given in names:
        if clean in found:
            raise InputError("path.duplicate", f"{clean!r} is there twice.", loc=loc)
        found[clean] = given
    for clean in found:
        folder = clean.rpartition("/")[0]
        while folder:
            if folder in found:
                raise InputError(
                    "path.duplicate", f"{folder!r} is both a file and a folder.", loc=loc
                )
            folder = folder.rpartition("/")[0]
    return found


def archive_sha256(archive: IO[bytes]) -> str:
    archive.seek(0)
    return hashlib.file_digest(archive, "sha256").hexdigest()  # type: ignore[arg-type]


def check_archive(archive: IO[bytes], *, besides: Iterable[str] = (), loc: Loc) -> None:
    """Read the whole archive once, keeping nothing. `besides`: clean paths of other files.

    Raises:
        InputError: anything in it is not as it should be; names the entry.
    """
    names = [(path, path) for path in besides]
    for path, _ in read_archive(archive, loc=loc):
        names.append((clean_path(path, loc=(*loc, path)), path))
    refuse_duplicates(names, loc=loc)
    if len(names) > MAX_FILES:
        raise InputError(
            "archive.too_many_files", f"At most {MAX_FILES} files.", loc=loc, status=413
        )


def read_archive(archive: IO[bytes], *, loc: Loc) -> Iterator[tuple[str, bytes]]:
    """Yield `(path as given, content)` of each file of a `.zip` or `.tar.gz`."""
    archive.seek(0, io.SEEK_END)
    size = archive.tell()
    if size > MAX_ARCHIVE_BYTES:
        raise InputError(
            "archive.too_large", f"At most {MAX_ARCHIVE_BYTES} bytes.", loc=loc, status=413
        )
    archive.seek(0)
    magic = archive.read(4)
    archive.seek(0)
    budget = _Budget(loc, compressed=size)
    try:
        if magic[:2] == b"\x1f\x8b":
            yield from _tar_files(archive, budget)
        elif magic[:2] == b"PK":
            yield from _zip_files(archive, budget)
        else:
            raise InputError("archive.unknown", "Send a .zip or a .tar.gz.", loc=loc)
    except (
        tarfile.TarError, zipfile.BadZipFile, zlib.error, gzip.BadGzipFile, EOFError,
        NotImplementedError, UnicodeError, RuntimeError, ValueError, OverflowError,
    ) as error:  # fmt: skip
        raise InputError(
            "archive.broken", "The archive cannot be read to its end.", loc=loc
        ) from error


class _Budget:
    """What an archive may still unpack to."""

    def __init__(self, loc: Loc, *, compressed: int) -> None:
        self.loc = loc
        self.allowed = min(MAX_TOTAL_BYTES, max(RATIO_FREE_BYTES, compressed * MAX_RATIO))
        self.used = 0
        self.files = 0

    def take(self, count: int) -> None:
        self.used += count
        if self.used > self.allowed:
            raise InputError(
                "archive.unpacks_too_large",
                f"Unpacked, this archive exceeds {self.allowed} bytes.",
                loc=self.loc,
                status=413,
            )

    def enter(self, name: str, size: int) -> None:
        self.files += 1
        if self.files > MAX_FILES:
            raise InputError(
                "archive.too_many_files", f"At most {MAX_FILES} files.", loc=self.loc, status=413
            )
        if size > MAX_FILE_BYTES:
            raise InputError(
                "archive.file_too_large",
                f"At most {MAX_FILE_BYTES} bytes in one file.",
                loc=(*self.loc, name[:MAX_PATH]),
                status=413,
            )

    def refuse_kind(self, name: str, kind: str) -> InputError:
        return InputError(
            "archive.not_a_file",
            f"{name[:120]!r} is a {kind}; only files and folders may be sent.",
            loc=(*self.loc, name[:MAX_PATH]),
        )


class _Counted(io.RawIOBase):
    """A stream whose every unpacked byte is taken from the budget."""

    def __init__(self, stream: IO[bytes], budget: _Budget) -> None:
        self._stream = stream
        self._budget = budget

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        wanted = CHUNK if size < 0 else min(size, self._budget.allowed + 1)
        chunk = self._stream.read(wanted)
        self._budget.take(len(chunk))
        return chunk


def _tar_files(archive: IO[bytes], budget: _Budget) -> Iterator[tuple[str, bytes]]:
    with gzip.GzipFile(fileobj=archive) as unpacked:
        stream = _Counted(unpacked, budget)  # type: ignore[arg-type]
        with tarfile.open(fileobj=stream, mode="r|", encoding="utf-8") as tar:
            for member in tar:
                tar.members.clear()  # type: ignore[attr-defined] # or every header stays in memory
                if member.isdir():
                    clean_directory(member.name, budget)
                    continue
                if member.issym() or member.islnk():
                    raise budget.refuse_kind(member.name, "link")
                if not member.isreg() or member.issparse():
                    raise budget.refuse_kind(member.name, "special file")
                budget.enter(member.name, member.size)
                content = tar.extractfile(member)
                yield member.name, content.read() if content else b""
        # The end of a tar is not the end of what was sent: a bomb or a second tar may follow.
        for rest in iter(lambda: stream.read(CHUNK), b""):
            if rest.strip(b"\0"):
                raise tarfile.ReadError("something follows the end of the tar")


def _zip_files(archive: IO[bytes], budget: _Budget) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(archive) as zipped:
        for member in zipped.infolist():
            kind = member.external_attr >> 28
            if member.is_dir():
                clean_directory(member.filename, budget)
                continue
            if member.create_system == 3 and kind not in {0, 0o10}:
                raise budget.refuse_kind(member.filename, "link or special file")
            if member.flag_bits & 0x1:
                raise budget.refuse_kind(member.filename, "encrypted file")
            budget.enter(member.filename, member.file_size)
            with zipped.open(member) as stream:
                counted = _Counted(stream, budget)
                content = b"".join(iter(lambda: counted.read(CHUNK), b""))  # noqa: B023 - used up at once
            yield member.filename, content


def clean_directory(name: str, budget: _Budget) -> None:
    if name.strip("./"):
        clean_path(name, loc=(*budget.loc, name[:MAX_PATH]))
    elif ".." in name.split("/") or name.startswith("/"):
        clean_path("..", loc=budget.loc)
    budget.enter(name, 0)
