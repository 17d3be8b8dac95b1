"""What both sides of a comparison came to, line by line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from verification.engine.shadow import SideOutcome
from verification.runs import wording
from verification.runs.models import Evaluation
from verification.runs.wording import Badge
from verification.trials.judging import wording as words
from verification.trials.models import Comparison, Origin, Trial
from verification.verifiers.models import VerifierVersion


@dataclass(frozen=True, slots=True)
class Line:
    """One thing that both sides came to. `counts`: a difference in it is worth a mark."""

    label: str
    old: str | Badge
    new: str | Badge
    counts: bool = True
    expected: str = ""

    @property
    def differs(self) -> bool:
        return self.counts and self.old != self.new


@dataclass(frozen=True, slots=True)
class _Known:
    """What is known of a side beside its findings."""

    confidence: float | None = None
    level: str = ""
    tier: int | None = None
    severity: str = ""
    version: str = ""


def lines_of(row: Comparison, trial: Trial, expected: Mapping[str, str]) -> Iterator[Line]:
    """`expected`: what a golden case says, in words by place."""
    old, new = _known(row, trial)
    yield from _said(row, expected)
    yield from _judged_how(old, new)
    yield from _again_lines(row)
    yield Line(
        "Verifier",
        _verifier(trial.baseline_verifier),
        _verifier(trial.candidate_verifier),
        counts=False,
    )
    if old.version or new.version:
        yield Line("Process version", old.version, new.version, counts=False)


def _said(row: Comparison, expected: Mapping[str, str]) -> Iterator[Line]:
    yield Line(
        "Verdict",
        words.side_badge(row.old),
        words.side_badge(row.new),
        expected=expected.get("outcome") or expected.get("verdict", ""),
    )
    yield Line(
        "Why",
        _why(row.old_reason),
        _why(row.new_reason),
        expected=expected.get("reason_code", ""),
    )


def _judged_how(old: _Known, new: _Known) -> Iterator[Line]:
    if old.severity or new.severity:
        yield Line("Kind of fault", _plain(old.severity), _plain(new.severity))
    if old.level or new.level:
        yield Line("Confidence", _confidence(old), _confidence(new))
    if old.tier is not None or new.tier is not None:
        yield Line("Tier reached", _tier(old), _tier(new))


def _again_lines(row: Comparison) -> Iterator[Line]:
    if row.is_aa and (row.old_again or row.new_again):
        yield Line(
            "Asked once more",
            _again(row.old, row.old_again),
            _again(row.new, row.new_again),
            counts=False,
        )


def _known(row: Comparison, trial: Trial) -> tuple[_Known, _Known]:
    versions = (trial.baseline_process_version, trial.candidate_process_version)
    old, new = (f"v{one.number}" if one else "" for one in versions)
    if row.origin == Origin.CORPUS:
        return _known_of_case(row.old_observed, old), _known_of_case(row.new_observed, new)
    return _known_of(row.old_evaluation, old), _known_of(row.new_evaluation, new)


def _known_of(side: Evaluation | None, version: str) -> _Known:
    if side is None:
        return _Known(version=version)
    return _Known(
        confidence=side.confidence,
        level=side.confidence_level,
        tier=side.tier_achieved,
        severity=side.severity_class,
        version=f"v{side.process_version.number}",
    )


def _known_of_case(observed: Mapping[str, Any], version: str) -> _Known:
    return _Known(
        confidence=observed.get("confidence"),
        level=str(observed.get("confidence_level") or ""),
        tier=observed.get("tier_achieved"),
        severity=str(observed.get("severity_class") or ""),
        version=version,
    )


def _why(code: str) -> str:
    return wording.reason(code) if code else "nothing to object"


def _plain(code: str) -> str:
    return code.replace("_", " ") or "none"


def _confidence(side: _Known) -> str:
    share = ", not measured" if side.confidence is None else f", {side.confidence:.0%}"
    return f"{side.level.lower()}{share}" if side.level else "not told"


def _tier(side: _Known) -> str:
    return "not told" if side.tier is None else str(side.tier)


def _again(outcome: str, again: str) -> str:
    if not again:
        return "no second answer"
    word = words.side_badge(again).word
    if outcome == again:
        return f"{word}: the same"
    is_flip = SideOutcome(outcome).verdict is not SideOutcome(again).verdict
    return f"{word}: {'decided otherwise' if is_flip else 'the same verdict'}"


def _verifier(version: VerifierVersion) -> str:
    return f"v{version.number}, {version.engine}"
