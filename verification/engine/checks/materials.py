"""The texts that a rule's target means."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from processes.definition.model import Target
from verification.engine.case import Case, Ports
from verification.engine.checks.changed_files import changed_files_of
from verification.engine.checks.deliverables import declared_files
from verification.engine.evidence import SubmittedFile
from verification.engine.paths import files_under

MAX_FILE_BYTES = 50_000_000
_LOOKED_AT_BYTES = 8_192


@dataclass(frozen=True, slots=True)
class Material:
    text: str
    path: str = ""
    place: Mapping[str, Any] = field(default_factory=dict, hash=False)


def materials(target: Target, case: Case, ports: Ports) -> list[Material]:
    if target is Target.OUTPUT:
        return [Material(case.submission.output)]
    if target is Target.EVIDENCE:
        return [Material(one.text, place={"evidence": one.id}) for one in case.submission.evidence]
    return list(_texts_of_files(case, ports))


def searched_files(case: Case) -> list[SubmittedFile]:
    """The work's files: those declared or said to be changed.

    Where neither names one, all but what other phases declare.
    """
    named = set(declared_files(case)) | changed_files_of(case.submission)
    files = [file for file in case.submission.files if file.path in named]
    if files:
        return files
    of_others = {
        file.path
        for phase in case.definition.phases
        if phase.id != case.phase.id
        for one in phase.deliverables
        for file in files_under(one.path, case.submission.files)
    }
    return [file for file in case.submission.files if file.path not in of_others]


def _texts_of_files(case: Case, ports: Ports) -> Iterator[Material]:
    for file in searched_files(case):
        if file.size > MAX_FILE_BYTES:
            continue
        content = ports.workspace.read(file.path)
        if b"\0" not in content[:_LOOKED_AT_BYTES]:
            yield Material(content.decode(errors="replace"), file.path)
