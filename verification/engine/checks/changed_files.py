"""Files that tool calls say they changed: inside the workspace, there, and not empty."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from processes.definition.model import Enforcement, Target
from verification.engine.case import Case, Ports
from verification.engine.checks.deliverables import declared_meanings
from verification.engine.checks.drafts import violated
from verification.engine.checks.places import Place, Placed, Places
from verification.engine.checks.registry import Observation, check
from verification.engine.checks.removals import Removals
from verification.engine.checks.tools.failures import speaks_of_safety
from verification.engine.evidence import Json, Submission, ToolCall
from verification.engine.finding import Finding
from verification.engine.paths import MAX_PATH_CHARS, is_empty
from verification.engine.tree import Tree, tree_of

ID = "changed-files"


def changed_paths(files_changed: Json) -> tuple[str, ...]:
    """The paths of a well-formed list; whatever else stands there names none."""
    if not isinstance(files_changed, list):
        return ()
    return tuple(one for one in files_changed if _is_path(one))


def changed_files_of(submission: Submission) -> frozenset[str]:
    """Submitted files that tool calls name, by path."""
    return _files_of_calls(submission, submission.tool_calls)


def certainly_changed_files(submission: Submission, diff: Iterable[str]) -> frozenset[str]:
    """Submitted files that a change, a diff with these paths, or a call that did not fail names."""
    calls = [call for call in submission.tool_calls if call.success is not False]
    tree = tree_of(submission.files)
    of_diff = {file.path for path in diff if (file := tree.at(path))}
    return _files_of_calls(submission, calls) | of_diff | (submission.changed or frozenset())


def _files_of_calls(submission: Submission, calls: Sequence[ToolCall]) -> frozenset[str]:
    tree = tree_of(submission.files)
    named = [path for call in calls for path in changed_paths(call.files_changed)]
    places = Places(tree, named)
    placed = (places.of(path) for path in dict.fromkeys(named))
    return frozenset(
        file.path for one in placed if one.place is Place.INSIDE and (file := tree.at(one.path))
    )


@check(ID)
def changed_files(case: Case, _ports: Ports) -> Iterator[Observation]:
    calls = case.submission.tool_calls
    tree = tree_of(case.submission.files)
    places = Places(tree, [path for call in calls for path in changed_paths(call.files_changed)])
    removals = Removals(calls)
    told = _told_as_missing(case)
    for number, call in enumerate(calls):
        if _is_odd(call.files_changed):
            message = f"{call.tool}: files_changed is not a list of paths."
            yield violated(ID, "odd_payload", message, place={"tool_call": number})
        for path in changed_paths(call.files_changed):
            placed = places.of(path)
            if not told.isdisjoint(_with_folders(placed.path)):
                continue
            if found := _problem(call, placed, tree, removals):
                told.add(placed.path)
                yield replace(found, place={"tool_call": number})


def _told_as_missing(case: Case) -> set[str]:
    """Declared files that are not there, or hold nothing: another check says so."""
    told = set()
    for path, meant in declared_meanings(case).items():
        files = meant.files if meant else ()
        told |= {file.path for file in files if not file.size} if files else {path}
    return told


def _with_folders(path: str) -> Iterator[str]:
    """The path, then each folder above it."""
    while path:
        yield path
        path = path.rpartition("/")[0]


def _problem(call: ToolCall, placed: Placed, tree: Tree, removals: Removals) -> Finding | None:
    if placed.place is Place.NOWHERE:
        return None
    if placed.place in (Place.OUTSIDE, Place.TEMPORARY):
        # What a guard stopped, the check of tool calls has told.
        was_stopped = call.success is False and speaks_of_safety(call.error)
        return None if was_stopped else _outside(call, placed)
    file = tree.at(placed.path)
    if file is None:
        is_excused = tree.holds(placed.path) or placed.is_folder or call.success is False
        is_excused = is_excused or removals.cover(placed.path)
        return None if is_excused else _missing(call, placed, "not there")
    return _missing(call, placed, "empty") if is_empty(file) else None


def _outside(call: ToolCall, placed: Placed) -> Finding:
    is_temporary = placed.place is Place.TEMPORARY
    return violated(
        ID,
        "path_outside_workspace",
        f"{call.tool} changed a file outside of the workspace.",
        enforcement=Enforcement.ADVISORY if is_temporary else None,
        path=placed.path,
        suggestion="Change files of the workspace alone, by paths relative to it.",
    )


def _missing(call: ToolCall, placed: Placed, state: str) -> Finding:
    return violated(
        ID,
        "changed_file_missing",
        f"{call.tool} says that it changed this file: it is {state}.",
        target=Target.DELIVERABLES,
        path=placed.path,
    )


def _is_path(value: Json) -> bool:
    return isinstance(value, str) and bool(value.strip()) and len(value) <= MAX_PATH_CHARS


def _is_odd(files_changed: Json) -> bool:
    if files_changed is None:
        return False
    return not isinstance(files_changed, list) or not all(map(_is_path, files_changed))
