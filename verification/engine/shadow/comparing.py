"""All that two verifiers made of the same work, compared."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from processes.definition.model import Enforcement
from verification.engine.finding import Finding, TraceEntry, TraceReason
from verification.engine.outcome import Outcome, Verdict
from verification.engine.shadow.aligning import ALONE, Aligned, aligned
from verification.engine.shadow.classes import DiffClass, diff_class
from verification.engine.shadow.telling import Differing, summary

KIND_CHARS = 16
Scopes = Mapping[str, tuple[TraceReason | None, TraceReason | None]]


@dataclass(frozen=True, slots=True)
class Full:
    """All that one verifier made of the work; '' where there is no reason or no class of one."""

    outcome: Outcome
    verdict: Verdict
    reason_code: str = ""
    severity_class: str = ""
    findings: Sequence[Finding] = ()
    trace: Sequence[TraceEntry] = ()

    @property
    def is_lost(self) -> bool:
        """It ended before it had looked at anything: what it did not find says nothing."""
        return self.verdict is Verdict.UNDECIDED and not self.findings and not self.trace


class Finer(StrEnum):
    """Where two sides differ, whatever the class of their difference."""

    OUTCOME = "outcome"
    REASON = "reason"
    SEVERITY_CLASS = "severity_class"
    FINDINGS = "findings"
    """One side alone found it, or is in doubt about it, or gives another reason for it."""
    ENFORCEMENT = "enforcement"
    SEVERITY = "severity"
    WARNINGS = "warnings"
    """The findings that differ are advisory on a side."""
    SCOPE = "scope"
    """A rule was applied on one side and skipped on the other."""


@dataclass(frozen=True, slots=True)
class Compared:
    """`rules`: those on which the sides differ, by name. `summary`: what differs, for people.

    Rules that found nothing are named only where no other differs. `kind` names the same difference wherever it occurs: of the same class, on the same rules,
    in the same way. Places, wording and how often play no part; '' where nothing differs.
    """

    diff_class: DiffClass
    finer: tuple[Finer, ...]
    rules: tuple[str, ...]
    summary: str
    kind: str


def compare(old: Full, new: Full) -> Compared:
    """Source: docs/engine.md, "Old and new"."""
    rows, scopes = _differing(old, new)
    told = diff_class(old, new)
    changed = [row for row in rows if row.differs]
    finer = tuple(dict.fromkeys(_finer(old, new, changed, scopes)))
    if told is DiffClass.NO_DIFF and not finer:
        return Compared(told, (), (), "", "")
    differing = _by_rule(changed, scopes)
    return Compared(
        diff_class=told,
        finer=tuple(sorted(finer, key=list(Finer).index)),
        rules=tuple(differing),
        summary=summary(old, new, differing),
        kind=_kind(told, differing, _unexplained(old, rows), _unexplained(new, rows)),
    )


def scope_changes(old: Iterable[TraceEntry], new: Iterable[TraceEntry]) -> Scopes:
    """By rule: the reasons of both sides, where one applied it and the other did not.

    None: that side does not know the rule. What a tier was not reached for is no matter of
    scope, and left out.
    """
    left, right = _by_name(old), _by_name(new)
    return {
        rule: (left[rule].reason if rule in left else None,
               right[rule].reason if rule in right else None)
        for rule in sorted({*left, *right})
        if _applied(left.get(rule)) is not _applied(right.get(rule))
        and not any(_was_not_reached(side.get(rule)) for side in (left, right))
    }  # fmt: skip


def _by_name(trace: Iterable[TraceEntry]) -> Mapping[str, TraceEntry]:
    """Names are unique in a process; if not, what applied holds."""
    order = sorted(trace, key=lambda one: (one.applied, one.reason))
    return {one.rule: one for one in order}


def _applied(entry: TraceEntry | None) -> bool:
    return entry is not None and entry.applied


def _was_not_reached(entry: TraceEntry | None) -> bool:
    return entry is not None and entry.reason is TraceReason.TIER_NOT_REACHED


def _differing(old: Full, new: Full) -> tuple[Sequence[Aligned], Scopes]:
    if old.is_lost or new.is_lost:
        return (), {}
    return aligned(old.findings, new.findings), scope_changes(old.trace, new.trace)


def _finer(old: Full, new: Full, changed: Sequence[Aligned], scopes: Scopes) -> Iterator[Finer]:
    if old.outcome is not new.outcome:
        yield Finer.OUTCOME
    if old.reason_code != new.reason_code:
        yield Finer.REASON
    if old.severity_class != new.severity_class:
        yield Finer.SEVERITY_CLASS
    for row in changed:
        yield from (_FINER_OF[name] for name in row.changes)
        if any(one.enforcement is Enforcement.ADVISORY for one in row.sides):
            yield Finer.WARNINGS
    if scopes:
        yield Finer.SCOPE


_FINER_OF: Mapping[str, Finer] = {
    ALONE: Finer.FINDINGS,
    "verdict": Finer.FINDINGS,
    "reason_code": Finer.FINDINGS,
    "enforcement": Finer.ENFORCEMENT,
    "severity": Finer.SEVERITY,
}


def _by_rule(changed: Sequence[Aligned], scopes: Scopes) -> Mapping[str, Differing]:
    """A rule that applied on one side alone and found nothing made no difference.

    Such rules are named where nothing else is.
    """
    names = sorted({row.rule for row in changed} or scopes)
    return {
        name: Differing(
            scope=scopes.get(name),
            rows=[row for row in changed if row.rule == name],
        )
        for name in names
    }


def _unexplained(side: Full, rows: Sequence[Aligned]) -> str:
    """A side's reason, unless it rests on what both sides found: that is no part of a difference."""
    shared = {row.new.reason_code for row in rows if row.new and not row.differs}
    return "" if side.reason_code in shared else side.reason_code


def _kind(
    told: DiffClass, differing: Mapping[str, Differing], old_reason: str, new_reason: str
) -> str:
    parts = [
        told,
        old_reason,
        new_reason,
        {rule: sorted(set(one.marks)) for rule, one in differing.items()},
    ]
    text = json.dumps(parts, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:KIND_CHARS]
