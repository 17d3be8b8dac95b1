from __future__ import annotations

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verification.engine.gating.components import Component, Language
from verification.engine.gating.looking import LOOK, look
from verification.engine.gating.overrides import Placed
from verification.engine.gating.planning import parts_of
from verification.engine.gating.recipes import Files, part_of
from verification.engine.gating.stages import SECURITY, workdir
from verification.engine.reports.problems import ProblemFormat

PYTHON, NODE = Language.PYTHON, Language.NODE


def folders_of(*components: Component) -> list[list[str]]:
    """What each is told to look at, and then what it is told to leave out."""
    stages = [look(one, components) for one in components]
    return [shlex.split(stage.command)[len(LOOK) :] for stage in stages]


@pytest.mark.parametrize("language", Language)
def test_work_of_every_language_is_looked_at_apart_from_its_code(language: Language) -> None:
    part = part_of(Component("", language), Files([], dict[str, bytes]().get))

    [stage] = [one for one in part.stages if one.gate == SECURITY]
    assert shlex.split(stage.command) == [*LOOK, "/workspace"]
    assert stage.expected
    assert (stage.is_apart, stage.expected.format) == (True, ProblemFormat.SARIF)


def test_what_is_only_looked_at_needs_no_image_of_its_language() -> None:
    part = part_of(Component("", Language.MAKE), Files(["Makefile"], dict[str, bytes]().get))

    assert not part.is_run


@pytest.mark.parametrize(
    ("components", "folders"),
    [
        ([Component("api", PYTHON)], [["/workspace"]]),
        ([Component("", PYTHON), Component("web", NODE)],
         [["/workspace", "/workspace/web"], ["/workspace/web"]]),
        ([Component("api", PYTHON), Component("web", NODE)],
         [["/workspace", "/workspace/web"], ["/workspace/web"]]),
        ([Component("a", PYTHON), Component("b", NODE), Component("b/c", NODE)],
         [["/workspace", "/workspace/b", "/workspace/b/c"],
          ["/workspace/b", "/workspace/b/c"], ["/workspace/b/c"]]),
        ([Component("a/b", PYTHON), Component("a", NODE)],
         [["/workspace/a/b"], ["/workspace", "/workspace/a/b"]]),
        ([Component("a", PYTHON), Component("b", NODE), Component("bc", NODE)],
         [["/workspace", "/workspace/b", "/workspace/bc"], ["/workspace/b"], ["/workspace/bc"]]),
    ],
)  # fmt: skip
def test_files_of_no_component_are_looked_at_with_the_upmost(
    components: list[Component], folders: list[list[str]]
) -> None:
    assert folders_of(*components) == folders


def test_a_folder_of_two_languages_is_looked_at_once() -> None:
    both = (Component("", PYTHON), Component("", NODE))

    assert look(both[1], both).skipped == "Its folder is looked at with . (python)."


def test_what_is_planned_looks_at_no_file_twice() -> None:
    components = (Component("", PYTHON), Component("web", NODE))

    parts = parts_of(Files([], dict[str, bytes]().get), Placed(components), {})

    commands = [one.command for part in parts for one in part.stages if one.gate == SECURITY]
    assert [shlex.split(one)[len(LOOK) :] for one in commands] == [
        ["/workspace", "/workspace/web"],
        ["/workspace/web"],
    ]


NAMES = st.text(min_size=1, max_size=8).filter(
    lambda one: "/" not in one and one not in {".", ".."}
)
NAMES |= st.sampled_from(["$(touch x)", "a b", "'", '"', "-x", ";", "\n", "*"])
FOLDERS = st.lists(NAMES, max_size=3).map("/".join)


@given(st.lists(FOLDERS, min_size=1, max_size=6, unique=True), NAMES)
def test_every_file_is_looked_at_by_one_and_the_nearest(folders: list[str], name: str) -> None:
    components = [Component(folder, PYTHON) for folder in folders]

    told = folders_of(*components)

    for component in components:
        path = f"{workdir(component)}/{name}"
        lookers = [
            folder
            for folder, *left_out in told
            if f"{path}/".startswith(f"{folder}/")
            and not any(f"{path}/".startswith(f"{one}/") for one in left_out)
        ]
        assert len(lookers) == 1
