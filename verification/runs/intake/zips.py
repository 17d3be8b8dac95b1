"""Read a `.zip` entry by entry.

`zipfile` decides what a name is before anyone can ask for its bytes, and not in the same way in
each version of Python. So the directory is read here.
"""

from __future__ import annotations

import io
import struct
import unicodedata
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO

from loomverify.errors import InputError
from verification.runs.intake.schemas import MAX_FILES
from verification.runs.intake.unpacking import CHUNK, INPUT_CHUNK, MAX_PATH, Budget, Entry

STORED, DEFLATED = 0, 8
ENCRYPTED = 0x1
UNREADABLE = 0x20 | 0x40 | 0x2000
"""Patches of other files, strong encryption, and a directory whose names are masked."""
UNIX = 3

_END = struct.Struct("<4s4H2LH")
_END_MARK = b"PK\x05\x06"
_LOCATOR_MARK, _LOCATOR_BYTES = b"PK\x06\x07", 20
_ENTRY = struct.Struct("<4s2x2x2H4x3L3H4xLL")
_ENTRY_MARK = b"PK\x01\x02"
_LOCAL_BYTES, _LOCAL_MARK = 30, b"PK\x03\x04"
_FIELD = struct.Struct("<2H")
_ZIP64_FIELD, _UNICODE_PATH_FIELD = 0x0001, 0x7075
_IN_ZIP64 = 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class Member:
    """An entry of the directory. `start` is where its own header begins in the file."""

    name: str
    raw_name: bytes
    start: int
    flags: int
    method: int
    crc: int
    packed_bytes: int
    size: int
    is_special: bool


def zip_entries(archive: IO[bytes], budget: Budget) -> Iterator[Entry]:
    """Yield what the directory lists, in its order.

    Raises:
        BadZipFile: it cannot be read to its end.
        InputError: `path.ambiguous`, or an entry that may not be sent.
    """
    directory, start, shift = _read_directory(archive)
    budget.check_count(_count_members(directory))
    members = list(_members(directory, shift))
    ends = _ends(members, start)
    for member in members:
        budget.enter(member.name, member.size)
        if member.name.endswith("/"):
            yield member.name, None
            continue
        if member.is_special:
            raise budget.refuse_kind(member.name, "a link or special file")
        if member.flags & ENCRYPTED:
            raise budget.refuse_kind(member.name, "encrypted")
        if member.method not in (STORED, DEFLATED):
            raise budget.refuse_kind(member.name, "neither stored nor deflated")
        content_start = _find_content(archive, member, budget)
        if content_start + member.packed_bytes > ends[member.start]:
            raise zipfile.BadZipFile("entries overlap")
        yield member.name, _content(archive, member, content_start, budget)


def decode_name(raw: bytes, extra: bytes = b"") -> str:
    """Read a stored name: the Unicode path field of this name, else UTF-8, else CP437.

    Many programs write UTF-8 without the flag that says so, and some set the flag without writing
    UTF-8. So the bytes count, not the flag.
    """
    for kind, content in _extra_fields(extra):
        is_of_name = content[:1] == b"\x01" and content[1:5] == struct.pack("<L", zlib.crc32(raw))
        if kind == _UNICODE_PATH_FIELD and is_of_name and content[5:]:
            try:
                return content[5:].decode()
            except UnicodeDecodeError:
                continue
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw.decode("cp437")


def _read_directory(archive: IO[bytes]) -> tuple[bytes, int, int]:
    """Return the directory, its place, and how far all places are from where they say they are.

    Raises:
        BadZipFile: there is no directory, or one for more than any limit here allows (zip64).
    """
    size = archive.seek(0, io.SEEK_END)
    archive.seek(max(0, size - _LOCATOR_BYTES - _END.size - 0xFFFF))
    tail = archive.read()
    at = tail.rfind(_END_MARK)
    if not 0 <= at <= len(tail) - _END.size:
        raise zipfile.BadZipFile("no end record")
    if tail[max(0, at - _LOCATOR_BYTES) :].startswith(_LOCATOR_MARK):
        raise zipfile.BadZipFile("zip64 is for more than may be sent")
    *_, directory_bytes, stated_start, _comment = _END.unpack_from(tail, at)
    start = size - len(tail) + at - directory_bytes
    if start < 0 or start < stated_start:
        raise zipfile.BadZipFile("the directory is larger than the archive")
    archive.seek(start)
    return archive.read(directory_bytes), start, start - stated_start


def _count_members(directory: bytes) -> int:
    """Count the entries, whatever number the end states; nothing of them is kept."""
    count = position = 0
    while directory[position : position + 4] == _ENTRY_MARK and count <= MAX_FILES:
        if position + _ENTRY.size > len(directory):
            break
        count += 1
        position += _ENTRY.size + sum(_ENTRY.unpack_from(directory, position)[6:9])
    if position != len(directory) and count <= MAX_FILES:
        raise zipfile.BadZipFile("the directory is damaged")
    return count


