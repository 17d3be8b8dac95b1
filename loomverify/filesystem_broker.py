"""kombu's filesystem transport with files that appear whole.

As kombu writes them, a reader can take a message, or a table of bindings, between its creation
and its first byte, and dies of the empty file.
"""

# The published stubs of kombu name neither what it overrides nor all that it has.
# mypy: disable-error-code="override, attr-defined"

from __future__ import annotations

import fcntl
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Empty
from typing import Any

from kombu.transport import TRANSPORT_ALIASES, filesystem
from kombu.utils.json import dumps, loads

NAME = "filesystem"
LONGEST_WAIT_SECONDS = 0.25


class Channel(filesystem.Channel):
    def _put(self, queue: str, payload: Any, **_: Any) -> None:
        folder = Path(self.data_folder_out)
        name = f"{time.monotonic_ns():020}_{uuid.uuid4()}.{queue}.msg"
        _write_whole(folder / name, dumps(payload))

    def _get(self, queue: str) -> Any:
        folder = Path(self.data_folder_in)
        for message in sorted(folder.iterdir()):
            if message.name.partition(".")[2] != f"{queue}.msg":
                continue
            taken = message.with_name(f".{message.name}.{uuid.uuid4()}")
            try:
                message.rename(taken)
            except FileNotFoundError:
                continue  # another worker was faster
            text = taken.read_text()
            taken.unlink()
            return loads(text)
        raise Empty

    def _lookup(self, exchange: str, routing_key: str, default: str | None = None) -> list[str]:
        """Our queues are named like their routing keys, so a table that is gone loses nothing.

        kombu remembers a binding before it writes it, and for as long as the process lives.
        """
        return list(super()._lookup(exchange, routing_key, default)) or [routing_key]

    def get_table(self, exchange: str) -> list[Any]:
        try:
            text = self._exchange_file(exchange).read_text()
        except FileNotFoundError:
            return []
        return [filesystem.exchange_queue_t(*row) for row in loads(text)]

    def _queue_bind(self, exchange: str, routing_key: str, pattern: str, queue: str) -> None:
        row = filesystem.exchange_queue_t(routing_key or "", pattern or "", queue or "")
        if row in self.get_table(exchange):
            return
        with _locked(Path(self.control_folder) / ".lock"):
            table = self.get_table(exchange)
            if row not in table:
                _write_whole(self._exchange_file(exchange), dumps([row, *table]))


class Transport(filesystem.Transport):
    Channel = Channel

    def drain_events(self, connection: Any, **options: Any) -> None:
        """Celery looks whether it shall stop between two calls, and makes one more before it does."""
        if options.get("timeout") is not None:
            options["timeout"] = min(options["timeout"], LONGEST_WAIT_SECONDS)
        super().drain_events(connection, **options)


def register() -> None:
    """Serve `filesystem://` from here on."""
    TRANSPORT_ALIASES[NAME] = f"{__name__}:Transport"


def _write_whole(path: Path, text: str) -> None:
    part = path.with_name(f".{uuid.uuid4()}.part")
    part.write_text(text)
    part.replace(path)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
