from __future__ import annotations

import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import psutil
import psycopg
import pytest

from loomverify.embedded import start_server, stop_server
from tests.ground.installation import READY, WORKERS, Installation
from tests.stack import is_free, wait_for

pytestmark = pytest.mark.extended

FIRST = re.compile(
    r"LoomVerify is at http://localhost:\d+ \([0-9.]+ s\)\n"
    r"Sign in as   admin / \S{12,}\n"
    r"API key      lv_[A-Za-z0-9_-]{43}\n"
    r"Ctrl-C stops everything\.\n"
)
LATER = re.compile(
    r"LoomVerify is at http://localhost:\d+ \([0-9.]+ s\)\nCtrl-C stops everything\.\n"
)


def test_the_first_start_says_where_it_is_and_how_to_get_in(
    first_start: tuple[Installation, str],
) -> None:
    installation, said = first_start

    assert FIRST.fullmatch(said)
    assert (installation.data / "api-key").read_text().strip() in said
    assert (installation.data / "api-key").stat().st_mode & 0o777 == 0o600


def test_a_later_start_says_where_it_is_alone(stopped: Installation) -> None:
    stopped.start()
    wait_for(stopped.answers, "the first page")
    wait_for(lambda: READY in stopped.output, "the last line")
    wait_for(lambda: len(stopped.workers()) == WORKERS, "the workers")
    stopped.press()
    stopped.wait()

    assert LATER.match(stopped.output)
    assert LATER.sub("", stopped.output) == "Stopping …\n"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_asked_to_stop_it_leaves_no_process_behind(
    running: Installation, number: signal.Signals
) -> None:
    running.press(number)
    code = running.wait()

    assert code == 0
    assert running.processes() == []
    assert running.output.endswith("Stopping …\n")


def test_pressed_again_it_does_not_wait_for_anything(running: Installation) -> None:
    running.press()
    running.press()
    code = running.wait()

    assert code == 0
    wait_for(lambda: not running.processes(), "the end of what was killed")


@pytest.mark.parametrize("sign", ["lock", "postgres/postmaster.pid", "web"])
def test_pressed_during_the_start_it_leaves_no_process_behind(
    stopped: Installation, sign: str
) -> None:
    (stopped.data / "lock").unlink()
    stopped.start()
    wait_for((stopped.data / "lock").exists, "a start that listens")
    wait_for(lambda: (stopped.data / sign).exists() or stopped.child(sign), sign)

    stopped.press()
    code = stopped.wait()

    assert code == 0
    assert stopped.processes() == []
    assert stopped.output == "Stopping …\n"


def test_a_first_start_cut_short_is_completed_by_the_next(tmp_path: Path) -> None:
    installation = Installation(tmp_path / "data")
    installation.start()
    wait_for(lambda: any(installation.data.glob("postgres.new-*/PG_VERSION")), "initdb")
    installation.kill_everything()

    try:
        installation.start_and_wait()
        said = installation.output
    finally:
        installation.kill_everything()

    assert FIRST.fullmatch(said)


def test_a_second_instance_on_the_same_folder_is_refused(running: Installation) -> None:
    second = Installation(running.data.parent / "." / running.data.name)
    before = running.output

    with (running.data.parent / "second").open("wb+") as terminal:
        code = subprocess.call(
            [sys.executable, "-m", "loomverify.cli", "run"],
            env=second.variables,
            stdout=terminal,
            stderr=subprocess.STDOUT,
        )
        terminal.seek(0)
        said = terminal.read().decode()

    assert code == 3
    assert said == f"loomverify: Another LoomVerify is running on the data folder {second.data}.\n"
    assert running.answers()
    assert running.output == before


def test_a_killed_supervisor_takes_its_children_along_and_postgresql_is_adopted(
    running: Installation,
) -> None:
    wait_for(lambda: len(running.workers()) == WORKERS, "the workers")
    before = running.postmaster

    running.supervisor.kill()
    running.wait()
    wait_for(lambda: not any(map(is_python, running.processes())), "the end of its children")
    wait_for(lambda: is_free(running.port), "the end of the web server's socket")
    running.start_and_wait()

    assert running.postmaster == before


def test_a_start_after_everything_was_killed_works(running: Installation) -> None:
    running.kill_everything()

    running.start_and_wait()

    assert LATER.match(running.output)
    assert running.answers()


def test_whatever_is_killed_is_started_again(running: Installation) -> None:
    queues = ("live", "bulk", "sandbox")
    commands = ["web", *(f"worker --queues={one}" for one in queues), "relay", "scheduler"]
    wait_for(lambda: len(running.workers()) == WORKERS, "the workers")
    before = {command: running.child(command) for command in commands}
    assert None not in before.values()

    for process in before.values():
        assert process is not None
        process.kill()

    for command in commands:
        wait_for(lambda c=command: running.child(c) not in (None, before[c]), command)
    wait_for(running.answers, "the web server")
    wait_for(lambda: len(running.workers()) == WORKERS, "the workers, and none of the old")
    assert "web ended (SIGKILL); starting again in 0.5 s\n" in running.output


def test_a_killed_postgresql_is_started_again(running: Installation) -> None:
    before = running.postmaster

    psutil.Process(before).kill()

    wait_for(lambda: running.postmaster not in (0, before), "another PostgreSQL")
    wait_for(lambda: is_healthy(running), "the database")
    assert "PostgreSQL ended; starting it again\n" in running.output


def test_a_port_in_use_is_refused(stopped: Installation) -> None:
    with socket.create_server(("127.0.0.1", stopped.port)):
        stopped.start()
        code = stopped.wait()

    assert code == 3
    assert stopped.output == (
        f"loomverify: Port {stopped.port} cannot be used (Address already in use); "
        "set PORT to another.\n"
    )
    assert stopped.processes() == []


def test_a_database_of_a_newer_version_is_refused(stopped: Installation) -> None:
    with psycopg.connect(start_server(stopped.data / "postgres")) as connection:
        connection.execute(
            "insert into django_migrations (app, name, applied) values ('runs', '9999_later', now())"
        )

    stopped.start()
    code = stopped.wait()

    with psycopg.connect(start_server(stopped.data / "postgres")) as connection:
        connection.execute("delete from django_migrations where name = '9999_later'")
    stop_server(stopped.data / "postgres")
    assert code == 3
    assert stopped.output == (
        "loomverify: The database was written by another LoomVerify (runs.9999_later is unknown "
        "here): use the newer version, or another data folder.\n"
    )


def is_python(process: psutil.Process) -> bool:
    try:
        return bool(process.name().startswith("python"))
    except psutil.NoSuchProcess:
        return False


def is_healthy(installation: Installation) -> bool:
    try:
        with psycopg.connect(start_server(installation.data / "postgres")) as connection:
            return connection.execute("select count(*) from runs_heartbeat").fetchone() is not None
    except psycopg.Error:
        return False
