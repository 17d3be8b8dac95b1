"""Where a repository is, and as whom it is written to."""

from __future__ import annotations

import base64
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from verification.adapters.git.errors import GitLost, LocationRefused
from verification.adapters.git.folders import folders_of

MAX_LOCATION_CHARS: Final = 2_000
MAX_IDENTITY_CHARS: Final = 500
DEFAULT_USER: Final = "x-access-token"
"""What code hosts take as the user of a token; a user in the address goes before it."""

_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_BLANK: Final = re.compile(r"\s")
_URL: Final = re.compile(r"(?P<scheme>file|https?|ssh)://(?P<rest>.+)", re.DOTALL)
_HOST: Final = re.compile(r"(?:[A-Za-z0-9_][A-Za-z0-9_.-]*|\[[0-9A-Fa-f:.]+\])")
_USER: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+~%-]*")
_SCP: Final = re.compile(rf"(?:{_USER.pattern}@)?(?P<host>{_HOST.pattern}):(?!//)[^:-][^:]*")
_LOOPBACK: Final = ("localhost", "127.0.0.1", "::1")
_PORTS: Final = {"https": 443, "http": 80, "ssh": 22}

LOCAL_PROGRAM: Final[Mapping[str, str]] = {
    "safe.directory": "*",
    "core.hooksPath": "/dev/null",
    "core.fsmonitor": "false",
    "core.alternateRefsCommand": ":",
    "gc.auto": "0",
    "receive.autogc": "false",
    "receive.updateServerInfo": "false",
    "receive.denyDeleteCurrent": "refuse",
}
"""What git's other end is told where it runs here, as us: nothing of that repository is executed."""


@dataclass(frozen=True, slots=True)
class Remote:
    """A repository by an absolute path, or a URL of file, https, http or ssh; also `host:path`.

    `folder` is the git directory of a local one, and `addresses` are those of a server, as far as
    they were looked up and found to be allowed: git then goes there and nowhere else. `key` is the
    file of the SSH key that it is reached by, and `known_hosts` that of the servers that it may be.
    Without a key ssh takes those of the worker's user.

    Raises:
        LocationRefused: anything else, and a password within it.
    """

    location: str
    token: str = field(default="", repr=False)
    folder: Path | None = None
    addresses: tuple[str, ...] = ()
    key: Path | None = field(default=None, repr=False)
    known_hosts: Path | None = None

    def __post_init__(self) -> None:
        if not 0 < len(self.location) <= MAX_LOCATION_CHARS or _CONTROL.search(self.location):
            raise LocationRefused("A location is a path or a URL, in one line.")
        if _CONTROL.search(self.token) or _BLANK.search(self.token):
            raise LocationRefused("A token has no blanks and no line breaks.")
        if self.location.startswith("/"):
            return
        if _BLANK.search(self.location):
            raise LocationRefused("A URL has no blanks.")
        if _SCP.fullmatch(self.location):
            return
        parsed = _URL.fullmatch(self.location)
        if not parsed:
            raise LocationRefused("A location is an absolute path, or a URL of https, ssh or file.")
        if parsed["scheme"] == "file":
            if not parsed["rest"].startswith("/"):
                raise LocationRefused("A file's URL names no host.")
            return
        self._check_host()

    @property
    def protocol(self) -> str:
        parsed = _URL.fullmatch(self.location)
        if parsed:
            return parsed["scheme"]
        return "file" if self.location.startswith("/") else "ssh"

    @property
    def is_local(self) -> bool:
        return self.protocol == "file"

    @property
    def server(self) -> tuple[str, int]:
        """Return the name, or address, of the server and its port; of a local one ('', 0)."""
        short = _SCP.fullmatch(self.location)
        if short:
            return short["host"].lower().strip("[]"), _PORTS["ssh"]
        parts = urlsplit(self.location)
        return parts.hostname or "", parts.port or _PORTS.get(parts.scheme, 0)

    @property
    def pinned(self) -> tuple[str, ...]:
        """Where a name leads that was looked up once: it may lead elsewhere a moment later."""
        return () if _is_address(self.server[0]) else self.addresses

    def address(self) -> str:
        """Return what git is given to go to: of a local repository its very directory.

        Raises:
            GitLost: `unreachable`.
        """
        if not self.is_local:
            return self.location
        try:
            return f"{self.folder or folders_of(self.location)[0]}/."
        except LocationRefused as error:
            raise GitLost("unreachable", str(error)) from None

    def settings(self) -> dict[str, str]:
        """What git is told of this remote, for its environment and never its command line."""
        if self.protocol not in ("http", "https"):
            return {}
        told = self._resolved()
        if self.token:
            told[f"http.{self.location}.extraHeader"] = f"Authorization: Basic {self._basic()}"
        return told

    def secrets(self) -> dict[str, str]:
        """What git must not be heard to say, and what stands there instead."""
        told = dict.fromkeys((self.token, self._basic()), "[token]") if self.token else {}
        return {**told, str(self.key): "[key]"} if self.key is not None else told

    def other_end(self, program: str, settings: Mapping[str, str] = {}) -> Sequence[str]:
        """Say how git's other end is started where that is here; elsewhere it is not ours to say.

        `program` is `upload-pack` or `receive-pack`.
        """
        if not self.is_local:
            return ()
        told = [
            word
            for name, value in {**LOCAL_PROGRAM, **settings}.items()
            for word in ("-c", f"{name}={value}")
        ]
        # Neither goes on to `<folder>.git`; `receive-pack` does not by how it is addressed.
        exact = ("--strict",) if program == "upload-pack" else ()
        return (f"--{program}={shlex.join(['git', *told, program, *exact])}",)

    def _resolved(self) -> dict[str, str]:
        if not self.pinned:
            return {}
        host, port = self.server
        there = ",".join(f"[{one}]" if ":" in one else one for one in self.pinned)
        return {"http.curloptResolve": f"{host}:{port}:{there}"}

    def _check_host(self) -> None:
        try:
            parts = urlsplit(self.location)
            _ = parts.port
        except ValueError:
            raise LocationRefused("The URL cannot be read.") from None
        if parts.password is not None:
            raise LocationRefused("A password does not belong in a URL; give a token.")
        if parts.username is not None and not _USER.fullmatch(parts.username):
            raise LocationRefused("The URL's user cannot be read.")
        host = parts.netloc.rpartition("@")[2]
        if not _HOST.fullmatch(re.sub(r":\d+$", "", host)):
            raise LocationRefused("The URL names no host.")
        if (parts.hostname or "").endswith("."):
            raise LocationRefused("A host's name ends without a dot.")
        if parts.query or parts.fragment:
            raise LocationRefused("The URL of a repository ends with its path.")
        if self.token and self.protocol == "http" and parts.hostname not in _LOOPBACK:
            raise LocationRefused("A token travels over https alone.")

    def _basic(self) -> str:
        user = urlsplit(self.location).username if "://" in self.location else None
        return base64.b64encode(f"{user or DEFAULT_USER}:{self.token}".encode()).decode()


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


@dataclass(frozen=True, slots=True)
class Identity:
    """Who a commit says that it is by."""

    name: str
    email: str

    def __post_init__(self) -> None:
        for text in (self.name, self.email):
            # git takes some of these away by itself; of nothing but them, nothing is left.
            bare = text.strip(" .,:;\"'\\")
            if not bare or len(text) > MAX_IDENTITY_CHARS or re.search(r"[<>\x00-\x1f\x7f]", text):
                raise ValueError(f"{text[:80]!r} cannot stand in a commit")
