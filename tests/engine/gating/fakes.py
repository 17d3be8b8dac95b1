"""A sandbox that does as it is told, and remembers what was asked of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from verification.engine.gates import GateReport
from verification.engine.gating.components import Component, Language
from verification.engine.gating.judging import Judged
from verification.engine.gating.sandbox import Installed, SandboxLost
from verification.engine.gating.stages import Ended, Install, Part, Stage

WELL = Ended(exit_code=0)
LOST = "The engine is gone."


def part_with(
    *stages: Stage, install: str = "", folder: str = "", language: Language = Language.PYTHON
) -> Part:
    return Part(Component(folder, language), Install(install), stages)


@dataclass(slots=True)
class ScriptedSandbox:
    """`ends` is how each gate ends, by its name, else well; a text: the sandbox is lost so.

    `asked` is all that was asked, in its order: "install", "box 1 of image", "1: test", "close 1".
    """

    ends: Mapping[str, Ended | str] = field(default_factory=dict)
    lost_boxes: Sequence[int] = ()
    is_installed: bool = False
    note: str = ""
    asked: list[str] = field(default_factory=list)
    boxes: int = 0
    later: Mapping[str, Ended | str] = field(default_factory=dict)

    def install(self, part: Part) -> Installed:
        if not part.install.command or self.is_installed:
            return Installed("tools")
        self.asked.append("install")
        return Installed("deps", self.end("install"))

    def told(self, part: Part) -> str:
        return self.note

    @contextmanager
    def box(self, part: Part, image: str = "") -> Iterator[ScriptedBox]:
        self.boxes += 1
        number = self.boxes
        self.asked.append(f"box {number} of {image or 'nothing'}")
        if number in self.lost_boxes:
            raise SandboxLost(LOST)
        yield ScriptedBox(self, number)
        self.asked.append(f"close {number}")

    def end(self, gate: str, box: int = 1) -> Ended:
        ended = {**self.ends, **(self.later if box > 1 else {})}.get(gate, WELL)
        if isinstance(ended, str):
            raise SandboxLost(ended)
        return ended


@dataclass(frozen=True, slots=True)
class ScriptedBox:
    sandbox: ScriptedSandbox
    number: int

    def run(self, stage: Stage) -> Ended:
        self.sandbox.asked.append(f"{self.number}: {stage.gate}")
        return self.sandbox.end(stage.gate, self.number)


@dataclass(slots=True)
class Listener:
    """What `run_track` tells of, by gate."""

    told: list[str] = field(default_factory=list)
    inputs_sha256: str = ""

    def __call__(self, part: Part, stage: Stage, ended: Ended, judged: Judged) -> GateReport:
        self.told.append(stage.gate)
        return replace(judged.report, inputs_sha256=self.inputs_sha256)
