"""Two versions of a process, compared by rule and by phase."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from processes.definition.model import Definition, ReviewPolicy
from processes.definition.renaming import renamed
from processes.definition.review import NEVER, USUAL


class Change(StrEnum):
    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"
    RENAMED = "renamed"


@dataclass(frozen=True, slots=True)
class Difference:
    """`fields` maps a field's name to what it said and says; empty unless it changed.

    `formerly` is the old name of what was renamed; its other fields may say the same.
    """

    name: str
    change: Change
    fields: Mapping[str, tuple[Any, Any]]
    formerly: str = ""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Only what differs. `process` holds the fields of the file outside rules and phases."""

    rules: tuple[Difference, ...]
    phases: tuple[Difference, ...]
    process: Mapping[str, tuple[Any, Any]]

    @property
    def is_empty(self) -> bool:
        return not (self.rules or self.phases or self.process)


def compare(old: Definition, new: Definition) -> Comparison:
    """Say what `new` changes. Order and comments do not count."""
    return Comparison(
        rules=tuple(_differences(rule_specs(old), rule_specs(new), renamed(old, new))),
        phases=tuple(_differences(phase_specs(old), phase_specs(new), {})),
        process=_changed_fields(_head(old), _head(new)),
    )


def rule_specs(definition: Definition) -> dict[str, dict[str, Any]]:
    """What each rule says, by name; a second one of the same name gets a number."""
    named: dict[str, dict[str, Any]] = {}
    for rule in definition.rules:
        name, number = rule.name, 1
        while name in named:
            number += 1
            name = f"{rule.name} ({number})"
        named[name] = {
            **rule.spec,
            "examples": {
                "pass": list(rule.examples.passing),
                "fail": list(rule.examples.failing),
            },
        }
    return named


def phase_specs(definition: Definition) -> dict[str, dict[str, Any]]:
    return {phase.id: phase.spec for phase in definition.phases}


def _head(definition: Definition) -> dict[str, Any]:
    fields = asdict(definition)
    del fields["rules"], fields["phases"], fields["places"], fields["policy"]["review"]
    return {**fields, "review": _review(definition.policy.review)}


def _review(policy: ReviewPolicy) -> dict[str, Any]:
    """What the file leaves open in words, since no number stands for it."""
    said = policy.spec
    urgencies = {name: USUAL if one is None else one for name, one in said["reasons"].items()}
    left_open = {
        "sample_rate": USUAL,
        "cap_per_day": "none",
        "expires_after_hours": NEVER,
    }
    spelled = {key: word for key, word in left_open.items() if said[key] is None}
    return {**said, "reasons": urgencies, **spelled}


def _differences(
    old: Mapping[str, Mapping[str, Any]],
    new: Mapping[str, Mapping[str, Any]],
    formerly: Mapping[str, str],
) -> Iterator[Difference]:
    """`formerly`: old names by new ones."""
    now = {was: name for name, was in formerly.items()}
    for name in (*old, *(name for name in new if name not in old and name not in formerly)):
        if name in now:
            fields = _changed_fields(old[name], new[now[name]])
            fields.pop("name", None)
            yield Difference(now[name], Change.RENAMED, fields, name)
        elif name not in new:
            yield Difference(name, Change.REMOVED, {})
        elif name not in old:
            yield Difference(name, Change.ADDED, {})
        elif fields := _changed_fields(old[name], new[name]):
            yield Difference(name, Change.CHANGED, fields)


def _changed_fields(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    return {key: (old[key], new[key]) for key in old if old[key] != new[key]}
