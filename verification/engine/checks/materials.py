"""The texts that a rule's target means."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from processes.definition.model import Target
from verification.engine.case import Case, Ports
from verification.engine.checks.changed_files import changed_files_of
from verification.engine.checks.deliverables import declared_files
from verification.engine.evidence import SubmittedFile
from verification.engine.grammars import grammar_of
from verification.engine.grammars.contents import (
    LOOKED_AT_BYTES,
    PAGES,
    TEXTS,
    is_transport_stream,
)
from verification.engine.grammars.text import wide_encoding
from verification.engine.tree import meant_by

MAX_FILE_BYTES = 50_000_000
MAX_BATCH_BYTES = 4_000_000


@dataclass(frozen=True, slots=True)
class Material:
    """`too_large`: there is content, and it is not here."""

    content: bytes
    path: str = ""
    place: Mapping[str, Any] = field(default_factory=dict, hash=False)
    too_large: bool = False


def material_batches(target: Target, case: Case, ports: Ports) -> Iterator[Sequence[Material]]:
    """One at least, and never all at once: a workspace may be larger than a worker's memory."""
    batch: list[Material] = []
    size = 0
    for material in _materials(target, case, ports):
        if batch and size + len(material.content) > MAX_BATCH_BYTES:
            yield batch
            batch, size = [], 0
        batch.append(material)
        size += len(material.content)
    yield batch


def _materials(target: Target, case: Case, ports: Ports) -> Iterator[Material]:
    if target is Target.OUTPUT:
        yield Material(_encoded(case.submission.output))
    elif target is Target.EVIDENCE:
        for one in case.submission.evidence:
            yield Material(_encoded(one.text), place={"evidence": one.id})
    else:
        yield from _contents_of_files(case, ports)


def _encoded(text: str) -> bytes:
    return text.encode(errors="replace")


def searched_files(case: Case) -> list[SubmittedFile]:
    """The work's files: those declared or said to be changed.

    Where neither names one, all but what other phases declare. Of a change to a repository it is
    known which they are, and they may be none.
    """
    changed = case.submission.changed
    named = set(declared_files(case)) | changed_files_of(case.submission) | (changed or frozenset())
    files = [file for file in case.submission.files if file.path in named]
    if files or changed is not None:
        return files
    of_others = _of_other_phases(case)
    return [file for file in case.submission.files if file.path not in of_others]


def _of_other_phases(case: Case) -> set[str]:
    others = [phase for phase in case.definition.phases if phase.id != case.phase.id]
    declared = tuple(one.path for phase in others for one in phase.deliverables)
    meanings = filter(None, meant_by(declared, case.submission.files).values())
    return {file.path for meant in meanings for file in meant.files}


def _contents_of_files(case: Case, ports: Ports) -> Iterator[Material]:
    for file in searched_files(case):
        if file.size > MAX_FILE_BYTES:
            yield Material(b"", file.path, too_large=True)
            continue
        content = ports.workspace.read(file.path)
        if not is_binary(file.path, content):
            yield Material(content, file.path)


def is_binary(path: str, content: bytes) -> bool:
    """Whether a file is no text. A NUL alone hides nothing in a file whose name promises text."""
    start = content[:LOOKED_AT_BYTES]
    if b"\0" not in start or wide_encoding(content):
        return False
    return not _promises_text(path) or is_transport_stream(start)


def _promises_text(path: str) -> bool:
    suffix = path.rsplit(".", 1)[-1].lower()
    return suffix in TEXTS | PAGES or grammar_of(path) is not None
