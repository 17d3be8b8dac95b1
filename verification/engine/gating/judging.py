"""From how a command ended, and what it reported, to what its gate says of the work."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

import re2

from verification.engine.gates import OUT_OF_MEMORY_EXIT_CODE, GateReport, contradiction_of
from verification.engine.gating.outside import tells_of_network
from verification.engine.gating.stages import (
    BUILD,
    INSTALL,
    LINT,
    RUN,
    SECURITY,
    TEST,
    TYPES,
    Ended,
    Part,
    Stage,
    Stream,
)
from verification.engine.gating.written import last_words, readable
from verification.engine.outcome import Status
from verification.engine.reports.coverage import read_coverage
from verification.engine.reports.model import (
    CaseStatus,
    Coverage,
    Problem,
    ProblemReport,
    ProblemSeverity,
    TestCounts,
    TestReport,
    Unreadable,
)
from verification.engine.reports.problems import ProblemFormat, read_problems
from verification.engine.reports.record import Record
from verification.engine.reports.testing import TestFormat, read_tests

TIME_EXIT_CODE = 124
ENDED_FOR_TIME = "ended with exit code 124, as a command does whose own time is over"
COULD_NOT_RUN = {126: "its command could not be executed", 127: "its command was not found"}
NO_TESTS_EXIT_CODE = 5
MAX_TOLD = 50
MAX_EXCUSE_CHARS = 300
# Runners of Node that find no test file fail by it, which pytest has an exit code of its own for.
NONE_FOUND: Mapping[TestFormat | ProblemFormat, re.Pattern[str]] = {
    TestFormat.JEST: re.compile(r"^No test(?: file)?s found, exiting with code 1$", re.MULTILINE),
    TestFormat.MOCHA: re.compile(r"^Error: No test files found", re.MULTILINE),
}
NO_REPORT = "There is none."
_NONE_OFFERED = b"(from versions: none)"
"""So pip says of any package where there is no network."""
UNKNOWN = "which failures there are is not known"
OWN_WORD = "The work itself names the command."


@dataclass(frozen=True, slots=True)
class Judged:
    """What goes into the evaluation, and what is kept beside it for people to read."""

    report: GateReport
    tests: TestReport | None = None
    problems: ProblemReport | None = None
    coverage: Coverage | None = None

    @property
    def record(self) -> Record:
        return Record(self.tests, self.problems, self.coverage)


def judged(part: Part, stage: Stage, ended: Ended) -> Judged:
    """Source: docs/engine.md, "Gates"."""
    found = _judged(part, stage, ended)
    # Here once for all who ask: a score, a base, whoever takes the result over, the page.
    said = contradiction_of(found.report)
    found = replace(found, report=replace(found.report, contradiction=said))
    if stage.cover is None or ended.coverage is None:
        return found
    try:
        coverage = read_coverage(
            stage.cover.format,
            ended.coverage,
            part.component.folder,
            module=stage.cover.module,
            known=part.files,
        )
    except Unreadable:
        return found
    report = replace(found.report, coverage=coverage.lines, is_coverage_word=stage.cover.is_word)
    return replace(found, report=report, coverage=coverage)


def _judged(part: Part, stage: Stage, ended: Ended) -> Judged:
    told = GateReport(
        gate=stage.gate,
        status=Status.PASSED if ended.exit_code == 0 else Status.FAILED,
        component=part.component.name,
        exit_code=ended.exit_code,
        command=stage.command,
        duration_ms=ended.duration_ms,
        detail=_detail(part, stage, ended) if ended.exit_code == 0 else "",
        is_word=bool(stage.expected and stage.expected.is_word),
    )
    if ended.is_lost:
        return Judged(replace(told, status=Status.ERROR, is_lost=True, detail=ended.lost))
    if ended.is_timed_out or ended.exit_code == TIME_EXIT_CODE:
        return Judged(_timed_out(part, stage, ended, told))
    if stage.is_apart and ended.exit_code == OUT_OF_MEMORY_EXIT_CODE:
        return Judged(_ours(told, "ran out of memory"))
    if ended.exit_code in COULD_NOT_RUN:
        why = f"{told.name}: {COULD_NOT_RUN[ended.exit_code]}.{last_words(ended)}"
        return Judged(replace(told, status=Status.ERROR, detail=why))
    if stage.gate == INSTALL and (excused := _excused(part, ended, told)):
        return Judged(excused)
    if stage.gate == TEST:
        return _tested(part, stage, ended, told)
    return _looked_at(part, stage, ended, told)


def _timed_out(part: Part, stage: Stage, ended: Ended, told: GateReport) -> GateReport:
    seconds = stage.seconds or part.seconds[stage.gate]
    if stage.is_apart:
        return _ours(told, f"had more to do than {seconds} s were enough for")
    took = f"took longer than {seconds} s" if ended.is_timed_out else ENDED_FOR_TIME
    why = f"{told.name} {took}.{last_words(ended)}"
    if stage.gate == INSTALL:  # a slow mirror looks the same
        return replace(told, status=Status.ERROR, is_lost=True, detail=why)
    return replace(told, status=Status.TIMED_OUT, detail=why)


def _excused(part: Part, ended: Ended, told: GateReport) -> GateReport | None:
    """An install that failed for the network's or the image's sake; None where it did not."""
    if ended.exit_code == 0:
        return None
    if tells_of_network(ended.out + ended.err):
        why = f"{told.name} did not reach what it needs.{last_words(ended)}"
        return replace(told, status=Status.ERROR, is_lost=True, detail=why)
    if excuse := _excuse(part, ended):
        why = f"{told.name}: its image has not what the work needs. {excuse}{last_words(ended)}"
        return replace(told, status=Status.ERROR, detail=why)
    return None


def _excuse(part: Part, ended: Ended) -> str:
    """The line that says what the image lacks."""
    pattern = part.install.excuses
    if not pattern:
        return ""
    line = re2.search(f"(?m)^.*(?:{pattern}).*$".encode(), ended.out + b"\n" + ended.err)
    return readable(line[0]).strip()[:MAX_EXCUSE_CHARS] if line else ""


def _ours(told: GateReport, why: str) -> GateReport:
    """Nothing of the work was run: what our own tools need is none of its faults."""
    said = f"{told.name}: what looks at the work {why}. That says nothing of the work."
    return replace(told, status=Status.ERROR, detail=said)


def _tested(part: Part, stage: Stage, ended: Ended, told: GateReport) -> Judged:
    if _found_none(stage, ended):
        said = last_words(ended).strip()
        return Judged(
            replace(told, status=Status.SKIPPED, exit_code=None, tests=TestCounts(), detail=said)
        )
    try:
        report = _test_report(part, stage, ended)
    except Unreadable as error:
        return Judged(_offline(_without_report(told, stage, ended, str(error)), stage, ended))
    report = _explained(report, ended)
    told = replace(
        told,
        tests=report.counts,
        failures=tuple(one for one in report.cases if one.status.is_bad)[:MAX_TOLD],
        is_guess=report.is_guess,
    )
    if stage.trailer and ended.exit_code == 0 and stage.trailer not in readable(ended.out):
        why = "ended well before its runner came to its end"
        return Judged(replace(told, contradiction=why), tests=report)
    if report.is_guess and not report.counts.ran and ended.exit_code not in (0, NO_TESTS_EXIT_CODE):
        told = _offline(replace(told, tests=None, is_guess=False), stage, ended)
    if told.status is Status.FAILED and not told.failures:
        told = replace(told, detail=f"{told.name} failed.{last_words(ended)}")
    return Judged(told, tests=report)


def _offline(told: GateReport, stage: Stage, ended: Ended) -> GateReport:
    """Somebody's own command that would fetch something first, which only an install can."""
    is_bare = stage.is_given and stage.expected is None and told.status is Status.FAILED
    written = ended.out + ended.err
    if not is_bare or not (_NONE_OFFERED in written or tells_of_network(written)):
        return told
    said = f"{told.name} asked for the network, which only an install has.{last_words(ended)}"
    return replace(told, status=Status.ERROR, detail=said)


