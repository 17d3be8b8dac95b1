"""Machine-readable files parse by the grammar of their suffix."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from processes.definition.model import Enforcement, Target
from verification.engine.case import Case, Ports
from verification.engine.checks.before_work import FilesBefore, problems_before
from verification.engine.checks.deliverables import declared_files
from verification.engine.checks.drafts import not_inspected, violated
from verification.engine.checks.python_version import PythonVersions
from verification.engine.checks.registry import Observation, check
from verification.engine.evidence import (
    CouldNotInspect,
    NotInspected,
    SubmittedFile,
    SyntaxProblem,
)
from verification.engine.finding import Finding
from verification.engine.grammars import grammar_of
from verification.engine.grammars.registry import BEYOND_BOUNDS
from verification.engine.tree import meant_by

ID = "syntax"
MAX_BATCH_BYTES = 4_000_000
MAX_BATCH_FILES = 500
MAX_BATCH_SECONDS = 10.0
MAX_LOSSES = 3
"""After so many lost answers the rest is not asked for: each costs a deadline."""
MAX_PROBLEMS_PER_FILE = 10
FIXTURE_FOLDERS = frozenset(
    {"fixture", "fixtures", "__fixtures__", "testdata", "test-data", "test_data"}
)
"""Below them a file may be broken on purpose."""
_BEFORE = "The file had this problem before the work: {}"
_BEFORE_UNKNOWN = "It does not parse, and whether it did before the work is not known: {}"

Answer = Sequence[SyntaxProblem] | NotInspected


@dataclass(frozen=True, slots=True)
class ParsedFile:
    """A file with its answer. `blames`: what is certain in it may be held against the work."""

    file: SubmittedFile
    answer: Answer
    is_declared: bool
    blames: bool


@check(ID)
def syntax(case: Case, ports: Ports) -> Iterator[Observation]:
    declared = declared_files(case)
    before = FilesBefore(case, ports)
    on_purpose = _broken_on_purpose(case)
    blamed = {
        file.path
        for file in case.submission.files
        if (file.path in declared or before.is_changed(file)) and not on_purpose(file.path)
    }
    files = [
        file
        for file in case.submission.files
        if file.size
        and grammar_of(file.path)
        and (case.submission.may_be_the_works(file.path) or file.path in declared)
    ]
    small = [file for file in files if not _is_too_large(file)]
    # What counts most is asked first: others may use up the time.
    small.sort(
        key=lambda file: (
            not _is_certain(file.path), file.path not in declared, file.path not in blamed
        )
    )  # fmt: skip
    asking = _Asking(ports, case.verifier.limits.syntax_seconds)
    answers = {
        file.path: answer
        for batch in _batches(small)
        for file, answer in zip(batch, asking.about(batch), strict=True)
    }
    parsed = [
        ParsedFile(
            file,
            answers.get(file.path, NotInspected("Too large to be parsed.")),
            file.path in declared,
            file.path in blamed,
        )
        for file in files
    ]
    earlier = _earlier_problems(parsed, before, asking, ports)
    versions = PythonVersions(case.submission.files, ports.workspace)
    for entry in parsed:
        if isinstance(entry.answer, NotInspected):
            yield from _unparsed(entry, is_too_large=entry.file.path not in answers)
        else:
            path = entry.file.path
            problems = [
                problem for problem in entry.answer if not versions.cover(path, problem.since)
            ]
            yield from _findings(entry, problems, earlier.get(path, frozenset()))


class _Asking:
    """Asks the probe within bounds of time and of losses.

    After `seconds` nothing more is asked; what was asked by then may take its own time.
    """

    def __init__(self, ports: Ports, seconds: float) -> None:
        self._ports = ports
        self._until = ports.clock() + seconds
        self._losses = 0

    def about(
        self, batch: Sequence[SubmittedFile], read: Callable[[str], bytes] | None = None
    ) -> Sequence[Answer]:
        """Ask for all at once; when that is lost, for each file, so that one spoils no other."""
        read = read or self._ports.workspace.read
        if self._losses >= MAX_LOSSES:
            return [NotInspected("The probe was lost too often.")] * len(batch)
        if self._ports.clock() > self._until:
            return [NotInspected("The other files took too long.")] * len(batch)
        try:
            return self._ports.probe.syntax([(file.path, read(file.path)) for file in batch])
        except CouldNotInspect as error:
            if len(batch) == 1:
                self._losses += 1
                return [NotInspected(str(error))]
        return [self.about([file], read)[0] for file in batch]


def _broken_on_purpose(case: Case) -> Callable[[str], bool]:
    """Tell the paths below folders of fixtures, and those that the process lists."""
    listed = case.definition.policy.syntax_advisory_paths
    meanings = meant_by(listed, case.submission.files).values() if listed else ()
    # Of a wildcard that was one too many to be tried, nobody knows what it means: it may be all.
    is_all = None in meanings
    paths = {file.path for meant in meanings if meant for file in meant.files}

    def is_on_purpose(path: str) -> bool:
        folders = path.casefold().split("/")[:-1]
        return is_all or path in paths or not FIXTURE_FOLDERS.isdisjoint(folders)

    return is_on_purpose


def _earlier_problems(
    parsed: Sequence[ParsedFile], before: FilesBefore, asking: _Asking, ports: Ports
) -> dict[str, frozenset[SyntaxProblem] | NotInspected]:
    """By path, which problems that would be hard the file had before the work.

    Absent: none, or nothing is known of that time. One file at a time: few are broken, and what
    they were before may be large.
    """
    earlier: dict[str, frozenset[SyntaxProblem] | NotInspected] = {}
    for entry in parsed:
        if isinstance(entry.answer, NotInspected) or not entry.blames:
            continue
        certain = [problem for problem in entry.answer if problem.certain]
        if not certain:
            continue
        now = ports.workspace.read(entry.file.path)
        then = before.content(entry.file, now)
        if then == now:
            earlier[entry.file.path] = frozenset(certain)
        elif then:
            earlier[entry.file.path] = _parse_before(entry, certain, asking, (now, then))
    return earlier


def _parse_before(
    entry: ParsedFile,
    certain: Sequence[SyntaxProblem],
    asking: _Asking,
    texts: tuple[bytes, bytes],
) -> frozenset[SyntaxProblem] | NotInspected:
    _, then = texts
    file = replace(entry.file, size=len(then))
    if _is_too_large(file):
        return NotInspected("Too large to be parsed.")
    [answer] = asking.about([file], lambda _path: then)
    if isinstance(answer, NotInspected):
        return answer
    return problems_before(certain, [problem for problem in answer if problem.certain], texts)


def _findings(
    entry: ParsedFile,
    problems: Sequence[SyntaxProblem],
    earlier: frozenset[SyntaxProblem] | NotInspected,
) -> Iterator[Finding]:
    if isinstance(earlier, NotInspected):
        enforcement = Enforcement.HARD if entry.is_declared else Enforcement.ADVISORY
        yield _unknown(entry.file, _BEFORE_UNKNOWN.format(earlier.why), enforcement)
    # However many remarks there are, what is certain is told.
    ordered = sorted(problems, key=lambda problem: not problem.certain)
    for problem in ordered[:MAX_PROBLEMS_PER_FILE]:
        is_new = not isinstance(earlier, NotInspected) and problem not in earlier
        is_before = not is_new and not isinstance(earlier, NotInspected)
        yield violated(
            ID,
            "syntax_invalid",
            _BEFORE.format(problem.message) if is_before else problem.message,
            enforcement=_enforcement(problem, blames=entry.blames and is_new),
            target=Target.DELIVERABLES,
            path=entry.file.path,
            line=problem.line or None,
            column=problem.column or None,
            place=None if problem.certain else {"certain": False},
        )


def _enforcement(problem: SyntaxProblem, *, blames: bool) -> Enforcement:
    if problem.note:
        return Enforcement.OBSERVE
    return Enforcement.HARD if problem.certain and blames else Enforcement.ADVISORY


def _unparsed(entry: ParsedFile, *, is_too_large: bool) -> Iterator[Finding]:
    """What a file that could not be parsed means: nothing where a size that nobody asked for is why."""
    assert isinstance(entry.answer, NotInspected)  # noqa: S101 - the caller has looked
    if is_too_large:
        if entry.is_declared:
            yield _unknown(entry.file, entry.answer.why, Enforcement.ADVISORY)
        return
    if not entry.is_declared and entry.answer.why in BEYOND_BOUNDS:
        return
    # No answer could have been held against the work: nothing is lost that was asked for.
    matters = entry.is_declared and entry.blames and _is_certain(entry.file.path)
    enforcement = Enforcement.HARD if matters else Enforcement.ADVISORY
    yield _unknown(entry.file, f"Could not be parsed: {entry.answer.why}", enforcement)


def _unknown(file: SubmittedFile, message: str, enforcement: Enforcement) -> Finding:
    return not_inspected(
        ID, message, enforcement=enforcement, target=Target.DELIVERABLES, path=file.path
    )


def _is_certain(path: str) -> bool:
    grammar = grammar_of(path)
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
