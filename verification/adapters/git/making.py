"""The bare repository of ours: made, kept to one writer at a time, thrown away when it is spoilt."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from verification.adapters.git.calling import Git
from verification.adapters.git.errors import GitLost

MAX_MIRROR_BYTES: Final = 4 * 1024**3
MAX_MIRROR_FILES: Final = 50_000
STALE_SECONDS: Final = 3_600.0
_TRY_SECONDS: Final = 0.02


def made(git: Git) -> None:
    """See to it that the repository is there, whole."""
    if (git.repository / "HEAD").exists() and git.scratch.is_dir():
        return
    with locked(git):
        _make(git)


def thrown_away(git: Git) -> None:
    """Begin anew; the caller holds the lock, or would lose nothing by another's doing the same."""
    with scratch(git) as folder, contextlib.suppress(FileNotFoundError):
        git.repository.rename(folder / "spoilt.git")


@contextlib.contextmanager
def locked(git: Git) -> Iterator[None]:
    """Be the only one who fetches. The lock goes with its process, also a killed one.

    Raises:
        GitLost: `locked`, when others take too long.
    """
    try:
        git.home.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(git.home / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise GitLost("disk", f"the mirror's folder: {error.strerror}") from None
    try:
        _wait(descriptor, time.monotonic() + git.seconds)
        _clear(git)
        yield
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def scratch(git: Git) -> Iterator[Path]:
    """A folder beside the repository, on the same disk, gone afterwards."""
    try:
        git.scratch.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(dir=git.scratch))
    except OSError as error:
        raise GitLost("disk", f"the mirror's folder: {error.strerror}") from None
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def is_too_large(folder: Path) -> bool:
    """Whether more was put there than is kept: each change leaves its objects, and none goes."""
    total = count = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                total += (Path(place) / name).lstat().st_size
                count += 1
    return total > MAX_MIRROR_BYTES or count > MAX_MIRROR_FILES


def _make(git: Git) -> None:
    """Whole or not at all: what a killed process left half made has another name."""
    if (git.repository / "HEAD").exists():
        git.scratch.mkdir(exist_ok=True)
        return
    with scratch(git) as folder:
        new = folder / "new.git"
        git.run(
            "init", "--bare", "--quiet", "--template=", "--object-format=sha1", "--initial-branch=unborn",
            variables={"GIT_DIR": str(new)},
        )  # fmt: skip
        shutil.rmtree(git.repository, ignore_errors=True)
        new.rename(git.repository)


def _wait(descriptor: int, deadline: float) -> None:
    while True:
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        if time.monotonic() > deadline:
            raise GitLost("locked", "others use this mirror")
        time.sleep(_TRY_SECONDS)


def _clear(git: Git) -> None:
    """Remove what killed processes left: git's locks at once, half packs and folders when old.

    A git whose starter was killed may still run. It then fails, or writes what is named by its
    hash, or sets a ref of the mirror to where the remote's was a moment ago: all without harm.
    """
    for place, folders, names in os.walk(git.repository):
        folders[:] = [name for name in folders if name != "objects"]
        for name in names:
            if name.endswith(".lock"):
                (Path(place) / name).unlink(missing_ok=True)
    old = time.time() - STALE_SECONDS
    packs = git.repository / "objects" / "pack"
    for left in (
        *packs.glob("tmp_*"),
        *(git.repository / "objects").glob("tmp_*"),
        *git.scratch.glob("*"),
    ):
        with contextlib.suppress(OSError):
            if left.lstat().st_mtime < old:
                shutil.rmtree(left) if left.is_dir() else left.unlink()
