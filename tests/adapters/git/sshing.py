"""A real sshd on loopback, which lets each key do one thing: what deploy keys of code hosts are."""

from __future__ import annotations

import contextlib
import getpass
import os
import shlex
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

START_SECONDS = 20.0
# Which repository a key opens stands in its line of authorized_keys, and in nothing it asks for.
GATE = """\
#!/bin/sh
case $SSH_ORIGINAL_COMMAND in
  "git-upload-pack '$1'") exec git upload-pack --strict "$1" ;;
  "git-receive-pack '$1'") exec git receive-pack "$1" ;;
esac
echo "This key opens another repository." >&2
exit 1
"""


@dataclass(frozen=True, slots=True)
class Sshd:
    port: int
    known_hosts: Path
    log: Path

    def location(self, repository: Path, host: str = "127.0.0.1") -> str:
        return f"ssh://{getpass.getuser()}@{host}:{self.port}{repository}"

    def accepted(self) -> list[str]:
        """The fingerprints of keys that signed in, in their order."""
        lines = self.log.read_text().splitlines()
        return [line.split()[-1] for line in lines if "Accepted publickey" in line]


def sshd() -> str | None:
    return shutil.which("sshd", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")


def new_key(file: Path) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    made = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "a key", "-f", str(file)]
    subprocess.run(made, check=True)
    return file


def public_of(key: Path) -> str:
    return Path(f"{key}.pub").read_text().strip()


def fingerprint_of(key: Path) -> str:
    told = subprocess.run(
        ["ssh-keygen", "-lf", f"{key}.pub"], check=True, capture_output=True, text=True
    )
    return told.stdout.split()[1]


@contextlib.contextmanager
def ssh_served(home: Path, opens: Mapping[Path, Path]) -> Iterator[Sshd]:
    """Serve repositories over ssh: each key (a file) opens the one repository beside it."""
    home.mkdir()
    host_key, port = new_key(home / "host"), _free_port()
    gate = home / "gate"
    gate.write_text(GATE)
    gate.chmod(0o755)
    lines = [
        f'command="{gate} {shlex.quote(str(repository))}",restrict {public_of(key)}\n'
        for key, repository in opens.items()
    ]
    (home / "authorized").write_text("".join(lines))
    served = Sshd(port, home / "known hosts", home / "log")
    served.known_hosts.write_text(f"[127.0.0.1]:{port} {public_of(host_key)}\n")
    process = subprocess.Popen(_command(home, host_key, port))
    try:
        assert _is_open(port, process), (home / "log").read_text()
        yield served
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=START_SECONDS)


def _command(home: Path, host_key: Path, port: int) -> list[str]:
    if os.geteuid() == 0:  # the folder that a start of the service makes
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
    told = {
        "ListenAddress": "127.0.0.1", "Port": port, "HostKey": host_key, "UsePAM": "no",
        "AuthorizedKeysFile": home / "authorized", "StrictModes": "no", "PidFile": "none",
        "AuthenticationMethods": "publickey", "PermitRootLogin": "prohibit-password",
        "LogLevel": "VERBOSE", "AcceptEnv": "GIT_PROTOCOL", "MaxStartups": "100",
    }  # fmt: skip
    words = [word for name in sorted(told) for word in ("-o", f"{name}={told[name]}")]
    program = sshd()
    assert program
    return [program, "-D", "-f", "/dev/null", "-E", str(home / "log"), *words]


def _is_open(port: int, process: subprocess.Popen[bytes]) -> bool:
    deadline = time.monotonic() + START_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return True
        time.sleep(0.02)
    return False


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
