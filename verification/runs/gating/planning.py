"""What is built and tried of a run's work."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from verification.engine.case import Case
from verification.engine.evidence import Workspace
from verification.engine.gating.components import components_of
from verification.engine.gating.given import with_given
from verification.engine.gating.plans import commands_of
from verification.engine.gating.recipes import Files, part_of
from verification.engine.gating.stages import Part


@dataclass(frozen=True, slots=True)
class Plan:
    """`left_out` counts the components that are more than are tried."""

    parts: list[Part]
    left_out: int = 0


def plan_of(case: Case, workspace: Workspace) -> Plan:
    """Every component with its commands: the table's, or those that the plan names."""
    task = case.submission.task
    files = Files([one.path for one in case.submission.files], _reader(case, workspace))
    words = f"{task.plan}\n{task.description}"
    found = components_of(files.paths, files.read, words)
    parts = [part_of(component, files) for component in found.found]
    given = with_given(parts, commands_of(task.plan), files.paths)
    return Plan(given, found.left_out)


def _reader(case: Case, workspace: Workspace) -> Callable[[str], bytes | None]:
    known = {one.path for one in case.submission.files}

    def read(path: str) -> bytes | None:
        return workspace.read(path) if path in known else None

    return read
