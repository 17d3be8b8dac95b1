"""Machine-readable files parse by the grammar of their suffix."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from processes.definition.model import Enforcement, Target
from verification.engine.case import Case, Ports
from verification.engine.checks.deliverables import declared_files
from verification.engine.checks.drafts import not_inspected, violated
from verification.engine.checks.registry import Observation, check
from verification.engine.evidence import (
    CouldNotInspect,
    NotInspected,
    SubmittedFile,
    SyntaxProblem,
)
from verification.engine.finding import Finding
from verification.engine.grammars import grammar_of

ID = "syntax"
MAX_BATCH_BYTES = 4_000_000
MAX_BATCH_FILES = 500
MAX_BATCH_SECONDS = 10.0
MAX_LOSSES = 3
"""After so many lost answers the rest is not asked for: each costs a deadline."""
MAX_PROBLEMS_PER_FILE = 10

Answer = Sequence[SyntaxProblem] | NotInspected


@check(ID)
def syntax(case: Case, ports: Ports) -> Iterator[Observation]:
    declared = declared_files(case)
    parsed = [
        file
        for file in case.submission.files
        if file.size
        and grammar_of(file.path)
        and (case.submission.may_be_the_works(file.path) or file.path in declared)
    ]
    small = [file for file in parsed if not _is_too_large(file)]
    # What counts most is asked first: others may use up the time.
    small.sort(key=lambda file: (file.path not in declared, not _is_certain(file)))
    asking = _Asking(ports, case.verifier.limits.syntax_seconds)
    answers = {
        file.path: answer
        for batch in _batches(small)
        for file, answer in zip(batch, asking.about(batch), strict=True)
    }
    for file in parsed:
        if file.path in answers:
            is_declared = file.path in declared
            yield from _findings(file, answers[file.path], is_declared=is_declared)
        else:
            yield _unknown(file, "Too large to be parsed.", Enforcement.ADVISORY)


class _Asking:
    """Asks the probe within bounds of time and of losses.

    After `seconds` nothing more is asked; what was asked by then may take its own time.
    """

    def __init__(self, ports: Ports, seconds: float) -> None:
        self._ports = ports
        self._until = ports.clock() + seconds
        self._losses = 0

    def about(self, batch: Sequence[SubmittedFile]) -> Sequence[Answer]:
        """Ask for all at once; when that is lost, for each file, so that one spoils no other."""
        if self._losses >= MAX_LOSSES:
            return [NotInspected("The probe was lost too often.")] * len(batch)
        if self._ports.clock() > self._until:
            return [NotInspected("The other files took too long.")] * len(batch)
        try:
            return self._parse(batch)
        except CouldNotInspect as error:
            if len(batch) == 1:
                self._losses += 1
                return [NotInspected(str(error))]
        return [self.about([file])[0] for file in batch]

    def _parse(self, batch: Sequence[SubmittedFile]) -> Sequence[Answer]:
        read = self._ports.workspace.read
        return self._ports.probe.syntax([(file.path, read(file.path)) for file in batch])


def _findings(file: SubmittedFile, answer: Answer, *, is_declared: bool) -> Iterator[Finding]:
    if isinstance(answer, NotInspected):
        # No answer could have been held against the work: nothing is lost that was asked for.
        matters = is_declared and _is_certain(file)
        enforcement = Enforcement.HARD if matters else Enforcement.ADVISORY
        yield _unknown(file, f"Could not be parsed: {answer.why}", enforcement)
        return
    # However many remarks there are, what is certain is told.
    for problem in sorted(answer, key=lambda one: not one.certain)[:MAX_PROBLEMS_PER_FILE]:
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


def _is_certain(file: SubmittedFile) -> bool:
    grammar = grammar_of(file.path)
    return grammar is not None and grammar.is_certain


def _is_too_large(file: SubmittedFile) -> bool:
    grammar = grammar_of(file.path)
    return grammar is not None and file.size > grammar.max_bytes


def _batches(files: Sequence[SubmittedFile]) -> Iterator[list[SubmittedFile]]:
    """Files of which one request takes little: one that may take long is asked about alone."""
    batch: list[SubmittedFile] = []
    size, seconds = 0, 0.0
    for file in files:
        grammar = grammar_of(file.path)
        # The start of a parser is waited for once in a request, not for each file.
        takes = file.size / grammar.bytes_per_second if grammar else 0.0
        is_full = size + file.size > MAX_BATCH_BYTES or seconds + takes > MAX_BATCH_SECONDS
        if batch and (is_full or len(batch) == MAX_BATCH_FILES):
            yield batch
            batch, size, seconds = [], 0, 0.0
        batch.append(file)
        size += file.size
        seconds += takes
    if batch:
        yield batch
