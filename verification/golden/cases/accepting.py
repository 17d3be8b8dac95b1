"""What a replay observed, taken as what is expected from now on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any

from verification.engine.golden.comparing import MISSING, PLAIN

_FINDING = ("rule", "reason_code", "enforcement", "verdict", "path")
SKIPPED = "skipped"
MEANS_NONE = ("review", "remediations")
"""Of these an empty list says that there is none, whatever was expected before."""


def accepted(
    expected: Mapping[str, Any],
    observed: Mapping[str, Any],
    differences: Sequence[Mapping[str, Any]],
) -> dict[str, Any]:
    """Return the expectation with the observed values of what differed, and all else as it was.

    What was expected and did not come is expected no more. Where nothing would be left to look
    at, the outcome and verdict that were observed are.
    """
    changed = deepcopy(dict(expected))
    gone: list[tuple[list[Any], int]] = []
    for one in differences:
        _take(changed, one, observed, gone)
    for entries, number in sorted(gone, key=lambda one: -one[1]):
        del entries[number]
    changed = {
        name: value
        for name, value in changed.items()
        if (value not in ({}, []) and not _is_emptied(value))
        or name in MEANS_NONE
        or expected.get(name) == value
    }
    if set(changed) <= {"findings"} and not _looks_at(changed.get("findings", {})):
        changed = {name: observed[name] for name in ("outcome", "verdict")}
    return changed


def _take(
    changed: dict[str, Any],
    difference: Mapping[str, Any],
    observed: Mapping[str, Any],
    gone: list[tuple[list[Any], int]],
) -> None:
    place, found = str(difference["place"]), difference["observed"]
    part = place.partition(".")[0].partition("[")[0]
    if part in PLAIN:
        changed[part] = found
    elif part == "review":
        changed["review"] = list(found)
    elif part == "remediations":
        changed["remediations"] = [_named(one) for one in found]
    elif part == "findings":
        _take_finding(changed["findings"], place, found, gone)
    elif part == "rules":
        _take_rule(changed["rules"], place, found)
    elif place == "artefacts":
        changed["artefacts"] = list(found)
    elif part in ("artefacts", "feedback"):
        _take_text(changed[part], place, difference, gone)
    else:  # claims, attempt, recovery, calls: one value by its name
        changed[part][place.partition(".")[2]] = found


def _take_finding(
    findings: dict[str, Any], place: str, found: Any, gone: list[tuple[list[Any], int]]
) -> None:
    if place == "findings.only":
        findings.setdefault("must", []).append(
            {name: found[name] for name in _FINDING if found.get(name)}
        )
        return
    name = place.removeprefix("findings.").partition("[")[0]
    gone.append((findings[name], _number(place)))


def _take_rule(rules: dict[str, Any], place: str, found: Any) -> None:
    _, kind, rule = place.split(".", 2)
    if kind == "reasons":
        del rules["reasons"][rule]
        rules["reasons"].update({} if found == MISSING else {rule: found})
        return
    if kind == "applied":
        del rules["applied"][rule]
    else:
        rules["skipped"].remove(rule)
    if found == SKIPPED:
        rules.setdefault("skipped", []).append(rule)
    elif found != MISSING:
        rules.setdefault("applied", {})[rule] = found


def _take_text(
    entries: list[Any],
    place: str,
    difference: Mapping[str, Any],
    gone: list[tuple[list[Any], int]],
) -> None:
    number = _number(place)
    for name in ("holds", "lacks"):
        if place.endswith(f".{name}"):
            passages = entries[number][name]
            gone.append((passages, passages.index(difference["expected"])))
            return
    gone.append((entries, number))


def _is_emptied(value: Any) -> bool:
    return isinstance(value, dict) and all(part in ({}, []) for part in value.values())


def _number(place: str) -> int:
    return int(place.partition("[")[2].partition("]")[0])


def _named(remediation: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in remediation.items() if value is not None}


def _looks_at(findings: Mapping[str, Any]) -> bool:
    return bool(findings.get("must") or findings.get("must_not") or findings.get("only"))
