"""What a corpus comes to, and what no case of it does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from processes.definition.model import Definition, Rule
from verification.engine.finding import TraceVerdict
from verification.engine.protocol.reply import Stage
from verification.engine.reasons import REASONS
from verification.engine.scoping import scope_of
from verification.engine.shadow import DiffClass
from verification.engine.verifier import PhaseScope


@dataclass(frozen=True, slots=True)
class Seen:
    """One replayed case.

    `process` is '' for a case with a process of its own: it says nothing of the others' rules.
    `stages` are the recovery stages by which its replies were read.
    """

    process: str
    phase: str
    observed: Mapping[str, Any] = field(hash=False)
    expected: Mapping[str, Any] = field(default_factory=dict, hash=False)
    stages: Collection[str] = ()


@dataclass(frozen=True, slots=True)
class Covered:
    """`cases` come to it; `guarding` are the cases that expect it, and fail when it goes."""

    name: str
    cases: int = 0
    guarding: int = 0


@dataclass(frozen=True, slots=True)
class CoveredRule:
    """In how many cases a rule was applied and violated, and how many expect a word of it.

    `without_case` are the phases in which it speaks and of which there is no case.
    """

    process: str
    rule: str
    applied: int = 0
    violated: int = 0
    guarding: int = 0
    without_case: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Coverage:
    """All there is, by name; rules and phases by process. What has no case counts 0."""

    rules: tuple[CoveredRule, ...]
    phases: tuple[tuple[str, Covered], ...]
    reasons: tuple[Covered, ...]
    diff_classes: tuple[Covered, ...]
    stages: tuple[Covered, ...]


def coverage(definitions: Mapping[str, Definition], seen: Iterable[Seen]) -> Coverage:
    """Count what a replay came to. `definitions` are by the names that `seen` gives them.

    Source: docs/golden.md, "Coverage".
    """
    counts: Counter[tuple[str, ...]] = Counter()
    for one in seen:
        counts.update(set(_of_case(one)))
    return Coverage(
        rules=tuple(_rules(definitions, counts)),
        phases=tuple(
            (process, Covered(phase.id, counts["phase", process, phase.id]))
            for process, definition in sorted(definitions.items())
            for phase in definition.phases
        ),
        reasons=_covered("reason", REASONS, counts),
        diff_classes=_covered("diff", DiffClass, counts),
        stages=_covered("stage", Stage, counts),
    )


def _of_case(one: Seen) -> Iterator[tuple[str, ...]]:
    yield "phase", one.process, one.phase
    for entry in one.observed["rules"]["applied"]:
        yield "applied", one.process, entry["rule"]
        if entry["verdict"] == TraceVerdict.VIOLATED:
            yield "violated", one.process, entry["rule"]
    for rule in _expected_rules(one.expected):
        yield "guarded", one.process, rule
    yield from (("reason", code) for code in _reasons(one.observed))
    yield from (("reason guarded", code) for code in _expected_reasons(one.expected))
    yield from (("stage", stage) for stage in one.stages)
    for tier in one.observed["tiers"]:
        yield "stage", tier["recovery"]
    yield from (("stage guarded", stage) for stage in (one.expected.get("recovery") or {}).values())
    yield "diff", one.observed.get("shadow") or ""
    yield "diff guarded", one.expected.get("shadow") or ""


def _expected_rules(expected: Mapping[str, Any]) -> Iterator[str]:
    findings, rules = expected.get("findings") or {}, expected.get("rules") or {}
    for one in (*findings.get("must", ()), *findings.get("must_not", ())):
        yield one.get("rule") or ""
    yield from rules.get("applied", ())


def _reasons(observed: Mapping[str, Any]) -> Iterator[str]:
    yield observed["reason_code"]
    yield observed["attempt"]["terminal"]
    for one in observed["findings"]:
        yield one["reason_code"]


def _expected_reasons(expected: Mapping[str, Any]) -> Iterator[str]:
    yield expected.get("reason_code") or ""
    yield (expected.get("attempt") or {}).get("terminal") or ""
    for one in (expected.get("findings") or {}).get("must", ()):
        yield one.get("reason_code") or ""


def _rules(
    definitions: Mapping[str, Definition], counts: Counter[tuple[str, ...]]
) -> Iterator[CoveredRule]:
    for process, definition in sorted(definitions.items()):
        for rule in sorted(definition.rules, key=lambda one: one.name):
            yield CoveredRule(
                process,
                rule.name,
                applied=counts["applied", process, rule.name],
                violated=counts["violated", process, rule.name],
                guarding=counts["guarded", process, rule.name],
                without_case=tuple(
                    phase
                    for phase in _phases_of(rule, definition)
                    if not counts["phase", process, phase]
                ),
            )


def _phases_of(rule: Rule, definition: Definition) -> Iterator[str]:
    for phase in definition.phases:
        if scope_of(rule, definition, phase.id, PhaseScope.CURRENT_PHASE).applies:
            yield phase.id


def _covered(
    kind: str, names: Iterable[str], counts: Counter[tuple[str, ...]]
) -> tuple[Covered, ...]:
    """In the order in which they are told everywhere."""
    return tuple(
        Covered(str(name), counts[kind, name], counts[f"{kind} guarded", name]) for name in names
    )
