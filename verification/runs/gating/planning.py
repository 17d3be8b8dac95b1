"""What is built and tried of a run's work."""

from __future__ import annotations

from collections.abc import Callable

from verification.engine.case import Case
from verification.engine.evidence import Workspace
from verification.engine.gating.components import components_of
from verification.engine.gating.given import with_given
from verification.engine.gating.plans import commands_of
from verification.engine.gating.recipes import Files, part_of
from verification.engine.gating.stages import Part


def parts_of(case: Case, workspace: Workspace) -> list[Part]:
    """Every component with its commands: the table's, or those that the plan names."""
    task = case.submission.task
    files = Files([one.path for one in case.submission.files], _reader(case, workspace))
    words = f"{task.plan}\n{task.description}"
    found = components_of(files.paths, files.read, words).found
    parts = [part_of(component, files) for component in found]
    return with_given(parts, commands_of(task.plan), files.paths)


def _reader(case: Case, workspace: Workspace) -> Callable[[str], bytes | None]:
    known = {one.path for one in case.submission.files}

    def read(path: str) -> bytes | None:
        return workspace.read(path) if path in known else None

    return read
