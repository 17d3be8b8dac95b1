"""The `git` program, called with bounds: in its own environment, for so long, with so much to say.

Nothing that it is told comes from files of a user or a system, and nothing in a repository can
make it start a program: see `environment`. It takes git 2.38 or newer (`merge-tree --write-tree`).
"""

from __future__ import annotations

import contextlib
import math
import os
import re
import selectors
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from verification.adapters.git import ssh
from verification.adapters.git.errors import GitLost
from verification.adapters.git.faults import own_words, reason_of
from verification.adapters.git.remote import Remote
from verification.adapters.limits import MAX_MEMORY_BYTES

CALL_SECONDS: Final = 120.0
MAX_OUTPUT_BYTES: Final = 16 * 1024**2
MAX_ERROR_BYTES: Final = 16 * 1024
MAX_FILE_BYTES: Final = 1024**3
"""No pack, and no other file, grows longer than this."""
MAX_DETAIL_CHARS: Final = 500
SLOW_BYTES_PER_SECOND: Final = 1_000
SLOW_SECONDS: Final = 30

_CHUNK_BYTES: Final = 1 << 16
_END_SECONDS: Final = 5.0
_LOOK_SECONDS: Final = 0.000_5
_KEPT_VARIABLES: Final = (
    "PATH", "SYSTEMROOT", "SSH_AUTH_SOCK", "SSL_CERT_FILE", "SSL_CERT_DIR",
    "http_proxy", "https_proxy", "no_proxy", "HTTPS_PROXY", "NO_PROXY",
)  # fmt: skip
_LIMITED: Final = """
ulimit -c 0 2>/dev/null; ulimit -f "$1" 2>/dev/null
ulimit -v "$2" 2>/dev/null; ulimit -t "$3" 2>/dev/null
shift 3; exec git "$@"
"""
"""Our own words, with numbers and arguments beside them: a shell sets limits at a tenth of the
price of a Python child, and without code between fork and exec."""

SETTINGS: Final[Mapping[str, str]] = {
    "safe.directory": "*",
    "core.hooksPath": "/dev/null",
    "core.attributesFile": "/dev/null",
    "core.excludesFile": "/dev/null",
    "core.fsmonitor": "false",
    "core.protectHFS": "true",
    "core.protectNTFS": "true",
    "core.quotePath": "false",
    "core.askPass": "",
    "core.bigFileThreshold": "32m",
    "core.packedGitWindowSize": "16m",
    "core.packedGitLimit": "256m",
    "credential.helper": "",
    "diff.renameLimit": "400",
    "merge.renameLimit": "400",
    "merge.directoryRenames": "false",
    "fetch.unpackLimit": "1",
    "fetch.recurseSubmodules": "false",
    "fetch.writeCommitGraph": "false",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "http.followRedirects": "false",
    "http.lowSpeedLimit": str(SLOW_BYTES_PER_SECOND),
    "http.lowSpeedTime": str(SLOW_SECONDS),
    "i18n.commitEncoding": "UTF-8",
    "pack.threads": "1",
    "push.gpgSign": "false",
    "submodule.recurse": "false",
    "protocol.allow": "never",
    "protocol.ext.allow": "never",
}


class TooMuch(GitLost):
    """It had more to say than anyone reads."""


@dataclass(frozen=True, slots=True)
class Ended:
    code: int
    out: bytes
    said: str
    """What it wrote to its errors, without secrets."""

    @property
    def line(self) -> str:
        return self.out.decode(errors="replace").strip()


