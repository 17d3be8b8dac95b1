"""What a command in a container reads and writes, over one hijacked connection."""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from docker import APIClient

ERROR_STREAM = 2
_HEADER = struct.Struct(">BxxxL")


class Stream:
    """Read through the response's own buffer: it holds what came along with its head."""

    def __init__(self, client: APIClient, exec_id: str) -> None:
        raw: Any = client.exec_start(exec_id, socket=True)
        self._raw = raw
        self._reader: Any = raw._response.raw._fp.fp
        self._socket: Any = self._reader.raw._sock
        self._socket.settimeout(None)

    def feed(self, chunk: bytes) -> None:
        self._socket.sendall(chunk)

    def chunks(self) -> Iterator[tuple[bool, bytes]]:
        """Whether it was written to the error stream, and what, until the command ends."""
        while len(head := self._reader.read(_HEADER.size)) == _HEADER.size:
            kind, size = _HEADER.unpack(head)
            yield kind == ERROR_STREAM, self._reader.read(size)

    def abort(self) -> None:
        """Whoever reads or feeds in another thread is done."""
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        with suppress(OSError):
            self._socket.close()
            self._raw.close()