def _found_none(stage: Stage, ended: Ended) -> bool:
    """Whether the runner says itself that it ended for want of tests, and reports nothing else."""
    said = NONE_FOUND.get(stage.expected.format) if stage.expected else None
    if said is None or ended.exit_code != 1 or ended.report:
        return False
    return any(said.search(readable(one)) for one in (ended.out, ended.err))


def _explained(report: TestReport, ended: Ended) -> TestReport:
    """A run that failed by itself, and no test of it, says why in what it wrote, if anywhere."""
    bad = [one for one in report.cases if one.status.is_bad]
    if len(bad) != 1 or bad[0].status is not CaseStatus.ERROR or bad[0].message or bad[0].path:
        return report
    said = replace(bad[0], message=last_words(ended).strip())
    return replace(report, cases=tuple(said if one is bad[0] else one for one in report.cases))


def _test_report(part: Part, stage: Stage, ended: Ended) -> TestReport:
    """Raises `Unreadable`: what was to be written was not."""
    if stage.expected is None:
        try:
            return read_tests(TestFormat.TEXT, ended.out + b"\n" + ended.err)
        except Unreadable:
            if ended.exit_code != 0:
                raise
            return TestReport(TestCounts(), is_guess=True)
    assert isinstance(stage.expected.format, TestFormat)  # noqa: S101 - by the recipes
    content = _reported(stage, ended)
    if content is None:
        raise Unreadable(NO_REPORT)
    return read_tests(stage.expected.format, content, part.component.folder)


