"""Versions that a lock file holds."""

from __future__ import annotations

import json

import pytest

from tests.engine.gating.test_recipes import part_in
from verification.engine.gating.components import Component, Language
from verification.engine.gating.python_locked import locked
from verification.engine.gating.recipe_python_install import CONSTRAINTS, NOT_LOCKED

UV = (
    '[[package]]\nname = "a"\nversion = "1.0"\nsource = { registry = "https://index.example" }\n'
    '[[package]]\nname = "itself"\nversion = "0.1"\nsource = { editable = "." }\n'
    '[[package]]\nname = "b"\nversion = "1"\n[[package]]\nname = "b"\nversion = "2"\n'
)
PIPENV = {
    "default": {"a": {"version": "==1.0"}, "g": {"git": "x"}},
    "develop": {"c": {"version": "==3"}},
}


@pytest.mark.parametrize(
    ("name", "content", "held"),
    [
        ("uv.lock", UV, ("a==1.0",)),
        ("poetry.lock", '[[package]]\nname = "z"\nversion = "1.2.post1"\n', ("z==1.2.post1",)),
        ("poetry.lock", '[[package]]\nname = "z"\nversion = "1; x"\n', ()),
        ("pdm.lock", '[[package]]\nname = "-r x"\nversion = "1"\n', ()),
        ("pdm.lock", "package = 7\n", ()),
        ("uv.lock", "[[", ()),
        ("Pipfile.lock", json.dumps(PIPENV), ("a==1.0", "c==3")),
        ("Pipfile.lock", '{"default": [1]}', ()),
        ("other.lock", UV, ()),
    ],
)
def test_each_version_from_an_index_is_held(name: str, content: str, held: tuple[str, ...]) -> None:
    files = {name: content.encode()}

    assert locked(Component("", Language.PYTHON), files.get) == held


def test_what_is_named_is_installed_as_it_is_locked_or_as_it_can_be_had() -> None:
    project = "[project]\nname = 'itself'\ndependencies = ['a']\n"

    command = part_in(Language.PYTHON, {"pyproject.toml": project, "uv.lock": UV}).install.command

    assert f"printf '%s\\n' a==1.0 > {CONSTRAINTS} && " in command
    assert command.index(f"-c {CONSTRAINTS} a || ") < command.index(NOT_LOCKED)
