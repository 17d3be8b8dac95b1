"""Who runs the embedded PostgreSQL, which refuses root; what is open to them, and theirs alone."""

from __future__ import annotations

import hashlib
import os
import pwd
import shutil
import subprocess
from contextlib import suppress
from pathlib import Path

from loomverify.variables import ConfigurationError

SERVER_USER = "pgserver"
SOCKET_PORT = 5432
SOCKET = f".s.PGSQL.{SOCKET_PORT}"
SOCKET_PATH_BYTES = 103  # of macOS; Linux takes four more


def account_of(folder: Path) -> pwd.struct_passwd | None:
    """PostgreSQL refuses root: the folder's owner runs it, or an account made for it."""
    if os.geteuid() != 0:
        return None
    owner = folder.stat().st_uid
    if owner != 0:
        with suppress(KeyError):
            return pwd.getpwuid(owner)
    with suppress(KeyError):
        return pwd.getpwnam(SERVER_USER)
    if useradd := shutil.which("useradd"):
        command = [useradd, "--system", "--no-create-home", SERVER_USER]
        subprocess.run(command, check=False, capture_output=True)  # noqa: S603 - fixed
        with suppress(KeyError):
            return pwd.getpwnam(SERVER_USER)
    return pwd.getpwnam("nobody")


def open_the_way(path: Path, account: pwd.struct_passwd) -> None:
    """Let the account pass through the folders above, without letting it list them."""
    for folder in path.parents:
        status = folder.stat()
        if status.st_uid != account.pw_uid and not status.st_mode & 0o001:
            folder.chmod(status.st_mode & 0o7777 | 0o011)


def make_readable(root: Path) -> None:
    """Undo a narrow umask at installation."""
    if not root.exists() or root.stat().st_mode & 0o005 == 0o005:
        return
    for path in (*root.rglob("*"), root):  # the root last: it tells that all is done
        if not path.is_symlink():
            mode = path.stat().st_mode & 0o7777
            path.chmod(mode | 0o044 | (0o011 if mode & 0o100 else 0))


def socket_folder(folder: Path, account: pwd.struct_passwd | None) -> Path:
    """The folder itself, unless its path is longer than a socket's may be."""
    if len(os.fsencode(folder / SOCKET)) <= SOCKET_PATH_BYTES:
        return folder
    owner = account.pw_uid if account else os.geteuid()
    short = _short_folder(folder, owner)
    with suppress(FileExistsError):
        short.mkdir(mode=0o700)
        if account is not None:
            os.chown(short, account.pw_uid, account.pw_gid)
    if short.is_symlink() or short.stat().st_uid != owner:
        raise ConfigurationError(
            f"{short} belongs to somebody else; use a shorter LOOMVERIFY_DATA."
        )
    short.chmod(0o700)
    return short


def remove_socket_folder(folder: Path) -> None:
    """Remove the folder that `socket_folder` made for a server that no longer runs."""
    with suppress(OSError):
        _short_folder(folder, folder.stat().st_uid).rmdir()


def _short_folder(folder: Path, owner: int) -> Path:
    digest = hashlib.sha256(os.fsencode(folder)).hexdigest()[:16]
    return Path(f"/tmp/loomverify-{owner}-{digest}")  # noqa: S108 - its owner is checked
