"""A real HTTP receiver that behaves as badly as it is told."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler

from tests.serving import serving


@dataclass
class Received:
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Receiver:
    """`behaviour`: a status, or `close` (hang up) or `silent` (never answer), by turn.

    The last one stays.
    """

    behaviour: list[int | str] = field(default_factory=lambda: [200])
    received: list[Received] = field(default_factory=list)
    let_go: threading.Event = field(default_factory=threading.Event)
    port: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook"

    def next_behaviour(self) -> int | str:
        return self.behaviour.pop(0) if len(self.behaviour) > 1 else self.behaviour[0]


@contextmanager
def running_receiver() -> Iterator[Receiver]:
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            size = int(self.headers["Content-Length"])
            body = self.rfile.read(size)
            if len(body) < size:  # whoever sent it died on the way: nothing was received
                self.close_connection = True
                return
            receiver.received.append(Received(self.path, dict(self.headers), body))
            behaviour = receiver.next_behaviour()
            if behaviour == "silent":
                receiver.let_go.wait(300)
            if isinstance(behaviour, str):
                self.close_connection = True
                return
            self.send_response(behaviour)
            if 300 <= behaviour < 400:
                self.send_header("Location", "/elsewhere")
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"ok")

        def do_GET(self) -> None:
            receiver.received.append(Received(self.path, dict(self.headers), b""))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_args: object) -> None:
            pass

    with serving(Handler) as receiver.port:
        try:
            yield receiver
        finally:
            receiver.let_go.set()
