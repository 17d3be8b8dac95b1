"""A real HTTP server of repositories, by git's own program for it, with faults on demand."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

MODES = ("fine", "hangs", "garbage", "half", "endless", "moved", "fails", "html")


class Handler(BaseHTTPRequestHandler):
    root: ClassVar[Path]
    authorization: ClassVar[str] = ""
    mode: ClassVar[str] = "fine"
    stop: ClassVar[threading.Event]
    heard: ClassVar[list[str]]

    def do_GET(self) -> None:
        self._answer(b"")

    def do_POST(self) -> None:
        if self.headers.get("Transfer-Encoding") == "chunked":
            body = b""
            while size := int(self.rfile.readline(), 16):
                body += self.rfile.read(size)
                self.rfile.readline()
        else:
            body = self.rfile.read(int(self.headers["Content-Length"]))
        self._answer(body)

    def log_message(self, *_: object) -> None:
        """Tests read what was heard."""

    def _answer(self, body: bytes) -> None:
        self.heard.append(self.headers.get("Authorization", ""))
        asks_for_pack = self.command == "POST" and b"command=fetch" in body
        if self.authorization and self.headers.get("Authorization") != self.authorization:
            self._plain(401, b"")
        elif self.mode == "hangs":
            self.stop.wait()
        elif self.mode == "moved":
            self.send_response(302)
            self.send_header("Location", f"http://localhost:{self.server.server_port}/x{self.path}")  # type: ignore[attr-defined]
            self.end_headers()
        elif self.mode == "fails":
            self._plain(500, b"")
        elif self.mode == "html":
            self._plain(200, b"<html>Sign in</html>")
        elif self.mode in ("garbage", "endless") and asks_for_pack:
            self._pack(endless=self.mode == "endless")
        else:
            head, _, content = self._backend(body).partition(b"\r\n\r\n")
            self._relay(head, content[: len(content) // 2] if self._is_cut() else content)

    def _is_cut(self) -> bool:
        return self.mode == "half" and self.command == "POST"

    def _plain(self, status: int, content: bytes) -> None:
        self.send_response(status)
        if status == 401:
            self.send_header("WWW-Authenticate", 'Basic realm="git"')
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _pack(self, *, endless: bool) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/x-git-upload-pack-result")
        self.end_headers()
        with contextlib.suppress(OSError):
            self.wfile.write(b"000dpackfile\n")
            # One blob that says it has 2 GB, stored uncompressed.
            head = b"PACK\0\0\0\2\0\0\0\1" + bytes([0xB0, 0x80, 0x80, 0x80, 0x40]) + b"\x78\x01"
            block = b"\x00\xff\xff\x00\x00" + b"x" * 65_535
            content = head + block if endless else b"PACK" + b"\xff" * 300
            while not self.stop.is_set():
                for at in range(0, len(content), 65_000):
                    part = content[at : at + 65_000]
                    self.wfile.write(b"%04x\x01" % (len(part) + 5) + part)
                if not endless:
                    self.wfile.write(b"0000")
                    return
                content = block

    def _backend(self, body: bytes) -> bytes:
        path, _, query = self.path.partition("?")
        environment = {
            "PATH": os.environ["PATH"],
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": "http.receivepack",
            "GIT_CONFIG_VALUE_0": "true",
            "GIT_PROJECT_ROOT": str(self.root),
            "GIT_HTTP_EXPORT_ALL": "1",
            "REQUEST_METHOD": self.command,
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
        }
        ended = subprocess.run(
            ["git", "http-backend"], env=environment, input=body, capture_output=True, check=False
        )
        return ended.stdout

    def _relay(self, head: bytes, content: bytes) -> None:
        lines = [line.split(": ", 1) for line in head.decode().split("\r\n") if line]
        status = next((value for name, value in lines if name == "Status"), "200 OK")
        self.send_response(int(status.split()[0]))
        for name, value in lines:
            if name != "Status":
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


@contextlib.contextmanager
def served(
    root: Path, *, mode: str = "fine", authorization: str = ""
) -> Iterator[tuple[str, type[Handler]]]:
    """Serve the repositories in a folder; yield the address."""
    assert mode in MODES
    members = {
        "root": root,
        "mode": mode,
        "authorization": authorization,
        "stop": threading.Event(),
        "heard": [],
    }
    handler: type[Handler] = type("Serving", (Handler,), members)
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", handler
    finally:
        handler.stop.set()
        server.shutdown()
        thread.join()
        server.server_close()


def closed_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
