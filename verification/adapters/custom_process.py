"""One child process for one call of a custom verifier: started, waited for, and ended with all it started."""

from __future__ import annotations

import contextlib
import os
import pickle
import select
import shutil
import signal
import site
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

import psutil

from verification.adapters.custom_wire import (
    LENGTH,
    MAX_ANSWER_BYTES,
    MAX_DETAIL_CHARS,
    Given,
    both_ends,
)
from verification.engine.evidence import Workspace

PREFIX: Final = "loomverify-verifier-"
STALE_SECONDS: Final = 3600.0
OWN_VARIABLES: Final = "VERIFIER_"
"""Variables that begin so are the verifiers' own; of all others they see but a few."""
_KEPT_VARIABLES: Final = ("LANG", "LC_ALL", "TZ", "SYSTEMROOT")
_ROOT: Final = Path(__file__).resolve().parents[2]
_LOOK_SECONDS: Final = 0.1
_CHUNK_BYTES: Final = 1 << 16


@dataclass(frozen=True, slots=True)
class Ended:
    """`answer` is None where the child gave none; then `why` says what became of it."""

    answer: bytes | None
    why: str = ""
    printed: str = ""


@contextlib.contextmanager
def scratch_folder() -> Iterator[Path]:
    """A folder for one call, gone after it. What a killed worker left behind goes first."""
    _sweep()
    folder = Path(tempfile.mkdtemp(prefix=PREFIX))
    try:
        yield folder
    finally:
        _remove(folder)


def lay_out(workspace: Workspace, paths: tuple[str, ...], folder: Path) -> None:
    """Write the submitted files into a folder, to be read only.

    Raises:
        OSError: there is no place for them.
        ValueError: a path leads out of the folder.
    """
    folder.mkdir()
    for path in paths:
        parts = PurePosixPath(path)
        if parts.is_absolute() or ".." in parts.parts or "\0" in path:
            raise ValueError(f"{path!r} leads out of the workspace")
        target = folder / parts
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(workspace.read(path))
        target.chmod(0o444)
    for inner in (*(one for one in folder.rglob("*") if one.is_dir()), folder):
        inner.chmod(0o555)


def run_child(given: Given, scratch: Path, *, seconds: float) -> Ended:
    """Have a verifier called, and wait so long for it. Nothing that it started is left."""
    (scratch / "own").mkdir()
    (scratch / "given").write_bytes(pickle.dumps(given))
    answers, answer_fd = os.pipe()
    os.set_blocking(answers, False)
    try:
        child = _start(given, scratch, answer_fd, seconds)
    except BaseException:
        os.close(answers)
        raise
    finally:
        os.close(answer_fd)
    try:
        ended = _wait(child, answers, seconds)
    finally:
        _end(child)
        os.close(answers)
    return Ended(*ended, printed=_printed(scratch / "printed"))


def environment(scratch: Path, variables: Mapping[str, str]) -> dict[str, str]:
    """What a verifier sees of the worker's variables: no secret of ours among them.

    Relative folders of search paths are those of the worker: its child's hold what was submitted.
    """
    kept = {
        name: value
        for name, value in variables.items()
        if name in _KEPT_VARIABLES or name.startswith(OWN_VARIABLES)
    }
    own = str(scratch / "own")
    return kept | {
        "PATH": _absolute(variables.get("PATH", os.defpath)),
        "PYTHONPATH": _absolute(f"{_ROOT}{os.pathsep}{variables.get('PYTHONPATH', '')}"),
        "PYTHONUSERBASE": site.getuserbase(),
        "PYTHONSAFEPATH": "1",
        "PYTHONUNBUFFERED": "1",
        "PYTHONUTF8": "1",
        "HOME": own,
        "TMPDIR": own,
    }


def _start(given: Given, scratch: Path, answer_fd: int, seconds: float) -> subprocess.Popen[bytes]:
    module = "verification.adapters.custom_child"
    numbers = [str(os.getpid()), str(answer_fd), str(max(1, round(seconds)))]
    with (scratch / "given").open("rb") as stdin, (scratch / "printed").open("wb") as printed:
        return subprocess.Popen(  # noqa: S603 - our own module, no shell
            [sys.executable, "-P", "-m", module, *numbers],
            stdin=stdin,
            stdout=printed,
            stderr=subprocess.STDOUT,
            cwd=given.folder,
            env=environment(scratch, os.environ),
            start_new_session=True,
            pass_fds=(answer_fd,),
        )


def _wait(child: subprocess.Popen[bytes], answers: int, seconds: float) -> tuple[bytes | None, str]:
    """Return the answer, or None and why there is none."""
    deadline = time.monotonic() + seconds
    content = bytearray()
    while True:
        has_ended = child.poll() is not None
        is_closed = _drain(answers, content)
        if len(content) >= LENGTH.size:
            [size] = LENGTH.unpack_from(content)
            if size > MAX_ANSWER_BYTES:
                return None, "gave too long an answer"
            if len(content) >= LENGTH.size + size:
                return bytes(content[LENGTH.size : LENGTH.size + size]), ""
        if has_ended:
            return None, _how(child.returncode)
        left = deadline - time.monotonic()
        if left <= 0:
            return None, f"took longer than {seconds:g} seconds"
        if is_closed:
            time.sleep(min(left, _LOOK_SECONDS))
        else:
            poll = select.poll()
            poll.register(answers, select.POLLIN)
            poll.poll(min(left, _LOOK_SECONDS) * 1000)


def _drain(answers: int, content: bytearray) -> bool:
    """Read what is there, up to the longest answer; True: nothing more will come."""
    with contextlib.suppress(BlockingIOError):
        while len(content) <= LENGTH.size + MAX_ANSWER_BYTES:
            chunk = os.read(answers, _CHUNK_BYTES)
            if not chunk:
                return True
            content += chunk
    return False


def _end(child: subprocess.Popen[bytes]) -> None:
    """Kill the child, its group, and what left the group while the child lived."""
    with contextlib.suppress(psutil.Error):
        started = psutil.Process(child.pid).children(recursive=True)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, signal.SIGKILL)
        for one in started:
            with contextlib.suppress(psutil.Error):
                one.kill()
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()


def _how(code: int) -> str:
    if code >= 0:
        return f"ended without an answer (exit code {code})"
    known = {
        signal.SIGKILL: "was killed, perhaps for its memory",
        signal.SIGXCPU: "took more CPU time than it may",
    }
    return known.get(signal.Signals(-code), f"crashed ({signal.Signals(-code).name})")


def _printed(path: Path) -> str:
    """The beginning and the end of what was printed."""
    with path.open("rb") as file:
        head = file.read(2 * MAX_DETAIL_CHARS)
        size = os.fstat(file.fileno()).st_size
        file.seek(max(len(head), size - 2 * MAX_DETAIL_CHARS))
        tail = file.read(2 * MAX_DETAIL_CHARS)
    return both_ends((head + tail).decode(errors="replace"))


def _absolute(search_path: str) -> str:
    parts = search_path.split(os.pathsep)
    return os.pathsep.join(str(Path(part).absolute()) for part in parts if part)


def _sweep() -> None:
    oldest = time.time() - STALE_SECONDS
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError):
            found = folder.lstat()
            is_ours = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()
            if is_ours and found.st_mtime < oldest:
                _remove(folder)


def _remove(folder: Path) -> None:
    """Remove it whole: what may only be read is made removable first."""
    for inner, _, _ in os.walk(folder):
        with contextlib.suppress(OSError):
            Path(inner).chmod(0o700)
    shutil.rmtree(folder, ignore_errors=True)