def _without_report(told: GateReport, stage: Stage, ended: Ended, why: str) -> GateReport:
    """A runner that fails may owe its report; one that says it went well may not."""
    if ended.exit_code == 0:
        return replace(
            told, contradiction=f"ended well, with nothing to show for it: {why.rstrip('.')}"
        )
    said = "failed."
    if stage.expected:
        said = f"failed, and {UNKNOWN}: {why}" if why != NO_REPORT else "wrote no report."
    return replace(told, detail=f"{told.name} {said}{last_words(ended)}")


def _looked_at(part: Part, stage: Stage, ended: Ended, told: GateReport) -> Judged:
    if stage.expected is None:
        if told.status is Status.FAILED:
            told = replace(told, detail=f"{told.name} failed.{last_words(ended)}")
        return Judged(_offline(told, stage, ended) if stage.gate != RUN else told)
    assert isinstance(stage.expected.format, ProblemFormat)  # noqa: S101 - by the recipes
    try:
        content = _reported(stage, ended)
        if content is None:
            raise Unreadable(NO_REPORT)
        found = read_problems(stage.expected.format, content, part.component.folder)
    except Unreadable as error:
        return Judged(_unread(told, ended, str(error)))
    why = _passed_over(stage, ended, found)
    told = replace(
        told, problems=found.problems[:MAX_TOLD], problem_count=found.total, contradiction=why
    )
    if told.status is Status.FAILED and not found.total:
        return Judged(_unread(told, ended, "It names nothing."), problems=found)
    return Judged(told, problems=found)


def _passed_over(stage: Stage, ended: Ended, found: ProblemReport) -> str:
    """What ended well, and names errors. A build says much on its way: javac's places count."""
    errors = found.total if stage.gate == TYPES else 0
    if stage.gate == BUILD and stage.expected and stage.expected.format is ProblemFormat.JAVAC:
        errors = sum(map(_is_of_javac, found.problems))
    said = f"ended well, and reports {errors} error{'' if errors == 1 else 's'}"
    return said if errors and ended.exit_code == 0 else ""


def _is_of_javac(problem: Problem) -> bool:
    """Checkstyle's look the same, but for what kind they are of."""
    is_error = problem.severity is ProblemSeverity.HIGH and problem.line is not None
    return is_error and not problem.message.startswith("(")


def _unread(told: GateReport, ended: Ended, why: str) -> GateReport:
    """A tool that looks at the work, and did not say what it saw: never zero problems."""
    if told.gate == BUILD and ended.exit_code == 0:
        return told  # built is built, whatever was said on the way
    is_looked_at = told.gate in (LINT, SECURITY) or (told.gate == TYPES and ended.is_whole)
    is_doubt = is_looked_at and ended.exit_code != OUT_OF_MEMORY_EXIT_CODE
    if is_doubt or ended.exit_code == 0:
        said = f"What {told.name} found could not be read. {why}{last_words(ended)}"
        return replace(told, status=Status.ERROR, detail=said)
    return replace(told, detail=f"{told.name} failed.{last_words(ended)}")


def _reported(stage: Stage, ended: Ended) -> bytes | None:
    if stage.expected is None or stage.expected.stream is Stream.FILE:
        return ended.report
    if not ended.is_whole:
        raise Unreadable("It is too long to be kept whole.")
    return ended.out if stage.expected.stream is Stream.OUT else ended.err


def noted(part: Part, ended: Ended) -> str:
    """What an install that went well tells of itself."""
    written = frozenset(ended.out.splitlines() + ended.err.splitlines())
    return " ".join(one for one in part.install.notes if one.encode() in written)


def _detail(part: Part, stage: Stage, ended: Ended) -> str:
    return noted(part, ended) if stage.gate == INSTALL else own_word(stage)


def own_word(stage: Stage) -> str:
    """Whoever reads of a gate that passed is told whose word it went by."""
    return OWN_WORD if stage.is_own else stage.note
