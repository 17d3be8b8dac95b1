"""What a test run leaves behind: nothing, unless KEEP asks for it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from loomverify.embedded import stop_server
from tests.stack import wait_for

ROOT = Path(__file__).parents[2]
NOTHING_LEFT: list[str] = []
ONE_TEST = "tests/verifiers/test_kept.py"
WAITS = """
import pathlib, sys
from tests.session import join_session, start_database
start_database(join_session())
pathlib.Path(sys.argv[1]).touch()
sys.stdin.read()
"""


@pytest.fixture
def temporary(tmp_path: Path) -> Path:
    """A folder for the temporary files of other runs, as short as the path of a socket must be."""
    folder = tmp_path / "t"
    folder.mkdir()
    for parent in (folder, *folder.parents[:-1]):
        if parent.stat().st_uid == os.getuid():
            parent.chmod(parent.stat().st_mode | 0o011)
    return folder


def variables(temporary: Path, **more: str) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    return {**kept, "TMPDIR": str(temporary), **more}


@contextmanager
def running(temporary: Path, name: str) -> Iterator[subprocess.Popen[bytes]]:
    """A run that has a server and goes on until its standard input is closed."""
    started = temporary.with_name(name)
    command = [sys.executable, "-c", WAITS, str(started)]
    with subprocess.Popen(
        command, cwd=ROOT, env=variables(temporary), stdin=subprocess.PIPE
    ) as process:
        wait_for(lambda: started.exists() or process.poll() is not None, "the start of the run")
        assert process.poll() is None
        yield process


def servers(temporary: Path) -> list[psutil.Process]:
    """PostgreSQL servers whose data is below the folder."""
    return [
        process
        for process in psutil.process_iter(["name", "cwd"])
        if process.info["name"] == "postgres"
        and Path(process.info["cwd"] or "/").is_relative_to(temporary)
    ]


@pytest.mark.extended
def test_a_run_leaves_no_file_and_no_process(temporary: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "tests", "-q", ONE_TEST],
        cwd=ROOT,
        env=variables(temporary),
        capture_output=True,
    )

    assert ended.returncode == 0, ended.stdout.decode()
    assert [path.name for path in temporary.iterdir()] == NOTHING_LEFT
    assert servers(temporary) == []


def test_a_terminated_run_leaves_no_file_and_no_process(temporary: Path) -> None:
    with running(temporary, "terminated") as process:
        process.terminate()

        assert process.wait(60) != 0

    assert [path.name for path in temporary.iterdir()] == NOTHING_LEFT
    assert servers(temporary) == []


def test_the_next_run_removes_what_a_killed_run_left(temporary: Path) -> None:
    with running(temporary, "killed") as process:
        [abandoned] = temporary.iterdir()
        process.kill()
    assert servers(temporary), "the server goes on without its owner"

    with running(temporary, "next"):
        [folder] = temporary.iterdir()

    assert folder != abandoned
    assert servers(temporary) == []


def test_two_runs_side_by_side_have_a_server_each(temporary: Path) -> None:
    with running(temporary, "first"), running(temporary, "second"):
        masters = [folder / "postgres" / "postmaster.pid" for folder in temporary.iterdir()]
        pids = {path.read_text().split()[0] for path in masters}

    assert (len(masters), len(pids)) == (2, 2)
    assert servers(temporary) == []


@pytest.mark.extended
def test_keep_leaves_the_server_for_the_next_run(temporary: Path) -> None:
    command = [sys.executable, "-m", "tests", "-q", ONE_TEST]
    pids = []
    try:
        for _ in range(2):
            ended = subprocess.run(
                command, cwd=ROOT, env=variables(temporary, KEEP="1"), capture_output=True
            )
            assert ended.returncode == 0, ended.stdout.decode()
            [home] = temporary.iterdir()
            assert f"Kept: {home}" in ended.stderr.decode()
            pids.append((home / "postgres" / "postmaster.pid").read_text().split()[0])
    finally:
        stop_server(home / "postgres")

    assert pids[0] == pids[1]
