"""Which images a trial asks for, and by which one a result is named."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, cast
from uuid import UUID

import pytest

from verification.engine.gating.components import Component, Language
from verification.engine.gating.recipes import Files, part_of
from verification.engine.gating.sandbox import SandboxLost
from verification.engine.gating.stages import Part
from verification.runs.gating.trial import Key, State, Trial


@dataclass
class Engine:
    """Says what it was asked for."""

    looks_by: str = "looks"
    lost: str = ""
    asked: list[str] = field(default_factory=list)

    def image(self, part: Part) -> str:
        self.asked.append(str(part.component.language))
        if self.lost == part.component.language:
            raise SandboxLost("Its image cannot be had.")
        return "runs"

    def looking(self) -> str:
        self.asked.append("looking")
        if self.lost == "looking":
            raise SandboxLost("It cannot be had.")
        return self.looks_by


NODE = part_of(
    Component("", Language.NODE),
    Files(["package.json"], {"package.json": b'{"scripts": {"build": "x"}}'}.get),
)
MAKE = part_of(Component("lib", Language.MAKE), Files([], dict[str, bytes]().get))


def key_of(engine: Engine, *gates: str) -> Key:
    nothing = cast(Any, None)
    work = cast(Any, SimpleNamespace(project_uuid=UUID(int=1)))
    trial = Trial(work, nothing, nothing, State({}, nothing), nothing, nothing)
    return trial._key(cast(Any, engine), [NODE, MAKE], lambda _part: gates)


@pytest.mark.parametrize(
    ("gates", "asked"),
    [
        (("security",), ["looking"]),
        (("build",), ["node"]),
        (("build", "security"), ["node", "looking"]),
        (("run",), []),
    ],
)
def test_an_image_in_which_nothing_is_run_is_not_asked_for(
    gates: tuple[str, ...], asked: list[str]
) -> None:
    engine = Engine()

    key_of(engine, *gates)

    assert engine.asked == asked


def test_what_was_looked_at_is_named_by_the_image_that_looked() -> None:
    keys = [key_of(Engine(looks_by), "build", "security") for looks_by in ("looks", "other")]

    named = {stage.gate: {key(NODE, stage) for key in keys} for stage in NODE.stages}

    assert (len(named["security"]), len(named["build"])) == (2, 1)


@pytest.mark.parametrize(("lost", "unnamed"), [("node", {"build"}), ("looking", {"security"})])
def test_what_cannot_be_had_names_nothing_and_keeps_nothing_else_from_its_name(
    lost: str, unnamed: set[str]
) -> None:
    key = key_of(Engine(lost=lost), "build", "security")

    named = {stage.gate: key(NODE, stage) for stage in NODE.stages if stage.command}

    assert {gate for gate, name in named.items() if not name} == unnamed
    assert set(named) == {"build", "security"}
