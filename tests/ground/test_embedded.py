from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from loomverify.embedded import server_is_running, start_server, stop_server
from loomverify.variables import ConfigurationError
from tests.stack import wait_for

USER = """
import sys
from loomverify.embedded import ensure_database
from loomverify.env import environment
ensure_database(environment())
print("up", flush=True)
sys.stdin.read()
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Where everything is odd: long beyond a socket's name, with spaces, quotes, other letters."""
    base = tmp_path_factory.mktemp("odd") / "an é, a 'quote', a \"double\", a $HOME" / ("long" * 20)
    folder = base / "postgres"
    start_server(folder)
    stop_server(folder)
    yield folder
    stop_server(folder)


def answer(url: str) -> object:
    with psycopg.connect(url) as connection:
        return connection.execute("select upper('é'), current_database()").fetchone()


@pytest.mark.extended
def test_any_path_will_do(folder: Path) -> None:
    url = start_server(folder)

    assert answer(url) == ("É", "loomverify")
    assert start_server(folder) == url


def test_nobody_else_reaches_the_socket(folder: Path) -> None:
    start_server(folder)
    lines = (folder / "postmaster.pid").read_text().splitlines()
    sockets = Path(lines[4].strip())

    assert sockets.stat().st_mode & 0o077 == 0
    assert (sockets / ".s.PGSQL.5432").stat().st_mode & 0o777 == 0o700
    assert sockets.stat().st_uid == folder.stat().st_uid


def test_a_stopped_server_leaves_no_folder_for_its_socket(folder: Path) -> None:
    start_server(folder)
    sockets = Path((folder / "postmaster.pid").read_text().splitlines()[4].strip())
    existed = sockets.exists()

    stop_server(folder)

    assert sockets != folder
    assert (existed, sockets.exists()) == (True, False)


@pytest.mark.extended
def test_a_stale_file_that_names_another_process_is_not_believed(folder: Path) -> None:
    start_server(folder)
    stale = (folder / "postmaster.pid").read_text().splitlines()
    stop_server(folder)
    (folder / "postmaster.pid").write_text("\n".join([str(os.getppid()), *stale[1:]]) + "\n")

    stop_server(folder)  # must not touch that process
    running = server_is_running(folder)
    url = start_server(folder)

    assert not running
    assert answer(url) == ("É", "loomverify")


@pytest.mark.extended
def test_variables_of_another_postgresql_do_not_matter(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop_server(folder)
    for name, value in {"PGPORT": "6000", "PGDATA": "/nowhere", "PGUSER": "eve"}.items():
        monkeypatch.setenv(name, value)

    url = start_server(folder)

    assert answer(url) == ("É", "loomverify")


@pytest.mark.extended
def test_settings_that_postgresql_refuses_are_said_in_its_words(folder: Path) -> None:
    stop_server(folder)

    with pytest.raises(ConfigurationError, match=r"PostgreSQL did not start: .*FATAL"):
        start_server(folder, extra_settings="max_connections = none\n")


def test_a_folder_that_holds_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "postgres").mkdir()
    (tmp_path / "postgres" / "letter.txt").write_text("Dear …")

    with pytest.raises(ConfigurationError, match="is not empty and holds no database"):
        start_server(tmp_path / "postgres")

    assert (tmp_path / "postgres" / "letter.txt").exists()


@pytest.mark.extended
def test_the_last_process_that_used_the_server_stops_it(folder: Path) -> None:
    stop_server(folder)
    first, second = user(folder), user(folder)

    first.communicate()
    between = server_is_running(folder)
    second.communicate()

    assert between
    wait_for(lambda: not server_is_running(folder), "the end of the server")


def user(folder: Path) -> subprocess.Popen[bytes]:
    process = subprocess.Popen(
        [sys.executable, "-c", USER],
        env={"PATH": os.environ["PATH"], "LOOMVERIFY_DATA": str(folder.parent)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"up\n"
    return process
