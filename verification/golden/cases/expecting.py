"""What a case expects, in words for people, beside what a replay saw."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from verification.engine.outcome import Outcome, Verdict
from verification.runs import judge_wording, wording
from verification.runs.wording import Badge

MAX_WORDS = 600

PLAIN = {
    "outcome": "Outcome",
    "verdict": "Verdict",
    "reason_code": "Why",
    "severity_class": "Kind of fault",
    "retry_strategy": "How to try again",
    "shadow": "Beside the old engine",
    "tier_achieved": "Tier reached",
    "confidence": "Confidence",
    "confidence_level": "Confidence level",
    "action": "Action",
    "rerun_execution": "Asks for the work again",
    "may_pass": "Doubt may pass by itself",
}
SHADOW = {
    "no_diff": "both say the same",
    "old_fail_new_pass": "the old one failed it, the new one passes it",
    "old_pass_new_fail": "the old one passed it, the new one fails it",
    "both_fail_reason_diff": "both fail it, for different reasons",
    "warnings_diff": "they differ in warnings alone",
    "new_undecided": "the new one is undecided",
    "old_undecided": "the old one is undecided",
}
FIELDS = {
    "claims": {
        "confirmed": "Claims confirmed",
        "inferred": "Claims inferred",
        "unsupported": "Claims unsupported",
        "recommendation_unconfirmed": "Unconfirmed in recommendations",
        "supporting_unconfirmed_ratio": "Unconfirmed share of supporting claims",
        "pruned": "Claims taken out",
    },
    "attempt": {
        "number": "Number of the attempt",
        "counted": "Counts as an attempt",
        "used": "Attempts used",
        "left": "Attempts left",
        "repeats": "Same work sent again",
        "submissions": "Submissions",
        "last_outcome": "Outcome before",
        "terminal": "Ends the task",
        "exhausted": "Closes the task",
        "last_candidate": "Hash of the last work",
    },
    "decided": {
        "number": "After the decision: number of the attempt",
        "counted": "After the decision: counts as an attempt",
        "used": "After the decision: attempts used",
        "left": "After the decision: attempts left",
        "repeats": "After the decision: same work sent again",
        "submissions": "After the decision: submissions",
        "last_outcome": "After the decision: last outcome",
        "terminal": "After the decision: ends the task",
        "exhausted": "After the decision: closes the task",
        "last_candidate": "After the decision: hash of the last work",
    },
}
FINDING = (
    ("rule", "rule {}"),
    ("reason_code", "because {}"),
    ("verdict", "{}"),
    ("enforcement", "{}"),
    ("source", "by {}"),
    ("tier", "in tier {}"),
    ("path", "in {}"),
    ("line", "on line {}"),
    ("message", "saying “{}”"),
    ("quote", "quoting “{}”"),
)


@dataclass(frozen=True, slots=True)
class Expectation:
    """One thing that is expected. `place` leads into the document: `findings.must[0]`."""

    place: str
    label: str
    words: str
    badge: Badge | None = None


@dataclass(frozen=True, slots=True)
class Shown:
    """`observed` is what a replay saw instead, where it saw something else."""

    expectation: Expectation
    differs: bool = False
    observed: str = ""


def expectations(expected: Mapping[str, Any]) -> Iterator[Expectation]:
    """All that is named, in the document's order of importance."""
    for name, label in PLAIN.items():
        if name in expected:
            yield _plain(name, label, expected)
    yield from _findings(expected.get("findings") or {})
    yield from _rules(expected.get("rules") or {})
    for group, labels in FIELDS.items():
        for name, value in (expected.get(group) or {}).items():
            label = labels.get(name, name.replace("_", " "))
            yield Expectation(f"{group}.{name}", label, said(value))
    yield from _tiers(expected)
    yield from _texts(expected)


def beside(
    expected: Mapping[str, Any], differences: Sequence[Mapping[str, Any]] | None
) -> list[Shown]:
    """Each expectation with its difference; None: it was never replayed."""
    found: dict[str, Mapping[str, Any]] = {}
    for difference in differences or ():
        found.setdefault(str(difference.get("place", "")), difference)
    rows = []
    for one in expectations(expected):
        mine = [place for place in found if _belongs(place, one.place)]
        seen = "; ".join(said_of(one.place, found.pop(place).get("observed")) for place in mine)
        rows.append(Shown(one, bool(mine), seen))
    for place, told in found.items():
        rest = Expectation(place, _label(place), said_of(place, told.get("expected")))
        rows.append(Shown(rest, differs=True, observed=said_of(place, told.get("observed"))))
    return rows


