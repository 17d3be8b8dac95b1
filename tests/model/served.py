"""A small language model behind real HTTP, OpenAI-compatible, in a process of its own."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from tests.stack import free_port, wait_for

START_SECONDS = 120
CONTEXT_TOKENS = 8192
SERVING = Path(__file__).with_name("serving.py")


@dataclass(frozen=True)
class Served:
    port: int
    process: subprocess.Popen[bytes]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def is_alive(self) -> bool:
        return self.process.poll() is None


@contextmanager
def served(python: Path, folder: Path) -> Iterator[Served]:
    """Serve the model that a package carries, with the interpreter that has both."""
    port = free_port()
    command = [str(python), str(SERVING), str(port), str(CONTEXT_TOKENS)]
    with (folder / "server.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)
        model = Served(port, process)
        try:
            wait_for(lambda: _answers(model, folder), "the model's server", seconds=START_SECONDS)
            yield model
        finally:
            process.terminate()
            process.wait(timeout=20)


def _answers(model: Served, folder: Path) -> bool:
    assert model.is_alive, (folder / "server.log").read_text()
    try:
        return httpx.get(f"{model.url}/models", timeout=5, trust_env=False).status_code == 200
    except httpx.TransportError:
        return False
