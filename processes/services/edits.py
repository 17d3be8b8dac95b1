"""Small edits of the newest version, as the next version."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import transaction

from loomverify.accounts.access import Actor
from loomverify.accounts.models import Role
from loomverify.errors import Conflict, InputError
from processes.definition.load import load
from processes.definition.model import Problem
from processes.definition.patch import Edit, Unpatchable, patch
from processes.definition.stream import Unreadable
from processes.models import Process, ProcessVersion
from processes.services.drafts import newest_version
from processes.services.versions import add_version


@dataclass(frozen=True, slots=True)
class Edited:
    version: ProcessVersion
    warnings: Sequence[Problem]
    is_new: bool
    """False: the text says all of it already, and no version was added."""


def edit_newest(
    *,
    process: Process,
    base_version: int,
    edits: Sequence[Edit],
    actor: Actor,
    role: Role,
    note: str = "",
) -> Edited:
    """Add a version that differs from the newest one by these edits alone.

    Raises:
        Conflict: `version.conflict`, the newest version is not `base_version`.
        InputError: an edit that cannot be made, or a text with errors; nothing is stored.
        NotFound: the process has no version yet.
    """
    newest = newest_version(process)
    _need_base(newest.number, base_version)
    text = _patched(newest.source_text, edits)
    _need_name(process, text)
    with transaction.atomic():
        version, warnings = add_version(
            project=process.project, source_text=text, actor=actor, role=role, note=note
        )
        is_new = text != newest.source_text
        _need_base(version.number - is_new, base_version)  # sure only now that it is locked
    return Edited(version, warnings, is_new)


def _need_base(newest: int, base_version: int) -> None:
    if newest != base_version:
        raise Conflict(
            "version.conflict",
            f"Version {newest} is the newest by now. Read it, and edit that one.",
            loc=("body", "base_version"),
        )


def _patched(source: str, edits: Sequence[Edit]) -> str:
    try:
        return patch(source, edits)
    except Unpatchable as error:
        raise _refusal(error.problem, ("edits", error.edit, error.problem.path)) from error
    except Unreadable as error:
        raise _refusal(error.problem, ("base_version",)) from error


def _refusal(problem: Problem, place: tuple[str | int, ...]) -> InputError:
    told = f"Line {problem.line}: {problem.message}"
    return InputError(problem.code, told, loc=("body", *place, problem.line))


def _need_name(process: Process, text: str) -> None:
    definition = load(text).definition
    if definition is not None and definition.name != process.slug:
        raise InputError(
            "name.changed",
            f"An edit cannot rename {process.slug!r}: its name is its address. "
            "Send the whole text to make another process of it.",
            loc=("body", "name"),
        )
