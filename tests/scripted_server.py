"""A real HTTP server that answers by script and keeps what it was sent."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.serving import serving

HANG_UP = "hang up"


@dataclass
class Request:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def parts(self) -> dict[str, bytes]:
        """The parts of a multipart body by name."""
        head = f"Content-Type: {self.headers['Content-Type']}\r\n\r\n".encode()
        found: dict[str, bytes] = {}
        for part in message_from_bytes(head + self.body).get_payload():
            name = part.get_param("name", header="content-disposition")  # type: ignore[union-attr]
            found[str(name)] = part.get_payload(decode=True)  # type: ignore[union-attr, assignment]
        return found


@dataclass
class ScriptedServer:
    """`answers` are given by turn, the last one stays: `(status, document)` or `HANG_UP`."""

    answers: list[tuple[int, Any] | str] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)
    port: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def next_answer(self) -> tuple[int, Any] | str:
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


@contextmanager
def scripted_server() -> Iterator[ScriptedServer]:
    script = ScriptedServer()

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            script.requests.append(Request(self.command, self.path, dict(self.headers), body))
            answer = script.next_answer()
            if isinstance(answer, str):
                self.close_connection = True
                return
            status, document = answer
            content = document if isinstance(document, bytes) else json.dumps(document).encode()
            self.send_response(status)
            for name, value in script.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = answer

        def log_message(self, *_args: object) -> None:
            pass

    with serving(Handler) as script.port:
        yield script
