"""Machine-readable files parse by the grammar of their suffix."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from processes.definition.model import Enforcement, Target
from verification.engine.case import Case, Ports
from verification.engine.checks.deliverables import declared_files
from verification.engine.checks.drafts import not_inspected, violated
from verification.engine.checks.registry import Observation, check
from verification.engine.evidence import (
    CouldNotInspect,
    NotInspected,
    Probe,
    SubmittedFile,
    SyntaxProblem,
    Workspace,
)
from verification.engine.finding import Finding
from verification.engine.grammars import grammar_of

ID = "syntax"
MAX_BATCH_BYTES = 4_000_000
MAX_BATCH_FILES = 500
MAX_LOSSES = 3
"""After so many lost answers the rest is not asked for: each costs a deadline."""
MAX_PROBLEMS_PER_FILE = 10


@check(ID)
def syntax(case: Case, ports: Ports) -> Iterator[Observation]:
    declared = declared_files(case)
    parsed = [file for file in case.submission.files if file.size and grammar_of(file.path)]
    small: list[SubmittedFile] = []
    large: list[SubmittedFile] = []
    for file in parsed:
        (large if _is_too_large(file) else small).append(file)
    for file in large:
        message = "Too large to be parsed."
        yield _unknown(file, message, Enforcement.ADVISORY)
    lost = _Losses()
    for batch in _batches(small):
        for file, answer in zip(batch, _ask(ports, batch, lost), strict=True):
            yield from _findings(file, answer, is_declared=file.path in declared)


@dataclass
class _Losses:
    count: int = 0

    @property
    def are_too_many(self) -> bool:
        return self.count >= MAX_LOSSES


def _ask(
    ports: Ports, batch: Sequence[SubmittedFile], lost: _Losses
) -> Sequence[Sequence[SyntaxProblem] | NotInspected]:
    """Ask for a batch at once; when that is lost, for each file, so that one spoils no other."""
    if lost.are_too_many:
        return [NotInspected("The probe was lost too often.")] * len(batch)
    try:
        return _parse(ports.probe, ports.workspace, batch)
    except CouldNotInspect as error:
        if len(batch) == 1:
            lost.count += 1
            return [NotInspected(str(error))]
    return [_ask(ports, [file], lost)[0] for file in batch]


def _parse(
    probe: Probe, workspace: Workspace, batch: Sequence[SubmittedFile]
) -> Sequence[Sequence[SyntaxProblem] | NotInspected]:
    return probe.syntax([(file.path, workspace.read(file.path)) for file in batch])


def _findings(
    file: SubmittedFile, answer: Sequence[SyntaxProblem] | NotInspected, *, is_declared: bool
) -> Iterator[Finding]:
    if isinstance(answer, NotInspected):
        enforcement = Enforcement.HARD if is_declared else Enforcement.ADVISORY
        yield _unknown(file, f"Could not be parsed: {answer.why}", enforcement)
        return
    for problem in answer[:MAX_PROBLEMS_PER_FILE]:
        yield violated(
            ID,
            "syntax_invalid",
            problem.message,
            enforcement=_enforcement(problem, is_declared=is_declared),
            target=Target.DELIVERABLES,
            path=file.path,
            line=problem.line or None,
            column=problem.column or None,
            place=None if problem.certain else {"certain": False},
        )


def _enforcement(problem: SyntaxProblem, *, is_declared: bool) -> Enforcement:
    if problem.note:
        return Enforcement.OBSERVE
    return Enforcement.HARD if problem.certain and is_declared else Enforcement.ADVISORY


def _unknown(file: SubmittedFile, message: str, enforcement: Enforcement) -> Finding:
    return not_inspected(
        ID, message, enforcement=enforcement, target=Target.DELIVERABLES, path=file.path
    )


def _is_too_large(file: SubmittedFile) -> bool:
    grammar = grammar_of(file.path)
    return grammar is not None and file.size > grammar.max_bytes


def _batches(files: Sequence[SubmittedFile]) -> Iterator[list[SubmittedFile]]:
    batch: list[SubmittedFile] = []
    size = 0
    for file in files:
        if batch and (size + file.size > MAX_BATCH_BYTES or len(batch) == MAX_BATCH_FILES):
            yield batch
            batch, size = [], 0
        batch.append(file)
        size += file.size
    if batch:
        yield batch
