"""Files that tool calls say they changed: inside the workspace, there, and not empty."""

from __future__ import annotations

import re
from collections.abc import Iterator

from processes.definition.model import Target
from verification.engine.case import Case, Ports
from verification.engine.checks.deliverables import declared_files
from verification.engine.checks.drafts import violated
from verification.engine.checks.registry import Observation, check
from verification.engine.evidence import Json, Submission, SubmittedFile, ToolCall
from verification.engine.finding import Finding
from verification.engine.paths import is_empty, located

ID = "changed-files"
_TAKES_FILES_AWAY = re.compile(
    r"delet|remov|unlink|move|renam|(?<![a-z])(?:rm|mv)(?![a-z])", re.IGNORECASE
)


def changed_paths(files_changed: Json) -> tuple[str, ...]:
    """The paths of a well-formed list; whatever else stands there names none."""
    if not isinstance(files_changed, list):
        return ()
    return tuple(one for one in files_changed if isinstance(one, str) and one.strip())


def changed_files_of(submission: Submission) -> frozenset[str]:
    """Paths inside the workspace that tool calls name."""
    submitted = {file.path for file in submission.files}
    located_paths = (
        located(path, submitted)
        for call in submission.tool_calls
        for path in changed_paths(call.files_changed)
    )
    return frozenset(path for path in located_paths if path)


@check(ID)
def changed_files(case: Case, _ports: Ports) -> Iterator[Observation]:
    submitted = {file.path: file for file in case.submission.files}
    seen = set(declared_files(case))
    for number, call in enumerate(case.submission.tool_calls):
        place = {"tool_call": number}
        if _is_odd(call.files_changed):
            message = f"{call.tool}: files_changed is not a list of paths."
            yield violated(ID, "odd_payload", message, place=place)
        for path in changed_paths(call.files_changed):
            inside = located(path, submitted)
            if (inside or path) in seen:
                continue
            seen.add(inside or path)
            if inside is None:
                yield _outside(call, path, place)
            elif message := _absence(call, submitted.get(inside)):
                yield violated(
                    ID,
                    "changed_file_missing",
                    message,
                    target=Target.DELIVERABLES,
                    path=inside,
                    place=place,
                )


def _is_odd(files_changed: Json) -> bool:
    if files_changed is None:
        return False
    return not isinstance(files_changed, list) or any(
        not isinstance(one, str) or not one.strip() for one in files_changed
    )


def _outside(call: ToolCall, path: str, place: dict[str, int]) -> Finding:
    return violated(
        ID,
        "path_outside_workspace",
        f"{call.tool} changed a file outside of the workspace.",
        path=path,
        place=place,
        suggestion="Change files of the workspace alone, by paths relative to it.",
    )


def _absence(call: ToolCall, file: SubmittedFile | None) -> str:
    """What is wrong with a changed file; '' when it is there and holds something."""
    if file is None:
        is_gone = _TAKES_FILES_AWAY.search(call.tool)
        return "" if is_gone else f"{call.tool} says that it changed this file: it is not there."
    return f"{call.tool} says that it changed this file: it is empty." if is_empty(file) else ""