@dataclass(frozen=True, slots=True)
class Git:
    """How to call git: in which bare repository of ours, for which remote, how long.

    `home` holds the lock, the repository and what is written on the way.
    """

    home: Path
    remote: Remote
    seconds: float = CALL_SECONDS

    @property
    def repository(self) -> Path:
        return self.home / "repository.git"

    @property
    def scratch(self) -> Path:
        return self.home / "scratch"

    def run(
        self,
        *arguments: str,
        given: bytes = b"",
        codes: Sequence[int] = (0,),
        most: int = MAX_OUTPUT_BYTES,
        settings: Mapping[str, str] = {},
        variables: Mapping[str, str] = {},
    ) -> Ended:
        """Call git and wait for it. Exit codes other than `codes` raise.

        Raises:
            GitLost: it could not do its work.
            TooMuch: more than `most` bytes came.
        """
        limits = (MAX_FILE_BYTES // 512, MAX_MEMORY_BYTES // 1024, math.ceil(self.seconds) + 1)
        command = ["/bin/sh", "-c", _LIMITED, "git", *map(str, limits), *arguments]
        try:
            process = subprocess.Popen(  # noqa: S603 - a fixed text, all else are its arguments
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                cwd=self.home,
                env=environment(self, settings) | dict(variables),
                start_new_session=True,
            )
        except OSError as error:
            raise GitLost("failed", f"git was not started: {error.strerror}") from None
        try:
            exchange = _Exchange(process, given, most)
            exchange.carry(time.monotonic() + self.seconds)
        finally:
            _end(process)
        ended = Ended(process.returncode, bytes(exchange.out), self._told(bytes(exchange.err)))
        if ended.code not in codes:
            raise lost(ended)
        return ended

    def _told(self, said: bytes) -> str:
        text = said.decode(errors="replace")
        for secret, instead in self.remote.secrets().items():
            text = text.replace(secret, instead)
        return text


def environment(git: Git, settings: Mapping[str, str]) -> dict[str, str]:
    """What git sees: none of the worker's secrets, no file of a user's or a system's settings."""
    kept = {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ}
    if git.remote.key is not None:
        kept.pop("SSH_AUTH_SOCK", None)
    told = {**SETTINGS, **git.remote.settings(), **settings}
    own = {
        "LC_ALL": "C",
        "HOME": str(git.scratch),
        "XDG_CONFIG_HOME": str(git.scratch),
        "TMPDIR": str(git.scratch),
        "GIT_DIR": str(git.repository),
        "GIT_ALLOW_PROTOCOL": git.remote.protocol,
        "GIT_ASKPASS": "/bin/false",
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_COUNT": str(len(told)),
        "GIT_LITERAL_PATHSPECS": "1",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_SSH_COMMAND": ssh.command(git.remote),
        "GIT_TERMINAL_PROMPT": "0",
        # A push writes a line to the log of the ref that it moves: it names us.
        "GIT_COMMITTER_NAME": "LoomVerify",
        "GIT_COMMITTER_EMAIL": "loomverify@localhost",
    }
    for number, (name, value) in enumerate(told.items()):
        own |= {f"GIT_CONFIG_KEY_{number}": name, f"GIT_CONFIG_VALUE_{number}": value}
    return kept | own | ssh.variables(git.remote)


class _Exchange:
    """Both directions at once, so that neither side waits for the other."""

    def __init__(self, process: subprocess.Popen[bytes], given: bytes, most: int) -> None:
        self.out, self.err = bytearray(), bytearray()
        self._most = most
        self._left = memoryview(given)
        self._waiting = selectors.DefaultSelector()
        assert process.stdin  # noqa: S101 - pipes were asked for
        assert process.stdout  # noqa: S101
        assert process.stderr  # noqa: S101
        self._register(process.stdout, selectors.EVENT_READ, self.out)
        self._register(process.stderr, selectors.EVENT_READ, self.err)
        if given:
            self._register(process.stdin, selectors.EVENT_WRITE, None)
        else:
            process.stdin.close()

    def carry(self, deadline: float) -> None:
        with self._waiting:
            while self._waiting.get_map():
                left = deadline - time.monotonic()
                ready = self._waiting.select(left) if left > 0 else []
                if not ready:
                    raise GitLost("timed_out", "git took too long")
                for key, _ in ready:
                    self._step(key.fileobj, key.data)  # type: ignore[arg-type]  # only pipes are

    def _register(self, pipe: IO[bytes], event: int, into: bytearray | None) -> None:
        os.set_blocking(pipe.fileno(), False)
        self._waiting.register(pipe, event, into)

    def _step(self, pipe: IO[bytes], into: bytearray | None) -> None:
        if into is None:
            with contextlib.suppress(BrokenPipeError):
                self._left = self._left[os.write(pipe.fileno(), self._left[:_CHUNK_BYTES]) :]
                if self._left:
                    return
            self._close(pipe)
        elif chunk := os.read(pipe.fileno(), _CHUNK_BYTES):
            into += chunk
            if into is self.err:
                del into[MAX_ERROR_BYTES:]
            elif len(into) > self._most:
                raise TooMuch("too_large", f"git said more than {self._most} bytes")
        else:
            self._close(pipe)

    def _close(self, pipe: IO[bytes]) -> None:
        self._waiting.unregister(pipe)
        pipe.close()


def _end(process: subprocess.Popen[bytes]) -> None:
    """Nothing of what it started is left either: helpers outlive a git that was killed.

    It is reaped last: until then its number, and that of its group, is no one else's.
    """
    has_said_all = all(pipe.closed for pipe in (process.stdout, process.stderr) if pipe)
    deadline = time.monotonic() + (_END_SECONDS if has_said_all else 0)
    while not _has_ended(process.pid) and time.monotonic() < deadline:
        time.sleep(_LOOK_SECONDS)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe:
            with contextlib.suppress(OSError):
                pipe.close()
    process.wait()


def _has_ended(pid: int) -> bool:
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def lost(ended: Ended) -> GitLost:
    """Say why git could not work, by what it said."""
    return GitLost(reason_of(ended.code, ended.said), _short(ended.said))


def lost_on_submitted(ended: Ended, *, words: bool = True) -> GitLost:
    """The same of a git that read what a submitter wrote, whose words it repeats.

    Without `words` nothing that it said counts. It never says that the mirror is spoilt: that
    would be a way to have it thrown away.
    """
    reason = reason_of(ended.code, own_words(ended.said) if words else "")
    return GitLost("failed" if reason == "mirror_broken" else reason, _short(ended.said))


def _short(said: str) -> str:
    clean = re.sub(r"[\x00-\x1f\x7f-\x9f]+", " ", said).strip()
    return clean[:MAX_DETAIL_CHARS]
