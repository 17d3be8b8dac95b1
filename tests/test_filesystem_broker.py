from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Empty
from typing import Any

import pytest
from kombu import Connection

from loomverify import filesystem_broker

MESSAGES = 300


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    filesystem_broker.register()
    for name in ("queue", "control"):
        (tmp_path / name).mkdir()
    return tmp_path


def connection(folder: Path) -> Connection:
    options = {
        "data_folder_in": str(folder / "queue"),
        "data_folder_out": str(folder / "queue"),
        "control_folder": str(folder / "control"),
    }
    return Connection("filesystem://localhost/", transport_options=options)


def test_messages_come_out_once_and_whole_while_they_are_written(folder: Path) -> None:
    done = threading.Event()

    def write(part: int) -> None:
        with connection(folder) as broker:
            queue = broker.SimpleQueue("live")
            for number in range(part, MESSAGES, 3):
                queue.put({"number": number})

    def read() -> list[int]:
        found = []
        with connection(folder) as broker:
            channel: Any = broker.default_channel
            while True:
                was_done = done.is_set()
                try:
                    found.append(channel._get("live"))
                except Empty:
                    if was_done:
                        return [loads(message) for message in found]

    def loads(message: dict[str, str]) -> int:
        import base64
        import json

        return int(json.loads(base64.b64decode(message["body"]))["number"])

    with ThreadPoolExecutor(6) as pool:
        readers = [pool.submit(read) for _ in range(3)]
        try:
            list(pool.map(write, range(3)))
        finally:
            done.set()
        numbers = [number for reader in readers for number in reader.result()]

    assert sorted(numbers) == list(range(MESSAGES))


def test_queues_can_be_declared_at_once(folder: Path) -> None:
    names = [f"queue-{number}" for number in range(20)]

    def declare(name: str) -> None:
        with connection(folder) as broker:
            broker.SimpleQueue(name).put({})

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(declare, names))

    with connection(folder) as broker:
        channel: Any = broker.default_channel
        assert [channel._size(name) for name in names] == [1] * len(names)


def test_a_message_arrives_though_the_bindings_are_gone(folder: Path) -> None:
    with connection(folder) as broker:
        queue = broker.SimpleQueue("live")
        for file in (folder / "control").iterdir():
            file.unlink()

        queue.put({"number": 1})

        channel: Any = broker.default_channel
        assert channel._size("live") == 1
