from __future__ import annotations

from collections.abc import Mapping

import pytest

from verification.engine.gating.given import Named
from verification.engine.gating.stages import Start
from verification.engine.gating.stepping import Steps

FOLDERS = ("backend", "frontend")
PATHS = ("backend/requirements.txt", "backend/tests/test_it.py", "frontend/package.json")


def taken(*commands: str, folders: tuple[str, ...] = FOLDERS) -> Mapping[str, list[str]]:
    """By the folder of the component that they are run in."""
    planned = Steps(folders, PATHS).taken({None: Named({"test": commands})})
    found = ((folders[0] if key is None else key, named) for key, named in planned.items())
    return {folder: list(one.commands["test"]) for folder, one in found if one.commands["test"]}


@pytest.mark.parametrize(
    ("commands", "found"),
    [
        (["cd backend && pytest -x"], {"backend": ["pytest -x"]}),
        (["cd backend", "pytest -x"], {"backend": ["pytest -x"]}),
        (["cd ./backend/", "pytest", "ruff check"], {"backend": ["pytest", "ruff check"]}),
        (["(cd backend && pytest)", "(cd frontend && npm test)"],
         {"backend": ["pytest"], "frontend": ["npm test"]}),
        (["cd backend && pytest && cd ../frontend && npm test"],
         {"backend": ["pytest"], "frontend": ["npm test"]}),
        (["cd backend && pytest", "cd frontend && npm test"],
         {"backend": ["pytest"], "frontend": ["npm test"]}),
        (["cd backend && pytest -k 'a && b'"], {"backend": ["pytest -k 'a && b'"]}),
        (["cd frontend && npm test"], {"frontend": ["npm test"]}),
        (["export CI=1", "cd frontend", "npm test"], {"frontend": ["export CI=1", "npm test"]}),
        (["pytest backend/tests ./backend/tests/test_it.py::test_it --cov=backend/ --root=../backend/x"],
         {"backend": ["pytest tests tests/test_it.py::test_it --cov=./ --root=../backend/x"]}),
    ],
)  # fmt: skip
def test_commands_that_step_into_a_component_from_the_root_are_its_own(
    commands: list[str], found: Mapping[str, list[str]]
) -> None:
    assert taken(*commands) == found


@pytest.mark.parametrize(
    "commands",
    [
        ["pytest"],
        ["cd nowhere && pytest"],
        ["cd backend && cd - && pytest"],
        ["cd $HERE && pytest"],
        ["for one in a b; do", "cd backend", "pytest", "done"],
        ["cat > it.sh <<END", "cd backend", "END"],
        ["pytest backends/tests my-backend/tests http://it/backend/"],
    ],
)
def test_what_steps_elsewhere_stays_as_it_is(commands: list[str]) -> None:
    assert taken(*commands) == {"backend": commands}


def test_a_component_at_the_root_keeps_what_is_run_there() -> None:
    commands = ["tox", "cd frontend && npm test", "cd ..", "make check"]

    found = taken(*commands, folders=("", "frontend"))

    assert found == {"": ["tox", "make check"], "frontend": ["npm test"]}


def test_a_path_that_is_there_as_it_stands_is_left() -> None:
    steps = Steps(("app",), ("app/app/tests.py", "app/manage.py"))

    found = steps.taken({None: Named({"test": ["pytest app/tests.py app/manage.py"]})})

    assert found[None].commands["test"] == ["pytest app/tests.py manage.py"]


def test_below_a_heading_for_a_folder_its_own_commands_count_and_may_step_there() -> None:
    planned = {
        None: Named({"test": ["cd backend && pytest one", "cd frontend && npm test"]}),
        "frontend": Named({"test": ["cd frontend && npm run unit"]}),
        "Python": Named({"test": ["cd backend && pytest"]}),
    }

    found = Steps(FOLDERS, PATHS).taken(planned)

    assert found[None].commands["test"] == ["pytest one"]
    assert found["frontend"].commands["test"] == ["npm run unit"]
    assert found["Python"] == planned["Python"]


def test_a_start_is_of_the_folder_that_it_steps_into() -> None:
    starts = (Start("cd backend && python main.py"), Start("python backend/main.py"))

    found = Steps(FOLDERS, PATHS).taken({None: Named(starts=starts)})

    assert [one.command for one in found[None].starts] == ["python main.py", "python main.py"]
