"""A real mail server that takes mails, or behaves as badly as it is told."""

from __future__ import annotations

import socketserver
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage


@dataclass
class MailServer:
    """`refuses`: answers every mail with 451, try again later. `on_mail` is called with each."""

    port: int = 0
    refuses: bool = False
    on_mail: Callable[[], object] | None = None
    mails: list[EmailMessage] = field(default_factory=list)


@contextmanager
def running_mail_server() -> Iterator[MailServer]:
    kept = MailServer()

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            self.say("220 here")
            while line := self.rfile.readline():
                if not self.answered(line.decode("ascii").strip().upper()):
                    return

        def answered(self, command: str) -> bool:
            """Answer one command; False: the talk is over."""
            if command == "DATA":
                self.say("354 go on")
                kept.mails.append(self.read_mail())
                if kept.on_mail:
                    kept.on_mail()
            self.say("451 not now" if kept.refuses and command.startswith("MAIL") else "250 fine")
            return command != "QUIT"

        def read_mail(self) -> EmailMessage:
            lines: list[bytes] = []
            while (line := self.rfile.readline()) not in (b".\r\n", b""):
                lines.append(line[1:] if line.startswith(b".") else line)
            return message_from_bytes(b"".join(lines), policy=policy.default)

        def say(self, words: str) -> None:
            self.wfile.write(f"{words}\r\n".encode())

    server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    kept.port = server.server_address[1]
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield kept
    finally:
        server.shutdown()
        server.server_close()
