"""The operator's own verifiers: asked at the end of tier 1, where all the rest left it open."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from processes.definition.model import Enforcement
from verification.engine import policy
from verification.engine.case import Case, Ports
from verification.engine.finding import Finding
from verification.engine.judges.asking import CustomAnswer
from verification.engine.outcome import FindingVerdict, Source, Status

ID = "custom-verifier"
VERIFIER, CODE, METADATA, LOC = "verifier", "code", "metadata", "loc"
_PLACES = ("path", "line", "column", "suggestion")
_WORDS: Mapping[Status, str] = {Status.PASSED: "passed", Status.FAILED: "rejected"}


@dataclass(frozen=True, slots=True)
class Called:
    """What a call adds to tier 1: nothing, where no verifier was called."""

    findings: tuple[Finding, ...] = ()
    result: Any = field(default=None, hash=False)
    is_final: bool = False
    detail: str = ""


def call(case: Case, ports: Ports, found: Sequence[Finding]) -> Called:
    """Call the phase's own verifier, unless what was found already settles the run.

    Source: docs/engine.md, "Custom verifiers".
    """
    name = case.phase.custom_verifier
    if not name or ports.custom is None or name not in ports.custom.names():
        return Called()
    if not policy.is_open(found, case.verifier.flags):
        return Called(detail=f"The verifier {name} was not called.")
    answer = ports.custom.call(name, case, ports.workspace)
    is_fault = answer.status is Status.FAILED
    return Called(
        findings=tuple(_findings(name, answer)),
        result=answer.result if answer.status is Status.PASSED else None,
        is_final=is_fault and answer.is_fatal,
        detail=_detail(name, answer),
    )


def _findings(name: str, answer: CustomAnswer) -> Iterator[Finding]:
    if answer.status is Status.PASSED:
        return
    if answer.status is not Status.FAILED:
        yield _lost(name, answer)
    elif answer.is_invalid:
        yield from _invalid(name, answer)
    else:
        yield _rejected(name, answer)


def _lost(name: str, answer: CustomAnswer) -> Finding:
    return Finding(
        rule=ID,
        reason_code="infra_verifier_error",
        message=_first_words(answer.message, f"The verifier {name} was lost."),
        enforcement=Enforcement.HARD,
        verdict=FindingVerdict.UNKNOWN,
        source=Source.CUSTOM,
        place={VERIFIER: name},
    )


def _first_words(*texts: object) -> str:
    """Return the first text that holds more than blanks."""
    return next(str(text) for text in texts if text and str(text).strip())


def _rejected(name: str, answer: CustomAnswer) -> Finding:
    where, rest = _parted(answer.metadata)
    place = {VERIFIER: name, CODE: answer.code, METADATA: rest}
    return Finding(
        rule=ID,
        reason_code="custom_rejected",
        message=_first_words(answer.message, f"The verifier {name} rejected it."),
        enforcement=Enforcement.HARD,
        source=Source.CUSTOM,
        place={key: value for key, value in place.items() if value},
        **where,
    )


def _invalid(name: str, answer: CustomAnswer) -> Iterator[Finding]:
    """One finding for each error of the output's shape."""
    for error in answer.metadata.get("errors") or [{}]:
        loc = [str(part) for part in error.get(LOC, ())]
        why = _first_words(error.get("msg"), answer.message, "The output has another shape.")
        yield Finding(
            rule=ID,
            reason_code="invalid_output",
            message=f"{'.'.join(loc)}: {why}" if loc else why,
            enforcement=Enforcement.HARD,
            source=Source.CUSTOM,
            place={VERIFIER: name, LOC: loc},
        )


def _parted(metadata: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """What a finding has a field for, and the rest."""
    where = {key: metadata[key] for key in _PLACES if _fits(key, metadata.get(key))}
    return where, {key: value for key, value in metadata.items() if key not in where}


def _fits(key: str, value: Any) -> bool:
    if key in ("path", "suggestion"):
        return isinstance(value, str) and bool(value)
    return type(value) is int and 0 < value < 2**31


def _detail(name: str, answer: CustomAnswer) -> str:
    how = _WORDS.get(answer.status, "was lost on")
    told = f"The verifier {name} {how} it in {answer.duration_ms} ms."
    return f"{told}\n{answer.detail}" if answer.detail else told
