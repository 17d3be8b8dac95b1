"""A real receiver that speaks HTTP, or TLS, as badly as it is told."""

from __future__ import annotations

import socket
import ssl
import struct
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

Fault = Callable[[socket.socket, threading.Event], None]
OK = b"HTTP/1.1 200 OK\r\n"


def _trickle(sent: bytes) -> Fault:
    def fault(client: socket.socket, over: threading.Event) -> None:
        client.sendall(sent)
        while not over.wait(0.05):
            client.sendall(b"x")

    return fault


def _send(sent: bytes) -> Fault:
    def fault(client: socket.socket, _over: threading.Event) -> None:
        client.sendall(sent)
        client.shutdown(socket.SHUT_WR)
        while client.recv(65536):  # closed with something unread, it would be a reset
            pass

    return fault


def _reset(client: socket.socket, _over: threading.Event) -> None:
    client.sendall(OK + b"Content-Length: 100\r\n\r\nhalf of")
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def _endless_1xx(client: socket.socket, over: threading.Event) -> None:
    while not over.wait(0.01):
        client.sendall(b"HTTP/1.1 102 Processing\r\n\r\n")


def _large(client: socket.socket, over: threading.Event) -> None:
    client.sendall(OK + b"Transfer-Encoding: chunked\r\n\r\n")
    while not over.is_set():
        client.sendall(b"4000\r\n" + b"x" * 0x4000 + b"\r\n")


def _silent(_client: socket.socket, over: threading.Event) -> None:
    over.wait(60)


FAULTS: Mapping[str, Fault] = {
    "headers that trickle": _trickle(OK + b"X-Slow: "),
    "a body that trickles": _trickle(OK + b"Content-Length: 9999\r\n\r\n"),
    "endless 1xx": _endless_1xx,
    "nothing": _silent,
    "a reset in the middle": _reset,
    "half an answer": _send(OK + b"Content-Length: 100\r\n\r\nhalf of"),
    "garbage": _send(b"\x00\x16\x03 220 mail.example.com ESMTP\r\n\r\n"),
    "endless headers": _send(OK + b"X-Long: " + b"x" * 300_000),
    "no status": _send(b"HTTP/1.1 abc OK\r\n\r\n"),
    "a large answer": _large,
}


@contextmanager
def faulty(fault: Fault, tls: ssl.SSLContext | None = None) -> Iterator[int]:
    """The port of a server at which every request ends so."""
    over = threading.Event()
    server = socket.create_server(("127.0.0.1", 0))

    def answer(client: socket.socket) -> None:
        with suppress(OSError), client:
            client.settimeout(60)
            served = tls.wrap_socket(client, server_side=True) if tls else client
            with served:
                if fault is not _silent:
                    served.recv(65536)
                fault(served, over)

    def accept() -> None:
        with suppress(OSError):
            while True:
                client, _ = server.accept()
                threading.Thread(target=answer, args=(client,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield server.getsockname()[1]
    finally:
        over.set()
        server.close()


def self_signed(folder: Path) -> ssl.SSLContext:
    """Of a certificate that nobody trusts."""
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj",
         "/CN=localhost", "-keyout", str(key), "-out", str(certificate)],
        check=True, capture_output=True,
    )  # fmt: skip
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    return context
