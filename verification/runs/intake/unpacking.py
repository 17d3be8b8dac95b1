"""Read a `.tar.gz` entry by entry, within the bounds that every archive has."""

from __future__ import annotations

import io
import tarfile
import zlib
from collections.abc import Iterator
from typing import IO

from loomverify.errors import InputError, Loc
from verification.runs.intake.schemas import MAX_FILES

MAX_TOTAL_BYTES = 128 * 1024 * 1024
MAX_FILE_BYTES = 64 * 1024 * 1024
MAX_RATIO = 200
RATIO_FREE_BYTES = 4 * 1024 * 1024
"""A small archive may have any ratio: ten empty kilobytes harm nobody."""
MAX_PATH = 500
MAX_HEADER_BYTES = 64 * 1024
"""Of what stands before an entry to describe it: a long path, pax records."""
MAX_SHARED_BYTES, MAX_SHARED = 4 * 1024, 100
"""Of one header that describes all entries to come, and of what such headers say together."""
MAX_MEMBERS = 10_000
"""A gzip file may be made of many; each costs time, however little it holds."""
CHUNK = 1024 * 1024
INPUT_CHUNK = 64 * 1024
GZIP = 16 + zlib.MAX_WBITS

_DESCRIBING = (
    *(tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE),
    *(tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK),
)

Entry = tuple[str, Iterator[bytes] | None]
"""A path as given, and the content of a file in pieces; None: a folder."""


class Budget:
    """What an archive may still unpack to."""

    def __init__(self, loc: Loc, *, compressed: int) -> None:
        self.loc = loc
        self.allowed = min(MAX_TOTAL_BYTES, max(RATIO_FREE_BYTES, compressed * MAX_RATIO))
        self.used = 0
        self.entries = 0

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
        self.entries += 1
        self.check_count(self.entries)
        if size > MAX_FILE_BYTES:
            raise InputError(
                "archive.file_too_large",
                f"At most {MAX_FILE_BYTES} bytes in one file.",
                loc=(*self.loc, name[:MAX_PATH]),
                status=413,
            )

    def check_count(self, count: int) -> None:
        if count > MAX_FILES:
            raise InputError(
                "archive.too_many_files", f"At most {MAX_FILES} files.", loc=self.loc, status=413
            )

    def refuse_kind(self, name: str, kind: str) -> InputError:
        return InputError(
            "archive.not_a_file",
            f"{name[:120]!r} is {kind}; only files and folders may be sent.",
            loc=(*self.loc, name[:MAX_PATH]),
        )


class _Unpacked(io.RawIOBase):
    """A gzip stream, every byte of which is taken from the budget; members and padding included."""

    def __init__(self, archive: IO[bytes], budget: Budget) -> None:
        self._archive = archive
        self._budget = budget
        self._inflate = zlib.decompressobj(GZIP)
        self._left = b""
        self._members = 1

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        wanted = CHUNK if size < 0 else size
        while self._has_more():
            piece = self._inflate.decompress(self._left, wanted)
            self._left = self._inflate.unused_data or self._inflate.unconsumed_tail
            if piece:
                self._budget.take(len(piece))
                return piece
        return b""

    def _has_more(self) -> bool:
        if self._inflate.eof:
            self._left = self._left.lstrip(b"\0")
        self._left = self._left or self._archive.read(INPUT_CHUNK)
        if self._inflate.eof and self._left.strip(b"\0"):
            self._left = self._left.lstrip(b"\0")
            self._inflate = zlib.decompressobj(GZIP)
            self._members += 1
            if self._members > MAX_MEMBERS:
                raise tarfile.ReadError("too many members of gzip")
        if not self._left and not self._inflate.eof:
            raise EOFError("the gzip stream breaks off")
        return bool(self._left)


class _Header(tarfile.TarInfo):
    """Refuses what `tarfile` takes for the end, and descriptions that are read whole before use."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> _Header:
        try:
            header = super().frombuf(buf, encoding, errors)
        except (tarfile.InvalidHeaderError, tarfile.TruncatedHeaderError) as error:  # type: ignore[attr-defined]
            raise tarfile.ReadError("a header is damaged") from error
        limit = MAX_SHARED_BYTES if header.type == tarfile.XGLTYPE else MAX_HEADER_BYTES
        if header.size < 0 or (header.type in _DESCRIBING and header.size > limit):
            raise tarfile.ReadError("a header describes too much")
        return header

    # A sparse file is refused: its map, which may be as long as the archive, is not read.

    def _proc_sparse(self, _tar: tarfile.TarFile) -> _Header:
        self.sparse = b""
        return self

    def _proc_gnusparse_10(self, entry: _Header, *_others: object) -> None:
        entry.sparse = b""


def tar_entries(archive: IO[bytes], budget: Budget) -> Iterator[Entry]:
    stream = _Unpacked(archive, budget)
    with tarfile.open(fileobj=stream, mode="r|", encoding="utf-8", tarinfo=_Header) as tar:
        for member in tar:
            tar.members.clear()  # type: ignore[attr-defined] # or every header stays in memory
            if len(tar.pax_headers) > MAX_SHARED:  # each entry is compared with all of them
                raise tarfile.ReadError("headers describe too much")
            budget.enter(member.name, member.size)
            if member.isdir():
                yield member.name, None
                continue
            if member.issym() or member.islnk():
                raise budget.refuse_kind(member.name, "a link")
            if not member.isreg() or member.issparse() or member.size < 0:
                raise budget.refuse_kind(member.name, "a special file")
            yield member.name, _pieces(tar.extractfile(member))
    # The end of a tar is not the end of what was sent: a bomb or a second tar may follow.
    for rest in iter(lambda: stream.read(CHUNK), b""):
        if rest.strip(b"\0"):
            raise tarfile.ReadError("something follows the end of the tar")


def _pieces(stream: IO[bytes] | None) -> Iterator[bytes]:
    if stream is not None:
        yield from iter(lambda: stream.read(CHUNK), b"")