def _members(directory: bytes, shift: int) -> Iterator[Member]:
    position = 0
    while position < len(directory):
        (
            _mark, flags, method, crc, packed_bytes, size,
            name_bytes, extra_bytes, comment_bytes, attributes, start,
        ) = _ENTRY.unpack_from(directory, position)  # fmt: skip
        system = directory[position + 5]
        name_start = position + _ENTRY.size
        extra_start = name_start + name_bytes
        extra = directory[extra_start : extra_start + extra_bytes]
        size, packed_bytes, start = _resolve_zip64((size, packed_bytes, start), extra)
        if flags & UNREADABLE:
            raise zipfile.BadZipFile("an entry is of a kind that nobody reads")
        raw_name = directory[name_start:extra_start]
        yield Member(
            name=decode_name(raw_name, extra),
            raw_name=raw_name,
            start=start + shift,
            flags=flags,
            method=method,
            crc=crc,
            packed_bytes=packed_bytes,
            size=size,
            is_special=system == UNIX and attributes >> 28 not in {0, 0o10},
        )
        position = extra_start + extra_bytes + comment_bytes


def _resolve_zip64(stated: tuple[int, int, int], extra: bytes) -> tuple[int, int, int]:
    """Replace numbers that do not fit by those of the field for large files, in its order."""
    large = next((content for kind, content in _extra_fields(extra) if kind == _ZIP64_FIELD), b"")
    numbers = []
    for number in stated:
        if number == _IN_ZIP64 and len(large) >= 8:
            number, large = int.from_bytes(large[:8], "little"), large[8:]
        numbers.append(number)
    size, packed_bytes, start = numbers
    return size, packed_bytes, start


def _extra_fields(extra: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the fields up to the first that is cut off."""
    position = 0
    while position + _FIELD.size <= len(extra):
        kind, length = _FIELD.unpack_from(extra, position)
        position += _FIELD.size
        if position + length > len(extra):
            return
        yield kind, extra[position : position + length]
        position += length


def _ends(members: list[Member], directory_start: int) -> dict[int, int]:
    """Return where each entry must have ended, by where it starts.

    Entries that share their content would unpack to much more than was sent.
    """
    starts = sorted(member.start for member in members)
    if len(set(starts)) < len(starts):
        raise zipfile.BadZipFile("entries overlap")
    return dict(zip(starts, [*starts[1:], directory_start], strict=True))


def _find_content(archive: IO[bytes], member: Member, budget: Budget) -> int:
    """Return where the content begins, behind a header that names the same file."""
    archive.seek(member.start)
    header = archive.read(_LOCAL_BYTES)
    if len(header) < _LOCAL_BYTES or not header.startswith(_LOCAL_MARK):
        raise zipfile.BadZipFile("an entry has no header")
    name_bytes = int.from_bytes(header[26:28], "little")
    extra_bytes = int.from_bytes(header[28:30], "little")
    described = archive.read(name_bytes + extra_bytes)
    raw_name = described[:name_bytes]
    name = decode_name(raw_name, described[name_bytes:])
    # The Unicode path field may stand in one place alone.
    if raw_name != member.raw_name and _composed(name) != _composed(member.name):
        raise InputError(
            "path.ambiguous",
            f"{member.name[:120]!r} is called {name[:120]!r} in its own header: "
            "pack the archive again.",
            loc=(*budget.loc, member.name[:MAX_PATH]),
        )
    return member.start + _LOCAL_BYTES + name_bytes + extra_bytes


def _composed(name: str) -> str:
    return unicodedata.normalize("NFC", name)


def _content(archive: IO[bytes], member: Member, start: int, budget: Budget) -> Iterator[bytes]:
    """Yield the content in pieces, each taken from the budget before it is used."""
    crc = size = 0
    for piece in _unpacked(archive, member, start):
        budget.take(len(piece))
        crc, size = zlib.crc32(piece, crc), size + len(piece)
        if size > member.size:
            raise zipfile.BadZipFile("an entry holds more than it states")
        yield piece
    if size != member.size or crc != member.crc:
        raise zipfile.BadZipFile("an entry does not hold what it states")


def _unpacked(archive: IO[bytes], member: Member, start: int) -> Iterator[bytes]:
    inflate = zlib.decompressobj(-zlib.MAX_WBITS)
    position, end = start, start + member.packed_bytes
    left = b""
    while position < end or left:
        if not left:
            archive.seek(position)  # whoever reads the entries may read elsewhere between them
            left = archive.read(min(INPUT_CHUNK, end - position))
            position += len(left)
            if not left:
                raise EOFError("an entry breaks off")
        if member.method == STORED:
            yield left
            left = b""
            continue
        piece = inflate.decompress(left, CHUNK)
        left = inflate.unconsumed_tail
        if piece:
            yield piece
        if inflate.eof:
            return
    if piece := inflate.flush():
        yield piece
