"""What installs is part of the install, wherever it is named: nothing else has the network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from tests.tables import check_rows
from verification.engine.gating.components import Component, Language
from verification.engine.gating.given import Named
from verification.engine.gating.preparing import prepared
from verification.engine.gating.recipes import Files, part_of
from verification.engine.gating.stages import Part, Start

PROJECT = (
    b'[project]\nname = "w"\ndependencies = ["six"]\n[build-system]\nrequires = ["setuptools"]\n'
)
PYTHON = {"requirements.txt": b"six\n", "pyproject.toml": PROJECT, "other.txt": b"", "a.py": b""}
FILES = Files(list(PYTHON), PYTHON.get)
NODE = {"package.json": b'{"dependencies": {"ms": "1"}, "scripts": {"test": "node --test"}}'}


def part(language: Language, files: Mapping[str, bytes]) -> Part:
    component = Component("", language)
    return part_of(component, Files(list(files), files.get), [component])


def tried(
    commands: Sequence[str],
    language: Language = Language.PYTHON,
    files: Mapping[str, bytes] = PYTHON,
) -> tuple[list[str], str]:
    """What is left to try the work by, and what is installed behind what the table installs."""
    before = part(language, files)
    after, named = prepared(before, Named({"test": commands}), Files(list(files), files.get))
    first, more = before.install.command, after.install.command
    assert more == first or more.startswith(f"{first} || exit\n")
    return list(named.commands["test"]), more.removeprefix(first).removeprefix(" || exit\n")


@check_rows(
    "installing",
    [
        "pip install -r requirements.txt",
        "pip install --upgrade pip",
        "python -m pip install -q -e .",
        'pip3 install -e ".[dev,test]" > /dev/null 2>&1',
        "python3.12 -m pip install pytest || true",
        "python -m venv .venv",
        "source .venv/bin/activate",
        ". venv/bin/activate",
        "uv sync --frozen",
        "uv pip install -r ./requirements.txt",
        "poetry install --no-interaction --with dev",
        "pipenv install --dev",
    ],
)
def test_what_the_table_installs_is_left_out_of_what_tries_the_work(installing: str) -> None:
    assert tried([installing, "pytest -x"]) == (["pytest -x"], "")
    assert tried([f"{installing} && pytest -x"]) == (["pytest -x"], "")
    assert tried([f"{installing}; {installing} && pytest -x"]) == (["pytest -x"], "")


@pytest.mark.parametrize(
    ("installing", "more"),
    [
        ("pip install six httpx 2>/dev/null", "pip install six httpx"),
        ("pip install -r other.txt", "pip install -r other.txt"),
        ("pip install -e .[postgres]", "pip install -e .[postgres]"),
        ("python -m pip install 'pytest-cov>=4'", "pip install 'pytest-cov>=4'"),
        ("uv pip install pytest -c other.txt", "pip install pytest -c other.txt"),
    ],
)
def test_what_it_does_not_is_installed_behind_it(installing: str, more: str) -> None:
    assert tried([f"{installing} && pytest"]) == (["pytest"], more)


EXTRAS = {
    "pyproject.toml": b"""[project]
