"""From a document to a case that can be replayed: every error with its place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from loomverify.errors import InputError, Issue, Loc
from processes.definition.load import load
from processes.definition.model import Definition
from verification.engine.finding import Finding
from verification.engine.gates import GateReport
from verification.engine.golden.given import Decided, Given, History, Recording, Seats
from verification.engine.judges.asking import Ask
from verification.engine.outcome import Verdict
from verification.engine.progress import EarlierFindings
from verification.engine.reports.model import (
    Problem,
    TestCase,
    TestCounts,
)
from verification.golden.documents.playable import refuse_unplayable
from verification.golden.documents.schemas import (
    CaseIn,
    DecidedIn,
    GateIn,
    HistoryIn,
    ReplyIn,
    SeatsIn,
)
from verification.runs.evidence_store import Digest, digest_of
from verification.runs.intake.reading import (
    MAX_SHOWN_ISSUES,
    inline_files,
    refuse_unkeepable,
    validate_body,
)
from verification.runs.intake.schemas import RunIn
from verification.runs.submission import submission_of

NONE_AT_ALL = ("review", "artefacts", "remediations")
NOT_IN_RUN = (
    "process",
    "process_version",
    "phase",
    "tier",
    "files",
    "base",
    "change",
    "remediation",
)


@dataclass(frozen=True, slots=True)
class ReadCase:
    """A checked document. `expected` holds what it names, and nothing else."""

    document: CaseIn
    given: Given
    files: Mapping[str, bytes]
    expected: Mapping[str, Any]
    definition: Definition | None
    """The case's own process, where it has one."""


@dataclass(frozen=True, slots=True)
class Spec:
    """A checked document whose files are known by their digests alone."""

    document: CaseIn
    given: Given
    expected: Mapping[str, Any]
    definition: Definition | None


def read_case(document: Mapping[str, Any], *, loc: Loc = ("body",)) -> ReadCase:
    """Check a whole case.

    Raises:
        InputError: 422, all that is wrong with its place.
    """
    refuse_unkeepable(document, loc)
    checked = _checked(document, loc)
    refuse_unplayable(checked, loc)
    run = _run_of(checked, loc)
    files = inline_files(run, loc=loc)
    digests = {path: digest_of(content) for path, content in files.items()}
    spec = _read(checked, run, digests, loc)
    return ReadCase(checked, spec.given, files, spec.expected, spec.definition)


def read_spec(document: Mapping[str, Any], files: Mapping[str, Digest]) -> Spec:
    """Read a document that was checked before; `files` stand in for its own."""
    checked = CaseIn.model_validate(document)
    return _read(checked, _run_of(checked, ()), files, ())


def _read(checked: CaseIn, run: RunIn, files: Mapping[str, Digest], loc: Loc) -> Spec:
    kept = run.model_dump(exclude={"files"}, exclude_none=True)
    given = Given(
        phase=checked.phase,
        submission=submission_of(kept, files),
        tier=checked.tier,
        recordings=_recordings(checked.replies),
        seats=_seats(checked.judges),
        gates=None if checked.gates is None else [_gate(one) for one in checked.gates],
        history=_history(checked.history),
        decided=_decided(checked.decided),
        fence=checked.fence,
    )
    expected = checked.expected.model_dump(exclude_unset=True, mode="json")
    if not any(_looks_at(name, value) for name, value in expected.items()):
        raise InputError("case.expects_nothing", "Name at least one thing.", loc=(*loc, "expected"))
    return Spec(checked, given, expected, _own_process(checked, loc))


def _looks_at(name: str, value: Any) -> bool:
    """Whether it can differ from anything: an empty list of what is to be made says "none"."""
    if name in NONE_AT_ALL and value is not None:
        return True
    if isinstance(value, dict):
        return any(_looks_at(within, one) for within, one in value.items())
    return value != [] and not (name == "only" and value is False)


def _history(history: HistoryIn) -> History:
    if history.findings is None:
        return History(**history.model_dump())
    problems = [
        (problem.is_gone, Finding(**problem.model_dump(exclude={"is_gone"})))
        for problem in history.findings
    ]
    earlier = EarlierFindings(
        open=tuple(finding for is_gone, finding in problems if not is_gone),
        gone=tuple(finding for is_gone, finding in problems if is_gone),
    )
    return History(**{**history.model_dump(), "findings": earlier})


def _decided(one: DecidedIn | None) -> Decided | None:
    if one is None:
        return None
    return Decided(**{**one.model_dump(), "verdict": Verdict(one.verdict)})


def _checked(document: Mapping[str, Any], loc: Loc) -> CaseIn:
    try:
        return CaseIn.model_validate(document)
    except ValidationError as error:
        issues = [
            Issue(code=entry["type"], msg=entry["msg"], loc=(*loc, *entry["loc"]))
            for entry in error.errors(include_url=False, include_input=False)
        ]
        raise InputError.of(issues[:MAX_SHOWN_ISSUES]) from error


def _run_of(case: CaseIn, loc: Loc) -> RunIn:
    for name in NOT_IN_RUN:
        if name in case.run:
            raise InputError(
                "case.run_field", f"{name} belongs to the case itself.", loc=(*loc, "run", name)
            )
    body = {**case.run, "process": case.process, "files": case.model_dump()["files"]}
    return validate_body(body, loc=(*loc, "run"))


def _seats(one: SeatsIn) -> Seats:
    return Seats(one.primary, one.alternate, tuple(one.panel), one.prompt_chars)


def _recordings(replies: list[ReplyIn]) -> tuple[Recording, ...]:
    """Numbered in their order where a document does not number them."""
    seen: Counter[tuple[int, Ask]] = Counter()
    found = []
    for one in replies:
        seen[one.tier, one.ask] += 1
        number = one.number or seen[one.tier, one.ask]
        found.append(
            Recording(one.tier, one.ask, number, one.text, one.lost, one.is_cut, one.prompt)
        )
    return tuple(found)


def _gate(one: GateIn) -> GateReport:
    tests = TestCounts(**one.tests.model_dump()) if one.tests else None
    return GateReport(
        one.gate, one.status, one.component, one.exit_code, tests, one.detail,
        is_guess=one.is_guess, is_word=one.is_word,
        contradiction=one.contradiction, is_lost=one.is_lost,
        failures=tuple(TestCase.from_json(case.model_dump()) for case in one.failures),
        problems=tuple(Problem.from_json(problem.model_dump()) for problem in one.problems),
        problem_count=len(one.problems) + one.old_problems or None,
        old_failures=one.old_failures, old_problems=one.old_problems, is_old=one.is_old,
    )  # fmt: skip


def _own_process(case: CaseIn, loc: Loc) -> Definition | None:
    if not case.process_text:
        return None
    loaded = load(case.process_text)
    if loaded.definition is None:
        issues = [
            Issue(one.code, f"Line {one.line}: {one.message}", (*loc, "process_text", one.line))
            for one in loaded.errors[:MAX_SHOWN_ISSUES]
        ]
        raise InputError.of(issues)
    return loaded.definition