def said_of(place: str, value: Any) -> str:
    """A value as it is said at its place in an expectation."""
    if value == "absent":
        return "nothing of the kind"
    if place.startswith("findings.") and isinstance(value, Mapping):
        return _finding(value)
    if place in PLAIN and isinstance(value, str):
        return _plain_words(place, value)
    return said(value)


def said(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return _short(value) if value else "none"
    if isinstance(value, list | tuple):
        return _short(", ".join(said(one) for one in value)) or "none"
    if isinstance(value, Mapping):
        return _short(", ".join(f"{_spaced(name)}: {said(one)}" for name, one in value.items()))
    return _short(json.dumps(value))


def _plain(name: str, label: str, expected: Mapping[str, Any]) -> Expectation:
    value = expected[name]
    badge = None
    if name == "verdict" and value == Verdict.UNDECIDED:
        badge = wording.UNDECIDED
    elif name == "outcome" and value in set(Outcome) and not _is_doubt(expected):
        badge = wording.OUTCOMES[Outcome(value)]
    return Expectation(name, label, _plain_words(name, value), badge)


def _is_doubt(expected: Mapping[str, Any]) -> bool:
    """What is in doubt is never shown as failed."""
    return expected.get("verdict") == Verdict.UNDECIDED


def _plain_words(name: str, value: Any) -> str:
    if name == "reason_code":
        return wording.reason(value) if value else "no reason"
    if name == "shadow":
        return SHADOW.get(value, said(value))
    if name == "outcome" and value in set(Outcome):
        return wording.OUTCOMES[Outcome(value)].word
    return _spaced(value) if isinstance(value, str) else said(value)


def _findings(findings: Mapping[str, Any]) -> Iterator[Expectation]:
    for number, one in enumerate(findings.get("must") or ()):
        yield Expectation(f"findings.must[{number}]", "Must be found", _finding(one))
    for number, one in enumerate(findings.get("must_not") or ()):
        yield Expectation(f"findings.must_not[{number}]", "Must not be found", _finding(one))
    if findings.get("only"):
        yield Expectation("findings.only", "Findings beyond these", "none")


def _finding(finding: Mapping[str, Any]) -> str:
    parts = []
    for name, pattern in FINDING:
        value = finding.get(name)
        if value in (None, ""):
            continue
        words = wording.reason(str(value)) if name == "reason_code" else str(value)
        parts.append(pattern.format(words))
    if finding.get("quote_verified") is False:
        parts.append("quoting what is not there")
    return _short(", ".join(parts)) or "any finding"


def _rules(rules: Mapping[str, Any]) -> Iterator[Expectation]:
    for rule, verdict in (rules.get("applied") or {}).items():
        yield Expectation(f"rules.applied.{rule}", f"Rule {rule}", _spaced(verdict))
    for rule in rules.get("skipped") or ():
        yield Expectation(f"rules.skipped.{rule}", f"Rule {rule}", "skipped")
    for rule, why in (rules.get("reasons") or {}).items():
        yield Expectation(f"rules.reasons.{rule}", f"Why rule {rule}", _spaced(why))


def _tiers(expected: Mapping[str, Any]) -> Iterator[Expectation]:
    for tier, stage in (expected.get("recovery") or {}).items():
        words = judge_wording.stage(stage)
        yield Expectation(
            f"recovery.{tier}", f"Answers of tier {tier}", words.short if words else said(stage)
        )
    for tier, count in (expected.get("calls") or {}).items():
        yield Expectation(f"calls.{tier}", f"Questions asked in tier {tier}", said(count))


def _texts(expected: Mapping[str, Any]) -> Iterator[Expectation]:
    if "review" in expected:
        reasons = [_spaced(one) for one in expected["review"] or ()]
        yield Expectation("review", "A person is asked because", said(reasons))
    for number, text in enumerate(expected.get("feedback") or ()):
        yield Expectation(f"feedback[{number}]", "The feedback says", f"“{_short(text)}”")
    if expected.get("artefacts") == []:
        yield Expectation("artefacts", "A text is made", said([]))
    for number, one in enumerate(expected.get("artefacts") or ()):
        yield Expectation(f"artefacts[{number}]", "A text is made", said(one))
    if "remediations" in expected:
        yield Expectation("remediations", "Is to be remedied", said(expected["remediations"]))


def _belongs(place: str, to: str) -> bool:
    return place == to or place.startswith(f"{to}.")


def _label(place: str) -> str:
    return "Was found beside" if place == "findings.only" else _spaced(place)


def _spaced(text: Any) -> str:
    return str(text).replace("_", " ")


def _short(text: str) -> str:
    return text if len(text) <= MAX_WORDS else f"{text[:MAX_WORDS]} …"
