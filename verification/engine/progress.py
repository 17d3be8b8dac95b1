"""Progress of a task: its findings compared with those of its earlier attempts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from processes.definition.model import Enforcement
from verification.engine.finding import TEST, Finding, TraceVerdict
from verification.engine.outcome import FindingVerdict, Source, Status

if TYPE_CHECKING:
    from verification.engine.climb import Conclusion

MAX_PER_RULE = 50
"""Rules and gates list so many findings: a problem that is not among them may be there still."""
COUNTED = (Enforcement.HARD, Enforcement.ADVISORY)
LAST_CHECKS = frozenset({"claims", "custom-verifier"})
"""Checks that have no say about work that another check rejects."""


Name = tuple[str, ...]
"""What identifies a problem in all attempts of a task."""


class SinceLast(StrEnum):
    """How a finding compares with the earlier attempts of its task."""

    NEW = "new"
    REMAINS = "remains"
    BACK = "back"


@dataclass(frozen=True, slots=True)
class EarlierFindings:
    """The problems that earlier attempts of a task had.

    `open`: those of the last attempt, and older ones that it did not check. `gone`: those that
    an earlier attempt had, and the last one had not.
    """

    open: tuple[Finding, ...] = ()
    gone: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class Progress:
    """What changed since the last attempt.

    `since_last` is keyed by fingerprint. `resolved`: an earlier problem that was checked and is
    gone. `not_checked`: this evaluation cannot tell whether the problem is gone.
    """

    since_last: Mapping[str, SinceLast] = field(default_factory=dict, hash=False)
    resolved: tuple[Finding, ...] = ()
    not_checked: tuple[Finding, ...] = ()


def is_problem(finding: Finding) -> bool:
    """Whether a finding counts as a problem that an agent can resolve."""
    return finding.verdict is FindingVerdict.VIOLATED and finding.enforcement in COUNTED


def identity(finding: Finding) -> Name:
    """Name a problem so that a later attempt recognises it.

    A judge words the same objection differently each time, and a failed test reports other
    values: the rule and the test's name identify them. Everything else has its fingerprint.
    """
    if finding.source is Source.LLM:
        return ("judge", finding.rule)
    if TEST in finding.place:
        return ("test", finding.rule, finding.place.get("component", ""), finding.place[TEST])
    return ("finding", finding.rule, finding.fingerprint)


def compare(conclusion: Conclusion, earlier: EarlierFindings | None) -> Progress:
    """Compare the findings of an evaluation with those of the task's earlier attempts.

    `earlier` None: this is the first attempt, and nothing can be compared.

    Source: docs/engine.md, "Feedback".
    """
    if earlier is None:
        return Progress()
    open_before = {identity(finding) for finding in earlier.open}
    gone_before = {identity(finding) for finding in earlier.gone}
    since_last = {}
    for finding in filter(is_problem, conclusion.findings):
        name = identity(finding)
        if name in open_before:
            since_last[finding.fingerprint] = SinceLast.REMAINS
        elif name in gone_before:
            since_last[finding.fingerprint] = SinceLast.BACK
        else:
            since_last[finding.fingerprint] = SinceLast.NEW
    present = {
        identity(finding)
        for finding in conclusion.findings
        if finding.verdict is FindingVerdict.VIOLATED
    }
    absent_now = {identity(one): one for one in earlier.open if identity(one) not in present}
    unchecked = _unchecked(conclusion, absent_now)
    return Progress(
        since_last,
        resolved=tuple(one for name, one in absent_now.items() if name not in unchecked),
        not_checked=tuple(one for name, one in absent_now.items() if name in unchecked),
    )


def _unchecked(conclusion: Conclusion, problems: Mapping[Name, Finding]) -> set[Name]:
    """Return the problems of which this evaluation cannot tell whether they are gone."""
    counts = Counter(finding.rule for finding in conclusion.findings)
    unknown = {
        finding.rule for finding in conclusion.findings if finding.verdict is FindingVerdict.UNKNOWN
    }
    unknown |= {
        entry.rule
        for entry in conclusion.trace
        if entry.verdict in (TraceVerdict.UNKNOWN, TraceVerdict.NOT_REACHED)
    }
    rejecting = {
        finding.rule for finding in conclusion.findings if finding.enforcement is Enforcement.HARD
    }
    return {
        name
        for name, problem in problems.items()
        if problem.tier > conclusion.tier_achieved
        or problem.rule in unknown
        or counts[problem.rule] >= MAX_PER_RULE
        or (problem.rule in LAST_CHECKS and rejecting - {problem.rule})
        or (problem.source is Source.GATE and not _was_measured(conclusion, problem))
    }


def _was_measured(conclusion: Conclusion, problem: Finding) -> bool:
    """Whether the gate that found a problem ran to its end and reported everything."""
    reports = [report for report in conclusion.gates if report.gate == problem.rule]
    component = problem.place.get("component", "")
    own = [report for report in reports if report.component == component] or reports
    return bool(own) and all(
        report.status in (Status.PASSED, Status.FAILED)
        and not report.was_cut_off
        and not report.ran_no_test
        for report in own
    )


def summarize(progress: Progress) -> str:
    """Say what changed, as in "3 resolved, 1 new"; '' where nothing can be compared."""
    return count_words(
        progress.since_last.values(), len(progress.resolved), len(progress.not_checked)
    )


def count_words(since_last: Iterable[str | None], resolved: int, not_checked: int) -> str:
    """Say how many findings are new, remain and so on.

    >>> count_words(["new", None], resolved=3, not_checked=0)
    '3 resolved, 1 new'
    """
    counts = Counter(since_last)
    worded = [
        (resolved, "resolved"),
        (counts[SinceLast.NEW], "new"),
        (counts[SinceLast.BACK], "back"),
        (counts[SinceLast.REMAINS], "remaining"),
        (not_checked, "not checked"),
    ]
    return ", ".join(f"{count} {word}" for count, word in worded if count)
