"""What a rule says, said, and where."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from processes.comparing import FieldChange, field_changes
from processes.definition.model import (
    Enforcement,
    Expect,
    Rule,
    RuleType,
    Severity,
    Target,
)
from processes.models import PhaseRule, Process, ProcessVersion
from processes.models import Rule as RuleName
from processes.texts import WordDiffs

KINDS = {
    "type": RuleType,
    "severity": Severity,
    "enforcement": Enforcement,
    "target": Target,
    "expect": Expect,
}
KNOWN = {field.name for field in fields(Rule)}
MAX_CHANGES = 50


def rule_of(spec: Mapping[str, Any]) -> Rule:
    """A stored content of a rule, as the file's author wrote it."""
    said = {key: value for key, value in spec.items() if key in KNOWN and value is not None}
    said |= {key: kind(said[key]) for key, kind in KINDS.items() if key in said}
    said["applies_to_phases"] = tuple(said.get("applies_to_phases", ()))
    return Rule(**said)


@dataclass(frozen=True, slots=True)
class Content:
    """What a version says of a rule; `sha256` empty: the version has no such rule."""

    number: int
    published_at: datetime | None
    sha256: str
    spec: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Change:
    """A version that changed a rule: who, when and why."""

    number: int
    before: int | None
    what: str
    note: str
    created_by: str
    created_at: datetime
    fields: tuple[FieldChange, ...]


def contents(rule: RuleName) -> dict[int, Content]:
    """Of each version that has the rule, what it says of it, by the version's number."""
    rows = PhaseRule.objects.filter(rule_version__rule=rule).order_by(
        "process_version__number", "-position"
    )
    found = rows.values_list(
        "process_version__number", "process_version__published_at", "rule_version", "position"
    )
    stored = rule.versions.in_bulk()
    return {
        number: Content(number, at, stored[pk].content_sha256, stored[pk].spec)
        for number, at, pk, _ in found.distinct()
        if pk in stored
    }


def history(process: Process, said: Mapping[int, Content]) -> list[Change]:
    """The versions that changed a rule, newest first. Only those that are shown are compared."""
    found: list[tuple[ProcessVersion, int | None, Content | None, Content | None]] = []
    before: Content | None = None
    number = None
    rows = process.versions.order_by("number")
    for version in rows.only("number", "note", "created_by", "created_at", "process"):
        now = said.get(version.number)
        if (now and now.sha256) != (before and before.sha256):
            found.append((version, number, before, now))
        before, number = now, version.number
    words = WordDiffs()
    return [_change(*one, words) for one in found[: -MAX_CHANGES - 1 : -1]]


def _change(
    version: ProcessVersion,
    number: int | None,
    before: Content | None,
    now: Content | None,
    words: WordDiffs,
) -> Change:
    return Change(
        number=version.number,
        before=number,
        what=_what(before, now),
        note=version.note,
        created_by=version.created_by,
        created_at=version.created_at,
        fields=field_changes(before.spec, now.spec, words) if before and now else (),
    )


def _what(before: Content | None, now: Content | None) -> str:
    if now is None:
        return "removed"
    return "changed" if before else "added"


def alike(rule: Rule, said: Iterable[Content]) -> Sequence[Content]:
    """The contents that look for the same and count the same."""
    kinds = {one.sha256: rule_of(one.spec) for one in said}
    same = {
        sha256
        for sha256, other in kinds.items()
        if other.looks_for_sha256 == rule.looks_for_sha256
        and other.usual_enforcement is rule.usual_enforcement
    }
    return [one for one in said if one.sha256 in same]
