"""The one file of a backup: a plain tar of small members, written and read member by member.

It is read strictly: what we would not have written is refused, whatever a tar may hold.
"""

from __future__ import annotations

import os
import tarfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from loomverify.variables import ConfigurationError

BLOCK = 512
MAX_MEMBER_BYTES = 1024 * 1024 * 1024
"""A member is read whole; ours are parts of 32 MiB, and files of 64 MiB at most."""


class DamagedBackup(ConfigurationError):
    """The file is no backup, or not a whole one. Nothing was changed."""


@dataclass(frozen=True, slots=True)
class Member:
    """`offset` is where its content begins, in bytes."""

    name: str
    offset: int
    size: int


class ArchiveWriter:
    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._time = int(time.time())

    def add(self, name: str, content: bytes) -> None:
        info = tarfile.TarInfo(name)
        info.size, info.mode, info.mtime = len(content), 0o600, self._time
        self._file.write(info.tobuf(tarfile.USTAR_FORMAT, "ascii", "strict"))
        self._file.write(content)
        self._file.write(bytes(-len(content) % BLOCK))

    def close(self) -> None:
        self._file.write(bytes(2 * BLOCK))
        self._file.flush()
        os.fsync(self._file.fileno())


def members(file: BinaryIO) -> Iterator[Member]:
    """Yield the members in order.

    Raises:
        DamagedBackup: something is not as `ArchiveWriter` writes it.
    """
    end, at = file.seek(0, os.SEEK_END), 0
    while True:
        file.seek(at)
        header = file.read(BLOCK)
        if header == bytes(BLOCK):
            return
        member = _member(header, at + BLOCK)
        if member.offset + member.size > end:
            raise DamagedBackup("The backup breaks off: it was not written or copied to its end.")
        yield member
        at = member.offset + member.size + (-member.size % BLOCK)


def read(file: BinaryIO, member: Member) -> bytes:
    file.seek(member.offset)
    content = file.read(member.size)
    if len(content) != member.size:
        raise DamagedBackup("The backup breaks off: it became shorter while it was read.")
    return content


def _member(header: bytes, offset: int) -> Member:
    if not header:
        raise DamagedBackup("The backup breaks off: it was not written or copied to its end.")
    try:
        info = tarfile.TarInfo.frombuf(header, "ascii", "strict")
    except (tarfile.TarError, ValueError) as error:
        raise DamagedBackup("This is no backup of LoomVerify, or a damaged one.") from error
    if info.type != tarfile.REGTYPE or not 0 <= info.size <= MAX_MEMBER_BYTES:
        raise DamagedBackup("This is no backup of LoomVerify: it holds what we never pack.")
    return Member(info.name, offset, info.size)
