"""The folder and the PostgreSQL server of one test run.

The process that starts a run owns both. Its xdist workers find them in the environment. All
temporary files of the run are below the folder, and the end of the run removes it.

`KEEP=1` keeps the folder and the server: the next run with `KEEP=1` uses the same server and
starts faster.
"""

from __future__ import annotations

import atexit
import fcntl
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import psutil

from loomverify.embedded import start_server, stop_server

FOLDER = "LOOMVERIFY_TESTS_FOLDER"
PREFIX = "loomverify-tests-"
LOCK = "owner.lock"
FAST = """
fsync = off
synchronous_commit = off
full_page_writes = off
wal_level = minimal
max_wal_senders = 0
max_connections = 400
"""


@dataclass(frozen=True, slots=True)
class Session:
    """`home` holds the server. `folder` holds the temporary files of this run."""

    home: Path
    folder: Path

    @property
    def server(self) -> Path:
        return self.home / "postgres"


def join_session() -> Session:
    """Return the run of this process. The first process of a run creates it."""
    if FOLDER in os.environ:
        folder = Path(os.environ[FOLDER])
        return Session(folder if folder.name.startswith(PREFIX) else folder.parent, folder)
    session, lock = _create_session()
    os.environ[FOLDER] = str(session.folder)
    os.environ["TMPDIR"] = str(session.folder)
    tempfile.tempdir = None  # tempfile reads TMPDIR once
    atexit.register(_end_session, session, lock, os.getpid())
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # as Ctrl-C: end, and clean up
    return session


def start_database(session: Session) -> None:
    """Set DATABASE_URL, and a LOOMVERIFY_DATA for this process alone.

    Processes that share a data folder would receive each other's broker messages.
    """
    os.environ["LOOMVERIFY_DATA"] = tempfile.mkdtemp(prefix="data-")
    Path(os.environ["LOOMVERIFY_DATA"], "static").mkdir()
    os.environ.setdefault("LOOMVERIFY_SECRET_KEY", "only-for-tests")
    if not os.environ.get("DATABASE_URL"):
        os.environ["DATABASE_URL"] = start_server(session.server, extra_settings=FAST)


@contextmanager
def locked(name: str) -> Iterator[Path]:
    """Enter as the only process of the run. Yields the folder that all of them share."""
    session = join_session()
    with (session.home / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield session.home


def keeps() -> bool:
    return os.environ.get("KEEP", "") not in ("", "0")


def _create_session() -> tuple[Session, IO[str]]:
    parent = Path(tempfile.gettempdir())
    if keeps():
        home = parent / f"loomverify-kept-{os.getuid()}"
        home.mkdir(mode=0o711, exist_ok=True)
        folder, lock = _create_folder(home, "run-")
        return Session(home, folder), lock
    folder, lock = _create_folder(parent, PREFIX)
    return Session(folder, folder), lock


def _create_folder(parent: Path, prefix: str) -> tuple[Path, IO[str]]:
    """Remove what killed runs left behind, and make a locked folder for this one."""
    handle = os.open(parent, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)  # nobody looks at the folder before it is locked
        remove_abandoned(parent, prefix)
        folder = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
        folder.chmod(0o711)  # PostgreSQL does not run as root
        lock = (folder / LOCK).open("w")
        fcntl.flock(lock, fcntl.LOCK_EX)
    finally:
        os.close(handle)
    return folder, lock


def remove_abandoned(parent: Path, prefix: str) -> None:
    """Remove the folders that nobody holds the lock of."""
    for folder in parent.glob(f"{prefix}*"):
        with suppress(OSError), (folder / LOCK).open("r+") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _remove(folder)


def _end_session(session: Session, lock: IO[str], owner: int) -> None:
    """Stop and remove everything. Forked children end here too and change nothing."""
    if os.getpid() != owner:
        return
    with lock:
        if keeps():
            sys.stderr.write(f"Kept: {session.folder}, and the server in {session.server}\n")
            return
        _remove(session.folder)


def _remove(folder: Path) -> None:
    _kill_processes(folder)
    for data in _servers(folder):
        stop_server(data)
    subprocess.run(["rm", "-rf", str(folder)], check=False)  # a fifth of what shutil.rmtree takes


def _kill_processes(folder: Path) -> None:
    """Kill what still uses a data folder below `folder`, except PostgreSQL, which is stopped."""
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            variables = process.environ()
            data = variables.get("LOOMVERIFY_DATA") or variables.get(FOLDER, "")
            if Path(data).is_relative_to(folder) and process.pid != os.getpid():
                process.send_signal(signal.SIGKILL)


def _servers(folder: Path) -> set[Path]:
    """Return the data folders below `folder` that a PostgreSQL server runs in."""
    folders: set[Path] = set()
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.name().startswith("postgres"):
                folders.add(Path(process.cwd()))
    return {data for data in folders if data.is_relative_to(folder)}
