"""Expected beside observed: every difference with its place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any

from verification.engine.golden.matching import matched
from verification.engine.golden.observing import Observed

PLAIN = (
    "outcome",
    "verdict",
    "reason_code",
    "severity_class",
    "retry_strategy",
    "tier_achieved",
    "confidence",
    "confidence_level",
    "action",
    "rerun_execution",
    "may_pass",
    "shadow",
)
PARTS = ("message", "quote")
"""Of a finding: these fit where they are part of what was found."""
CLOSE = 1e-9
MISSING = "absent"
MAX_UNEXPECTED = 201
"""Findings beyond the expected ones that are told: one more than any case can come to expect."""
MAX_SHOWN_CHARS = 2_000


@dataclass(frozen=True, slots=True)
class Difference:
    """`place` leads into the expectation: `findings.must[0]`."""

    place: str
    expected: Any
    observed: Any

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def differences(expected: Mapping[str, Any], observed: Observed) -> tuple[Difference, ...]:
    """What was expected and did not come, in the expectation's order. Empty: the case holds.

    `expected` is the `expected` of a case's document, with only what it names; `observed` is
    `observed_of`'s, with `shadow` beside it.
    """
    return tuple(_differences(expected, observed))


def _differences(expected: Mapping[str, Any], observed: Observed) -> Iterator[Difference]:
    for name in PLAIN:
        if name in expected and not _is_same(expected[name], observed.get(name)):
            yield Difference(name, expected[name], observed.get(name))
    yield from _findings(expected.get("findings") or {}, observed["findings"])
    yield from _rules(expected.get("rules") or {}, observed["rules"])
    yield from _claims(expected.get("claims") or {}, observed)
    for name in ("attempt", "decided"):
        yield from _fields(name, expected.get(name) or {}, observed.get(name) or {})
    yield from _tiers(expected, observed["tiers"])
    yield from _texts(expected, observed)
    yield from _remediations(expected, observed["remediations"])


def _is_same(expected: Any, found: Any) -> bool:
    """Nothing is null in one place and an empty text in another."""
    if expected is None or expected == "":
        return found is None or found == ""
    if isinstance(expected, float) and isinstance(found, int | float):
        return abs(expected - found) <= CLOSE
    return bool(expected == found)


def _findings(
    expected: Mapping[str, Any], found: Sequence[Mapping[str, Any]]
) -> Iterator[Difference]:
    """Each that must be there takes a finding of its own, whichever leaves most of them one."""
    must = expected.get("must", ())
    taken = matched(must, found, _fits)
    for number, one in enumerate(must):
        if number not in taken:
            yield Difference(f"findings.must[{number}]", one, MISSING)
    for number, one in enumerate(expected.get("must_not", ())):
        if fitting := next((each for each in found if _fits(one, each)), None):
            yield Difference(f"findings.must_not[{number}]", one, _shown(fitting))
    if expected.get("only"):
        needed = set(taken.values())
        left = (one for number, one in enumerate(found) if number not in needed)
        for one in islice(left, MAX_UNEXPECTED):
            yield Difference("findings.only", MISSING, _shown(one))


def _fits(expected: Mapping[str, Any], finding: Mapping[str, Any]) -> bool:
    for name, value in expected.items():
        found: Any = finding.get(name)
        is_part = name in PARTS and value
        if not (value in (found or "") if is_part else _is_same(value, found)):
            return False
    return True


def _shown(finding: Mapping[str, Any]) -> dict[str, Any]:
    names = ("rule", "reason_code", "enforcement", "verdict", "path", "line", "message")
    return {name: finding.get(name) for name in names}


def _rules(expected: Mapping[str, Any], found: Mapping[str, Any]) -> Iterator[Difference]:
    applied = {one["rule"]: one["verdict"] for one in found["applied"]}
    skipped = {one["rule"] for one in found["skipped"]}
    for rule, verdict in expected.get("applied", {}).items():
        if applied.get(rule) != verdict:
            yield Difference(
                f"rules.applied.{rule}", verdict,
                applied.get(rule) or ("skipped" if rule in skipped else MISSING),
            )  # fmt: skip
    for rule in expected.get("skipped", ()):
        if rule not in skipped:
            yield Difference(f"rules.skipped.{rule}", "skipped", applied.get(rule, MISSING))
    reasons = {one["rule"]: one["reason"] for one in (*found["applied"], *found["skipped"])}
    for rule, why in expected.get("reasons", {}).items():
        if reasons.get(rule) != why:
            yield Difference(f"rules.reasons.{rule}", why, reasons.get(rule, MISSING))


def _claims(expected: Mapping[str, Any], observed: Observed) -> Iterator[Difference]:
    pruned = sum(one["state"] == "pruned" for one in observed["claim_list"])
    yield from _fields("claims", expected, {**observed["claims"], "pruned": pruned})


def _fields(
    where: str, expected: Mapping[str, Any], found: Mapping[str, Any]
) -> Iterator[Difference]:
    for name, value in expected.items():
        if not _is_same(value, found.get(name)):
            yield Difference(f"{where}.{name}", value, found.get(name))


def _tiers(expected: Mapping[str, Any], tiers: Sequence[Mapping[str, Any]]) -> Iterator[Difference]:
    for field in ("recovery", "calls"):
        found = {str(one["tier"]): one[field] for one in tiers}
        yield from _fields(field, expected.get(field) or {}, found)


def _texts(expected: Mapping[str, Any], observed: Observed) -> Iterator[Difference]:
    if "review" in expected and sorted(expected["review"] or ()) != sorted(observed["review"]):
        yield Difference("review", expected["review"], observed["review"])
    for number, text in enumerate(expected.get("feedback") or ()):
        if text not in observed["feedback"]:
            yield Difference(f"feedback[{number}]", text, _excerpt(observed["feedback"]))
    made = {(one["kind"], one["path"]): one["text"] for one in observed["artefacts"]}
    if made and expected.get("artefacts") == []:  # none is expected, and that is said
        yield Difference("artefacts", [], [{"kind": kind, "path": path} for kind, path in made])
    for number, one in enumerate(expected.get("artefacts") or ()):
        place, text = f"artefacts[{number}]", made.get((one["kind"], one.get("path", "")))
        if text is None:
            yield Difference(place, one, MISSING)
            continue
        for passage in one.get("holds", ()):
            if passage not in text:
                yield Difference(f"{place}.holds", passage, _excerpt(text))
        for passage in one.get("lacks", ()):
            if passage in text:
                yield Difference(f"{place}.lacks", passage, _around(text, passage))


def _remediations(
    expected: Mapping[str, Any], found: Sequence[Mapping[str, Any]]
) -> Iterator[Difference]:
    """All of them, in any order."""
    if "remediations" not in expected:
        return
    wanted = expected["remediations"] or []
    told = [
        {
            "mode": one["mode"],
            "reason_code": one["request"].get("reason_code"),
            "rule": one["request"].get("rule"),
            "claims": len(one["request"].get("claims") or ()),
        }
        for one in found
    ]
    taken = matched(wanted, told, _fits)
    if len(taken) < len(told) or len(told) != len(wanted):
        yield Difference("remediations", wanted, told)


def _excerpt(text: str) -> str:
    return text if len(text) <= MAX_SHOWN_CHARS else f"{text[:MAX_SHOWN_CHARS]}…"


def _around(text: str, passage: str) -> str:
    start = max(0, text.index(passage) - MAX_SHOWN_CHARS // 2)
    return _excerpt(text[start:])