name = "W.w"
[project.optional-dependencies]
dev = ["black"]
pg = ["psycopg>=3", "w-w[net]"]
net = ["httpx; python_version > '3.8'", "W_W[pg]"]
all = ["w.w[pg, dev]"]
"""
}
PG, NET, BLACK = "'psycopg>=3'", """'httpx; python_version > '"'"'3.8'"'"''""", "black"


@pytest.mark.parametrize(
    ("installing", "more"),
    [
        ("uv sync --extra pg --extra dev", [PG, NET]),
        ("uv sync --all-extras", [BLACK, PG, NET]),
        ("poetry install -E net --no-root", [NET, PG]),
        ('poetry install --extras "pg dev"', [PG, NET]),
        ("uv sync --extra=all", [PG, BLACK, NET]),
        ("uv sync --extra dev", []),
        ("uv sync --extra other", []),
        ("uv sync --no-dev", []),
    ],
)
def test_extras_that_a_manager_is_told_of_are_installed(installing: str, more: list[str]) -> None:
    _, told = tried([installing, "pytest"], files=EXTRAS)

    assert told == (f"pip install {' '.join(more)}" if more else "")


@pytest.mark.parametrize(
    ("language", "installing"),
    [
        (Language.NODE, "npm ci"),
        (Language.NODE, "npm install --no-audit"),
        (Language.NODE, "yarn install --frozen-lockfile"),
        (Language.NODE, "yarn"),
        (Language.NODE, "pnpm i"),
        (Language.GO, "go mod download"),
        (Language.RUST, "cargo fetch --locked"),
        (Language.RUBY, "bundle install --jobs=4"),
        (Language.PHP, "composer install --no-interaction"),
        (Language.DOTNET, "dotnet restore"),
    ],
)
def test_so_it_is_in_every_language(language: Language, installing: str) -> None:
    assert tried([installing, f"{installing} && it --tries"], language, NODE) == (
        ["it --tries"],
        "",
    )


@pytest.mark.parametrize(
    "command",
    [
        "npm install left-pad",
        "npm install -g jest && jest",
        "yarn test",
        "yarn jest",
        "npm ci | tee log",
    ],
)
def test_what_may_do_more_than_install_stays(command: str) -> None:
    assert tried([command], Language.NODE, NODE) == ([command], "")


@pytest.mark.parametrize("command", ["pip list", "pip install $(cat it)", "bundle exec rspec"])
def test_so_it_does_in_python(command: str) -> None:
    assert tried([command]) == ([command], "")


def test_names_of_packages_hang_on_no_file_of_the_work() -> None:
    before = part(Language.PYTHON, PYTHON)
    names, _ = prepared(before, Named({"test": ["pip install httpx pytest-cov==4"]}), FILES)
    files, _ = prepared(before, Named({"test": ["pip install -r other.txt"]}), FILES)

    assert names.install.inputs == before.install.inputs
    assert set(files.install.inputs) == set(PYTHON)


def test_an_install_that_fails_is_not_gone_past() -> None:
    """Of commands that are joined by && a shell that stops at errors runs on behind them."""
    after, _ = prepared(
        part(Language.PYTHON, PYTHON), Named({"test": ["pip install httpx"]}), FILES
    )

    *first, last = after.install.command.splitlines()
    assert first[-1].endswith(" || exit")
    assert last == "pip install httpx"


def test_a_plans_own_install_is_followed_by_what_its_tests_install() -> None:
    named = Named(
        {"install": ["pip install -r other.txt"], "test": ["pip install httpx", "pytest"]}
    )

    after, found = prepared(part(Language.PYTHON, PYTHON), named, FILES)

    assert found.commands == {
        "install": ("pip install -r other.txt", "pip install httpx"),
        "test": ("pytest",),
    }
    assert after.install == part(Language.PYTHON, PYTHON).install


@pytest.mark.parametrize(
    "commands",
    [
        ["uv sync"],
        ["pip install poetry", "poetry install"],
        ["python -m venv .venv && source .venv/bin/activate && pip install -r requirements.txt"],
        ["uv venv", ". .venv/bin/activate", "uv pip install -e '.[dev]'"],
    ],
)
def test_a_manager_that_the_image_has_not_is_stood_in_for_by_the_table(commands: list[str]) -> None:
    before = part(Language.PYTHON, PYTHON)

    after, found = prepared(before, Named({"install": commands}), FILES)

    assert after == before
    assert not found.commands.get("install")


def test_what_else_its_install_does_is_done_behind_that() -> None:
    named = Named({"install": ["uv sync", "python make_schema.py"]})

    after, _ = prepared(part(Language.PYTHON, PYTHON), named, FILES)

    assert after.install.command.endswith(" || exit\npython make_schema.py")
    assert set(after.install.inputs) == set(PYTHON)


def test_a_start_needs_no_install_either() -> None:
    starts = (Start("pip install -r requirements.txt && uv run main.py", output="1\n"),)

    _, found = prepared(part(Language.PYTHON, PYTHON), Named(starts=starts), FILES)

    assert found.starts == (Start("python main.py", output="1\n"),)


def test_what_only_a_start_needs_is_installed_too() -> None:
    starts = (Start("pip install httpx && python main.py"),)

    after, found = prepared(part(Language.PYTHON, PYTHON), Named(starts=starts), FILES)

    assert found.starts == (Start("python main.py"),)
    assert after.install.command.endswith("\npip install httpx")


def test_a_list_that_only_installs_leaves_the_tests_to_the_table() -> None:
    _, found = prepared(
        part(Language.NODE, NODE), Named({"test": ["npm ci"]}), Files(list(NODE), NODE.get)
    )

    assert found.gates == frozenset()
