"""A model behind real HTTP, OpenAI-compatible: its answers, latency and faults on command."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from itertools import pairwise
from typing import Any

from tests.serving import serving
from verification.adapters import judge


@dataclass(frozen=True)
class Said:
    """One answer. `raw` replaces the whole body, `hang_up` the whole answer."""

    text: str = ""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    raw: bytes | None = None
    hang_up: bool = False
    finish_reason: str = "stop"
    prompt_tokens: int = 100
    completion_tokens: int = 20


Script = Said | str | Callable[[dict[str, Any]], Said | str]


@dataclass
class ModelServer:
    """`script` answers by turn, the last entry again and again; `asked` keeps each request."""

    script: list[Script] = field(default_factory=lambda: [Said('{"passed": true}')])
    asked: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    asked_at: list[float] = field(default_factory=list)
    port: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)
    at_once: int = 0
    most_at_once: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def prompts(self) -> list[str]:
        """What was asked, system and user text together."""
        return ["\n".join(str(one["content"]) for one in asked["messages"]) for asked in self.asked]

    def seconds_between_asked(self) -> list[float]:
        return [later - at for at, later in pairwise(self.asked_at)]

    def answer(self, request: dict[str, Any], key: str) -> Said:
        """What to say, when it is time to say it.

        From then on it counts no longer as under way: who hears it may ask again before we are
        done with saying it.
        """
        with self.lock:
            self.asked.append(request)
            self.keys.append(key)
            self.asked_at.append(time.monotonic())
            entry = self.script.pop(0) if len(self.script) > 1 else self.script[0]
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            answered = entry(request) if callable(entry) else entry
            said = Said(answered) if isinstance(answered, str) else answered
            time.sleep(said.seconds)
        finally:
            with self.lock:
                self.at_once -= 1
        return said


def together(number: int, script: Script) -> Script:
    """An answer that comes when so many have asked at once, and else never."""
    asked = threading.Barrier(number, timeout=120)

    def answer(request: dict[str, Any]) -> Said | str:
        asked.wait()
        return script(request) if callable(script) else script

    return answer


@contextmanager
def model_server(*script: Script) -> Iterator[ModelServer]:
    model = ModelServer(list(script)) if script else ModelServer()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            said = model.answer(json.loads(body), self.headers.get("Authorization", ""))
            with suppress(BrokenPipeError, ConnectionResetError):  # the caller's patience was over
                self.say(said, json.loads(body).get("model", ""))

        def say(self, said: Said, name: str) -> None:
            if said.hang_up:
                self.close_connection = True
                return
            content = said.raw if said.raw is not None else _completion(said, name)
            self.send_response(said.status)
            self.send_header("Content-Type", "application/json")
            for header, value in said.headers.items():
                self.send_header(header, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_args: object) -> None:
            pass

    with serving(Handler) as model.port:
        _forget_refusals(model.port)
        yield model


def _forget_refusals(port: int) -> None:
    """Of a server that had the port before: this process remembers them by the address."""
    own = f"http://127.0.0.1:{port}"
    refused = [one for one in judge._refused if one[1] in (own, f"{own}/v1")]
    judge._refused.difference_update(refused)


def _completion(said: Said, name: str) -> bytes:
    if said.status != 200:
        return json.dumps(
            {"error": {"message": said.text or "fault", "code": said.status}}
        ).encode()
    return json.dumps(
        {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1_700_000_000,
            "model": name,
            "choices": [
                {
                    "index": 0,
                    "finish_reason": said.finish_reason,
                    "message": {"role": "assistant", "content": said.text},
                }
            ],
            "usage": {
                "prompt_tokens": said.prompt_tokens,
                "completion_tokens": said.completion_tokens,
                "total_tokens": said.prompt_tokens + said.completion_tokens,
            },
        }
    ).encode()
