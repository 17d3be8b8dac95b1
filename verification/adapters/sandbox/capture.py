"""What a command wrote, in bounded memory: its head and its tail."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

MAX_STREAM_BYTES = 1_000_000


@dataclass(slots=True)
class HeadAndTail:
    """Keep the first half and the last half of `limit` bytes."""

    limit: int = MAX_STREAM_BYTES
    size: int = 0
    head: bytearray = field(default_factory=bytearray)
    tail: deque[bytes] = field(default_factory=deque)
    tail_size: int = 0

    @property
    def is_whole(self) -> bool:
        return self.size == len(self.head) + self.tail_size

    def add(self, chunk: bytes) -> None:
        self.size += len(chunk)
        room = self.limit // 2 - len(self.head)
        self.head += chunk[: max(0, room)]
        rest = chunk[max(0, room) :]
        if rest:
            self.tail.append(rest)
            self.tail_size += len(rest)
        while self.tail_size > self.limit // 2:
            first = self.tail.popleft()
            excess = self.tail_size - self.limit // 2
            if len(first) > excess:
                self.tail.appendleft(first[excess:])
            self.tail_size -= min(len(first), excess)

    def content(self) -> bytes:
        missing = self.size - len(self.head) - self.tail_size
        between = f"\n… {missing} bytes left out …\n".encode() if missing else b""
        return bytes(self.head) + between + b"".join(self.tail)
