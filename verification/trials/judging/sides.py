"""The two sides of a comparison, as pages show them: of a run's rows, or of a golden case."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from verification.engine.finding import Finding, TraceEntry
from verification.engine.shadow import Aligned, Full, aligned, scope_changes
from verification.engine.shadow.aligning import ALONE
from verification.engine.shadow.observed import full_of_observed
from verification.runs import places, wording
from verification.trials.judging import wording as words
from verification.trials.models import Comparison, Origin
from verification.trials.sides import full_of

MAX_FINDINGS: Final = 200
UNKNOWN: Final = "no such rule"


@dataclass(frozen=True, slots=True)
class FoundRow:
    """A finding of both sides, or of one alone. `number` counts from 1.

    `changes` says what differs, in words; empty: nothing that counts does.
    """

    number: int
    pair: Aligned
    changes: Sequence[str]

    @property
    def row(self) -> Finding:
        """The one that is told: the new one's, where both found it."""
        return self.pair.new or self.pair.sides[0]

    @property
    def other_words(self) -> str:
        """What the old one said of it, where that is not the same."""
        old, new = self.pair.old, self.pair.new
        return old.message if old and new and old.message != new.message else ""

    @property
    def place(self) -> str:
        return places.place_of(self.row)  # type: ignore[arg-type]

    @property
    def differs(self) -> bool:
        return self.pair.differs


@dataclass(frozen=True, slots=True)
class ScopeRow:
    """A rule that one side applied and the other did not, with the reasons of both."""

    rule: str
    old: str
    new: str


@dataclass
class Sides:
    """Read when the template asks for them. A side that nothing is kept of any more is None."""

    row: Comparison

    @cached_property
    def fulls(self) -> tuple[Full | None, Full | None]:
        if self.row.origin == Origin.CORPUS:
            seen = (self.row.old_observed, self.row.new_observed)
            return tuple(full_of_observed(one) if one else None for one in seen)  # type: ignore[return-value]
        ids = (self.row.old_evaluation_id, self.row.new_evaluation_id)
        found = full_of([one for one in ids if one is not None])
        return found.get(ids[0] or 0), found.get(ids[1] or 0)

    @property
    def old(self) -> Full | None:
        return self.fulls[0]

    @property
    def new(self) -> Full | None:
        return self.fulls[1]

    @property
    def is_kept(self) -> bool:
        return self.old is not None and self.new is not None

    @cached_property
    def pairs(self) -> list[Aligned]:
        """What differs first."""
        return aligned(_findings(self.old), _findings(self.new))

    @cached_property
    def found(self) -> list[FoundRow]:
        shown = self.pairs[:MAX_FINDINGS]
        return [FoundRow(n, one, list(_changes(one))) for n, one in enumerate(shown, start=1)]

    @property
    def more_found(self) -> int:
        return len(self.pairs) - len(self.found)

    @cached_property
    def scopes(self) -> list[ScopeRow]:
        old, new = _trace(self.old), _trace(self.new)
        left, right = _by_rule(old), _by_rule(new)
        return [
            ScopeRow(rule, _scope_words(left.get(rule)), _scope_words(right.get(rule)))
            for rule in scope_changes(old, new)
        ]


def _findings(side: Full | None) -> Sequence[Finding]:
    return side.findings if side else ()


def _trace(side: Full | None) -> Sequence[TraceEntry]:
    return side.trace if side else ()


def _changes(pair: Aligned) -> Iterator[str]:
    for name in pair.changes:
        if name == ALONE:
            yield "the new one alone" if pair.old is None else "the old one alone"
        else:
            old, new = (_said(name, getattr(one, name, None)) for one in (pair.old, pair.new))
            yield f"{words.CHANGES.get(name, name)}: {old} → {new}"


def _said(name: str, value: Any) -> str:
    if not value:
        return "none"
    return wording.reason(str(value)) if name == "reason_code" else str(value)


def _by_rule(trace: Sequence[TraceEntry]) -> Mapping[str, TraceEntry]:
    return {one.rule: one for one in sorted(trace, key=lambda one: one.applied)}


def _scope_words(entry: TraceEntry | None) -> str:
    if entry is None:
        return UNKNOWN
    return f"{'applied' if entry.applied else 'skipped'}: {wording.trace_reason(entry.reason)}"
