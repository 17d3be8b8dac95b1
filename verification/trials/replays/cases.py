"""Both sides of a trial over one golden case: what the columns of its comparison hold."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import DatabaseError

from loomverify.errors import FaultError, InputError
from processes.definition.model import Definition
from processes.selectors import definition_of
from verification.engine.golden.given import Given
from verification.engine.golden.observing import bounded
from verification.engine.golden.replay import CannotReplay, Replayed, World, replay
from verification.engine.golden.scores import expected_verdict
from verification.engine.outcome import Outcome, SeverityClass, Verdict
from verification.engine.shadow import Full, SideOutcome, compare
from verification.engine.shadow.observed import full_of_observed
from verification.engine.verifier import VerifierSpec
from verification.golden.cases.selectors import ReadVersion, read_version, versions_to_read
from verification.runs import worker
from verification.trials.models import Comparison, Judged, Trial
from verification.trials.replays.questions import Put, put_by
from verification.verifiers.models import VerifierVersion

logger = logging.getLogger(__name__)

GONE = "This version of the case is gone."
MAX_TEXT = 500
BROKEN = Full(Outcome.FAIL, Verdict.UNDECIDED, "infra_verifier_error", SeverityClass.INFRA.value)
Columns = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Side:
    """What one side made of a case. `replayed` None: its verification broke, `error` says how."""

    full: Full
    took_ms: int
    replayed: Replayed | None = None
    error: str = ""

    @property
    def observed(self) -> Columns:
        """As golden replays keep it, with how many questions were asked and are stale."""
        if self.replayed is None:
            return {}
        asked = {"questions": len(self.replayed.played), "stale": self.replayed.stale}
        return {**bounded(self.replayed.observed), **asked}


@dataclass(frozen=True, slots=True)
class Beside:
    """What the columns of a comparison hold, and what both sides asked, in full."""

    columns: Columns
    questions: Sequence[Put] = ()


def beside(comparison: Comparison, trial: Trial) -> Beside:
    """Replay the case by both sides and compare them; recorded replies stand in for judges.

    Where that cannot be done, or nobody recorded what a side asks, `error_text` says so, and
    there is no class. A side whose verification breaks is undecided, and compared.
    """
    pk = comparison.case_version_id
    version = versions_to_read().filter(pk=pk).first() if pk else None
    if version is None:
        return Beside({"error_text": GONE})
    try:
        return _compared(comparison, trial, read_version(version))
    except (CannotReplay, InputError, FaultError) as error:
        return Beside({"error_text": str(error)[:MAX_TEXT]})


def _compared(comparison: Comparison, trial: Trial, read: ReadVersion) -> Beside:
    old = _side(
        read,
        trial.baseline_verifier,
        _definition(comparison, read, trial.baseline_process_version_id),
    )
    new = _side(
        read,
        trial.candidate_verifier,
        _definition(comparison, read, trial.candidate_process_version_id),
    )
    told: Columns = {
        "old_observed": old.observed,
        "new_observed": new.observed,
        "old_ms": old.took_ms,
        "new_ms": new.took_ms,
        "has_failed": bool(old.error or new.error),
        "error_text": old.error or new.error or _unrecorded(old, new),
    }
    if not _unrecorded(old, new):
        told |= _differences(read, old.full, new.full)
    seats = read.given.seats
    sides = [(name, side.replayed) for name, side in (("old", old), ("new", new))]
    asked = [one for name, made in sides if made for one in put_by(name, made, seats)]
    return Beside(told, asked)


def _differences(read: ReadVersion, old: Full, new: Full) -> Columns:
    compared = compare(old, new)
    return {
        "old": SideOutcome.of(old.outcome, old.verdict),
        "new": SideOutcome.of(new.outcome, new.verdict),
        "old_reason": old.reason_code,
        "new_reason": new.reason_code,
        "diff_class": compared.diff_class,
        "finer": list(compared.finer),
        "rules": list(compared.rules),
        "summary": compared.summary,
        "kind": compared.kind,
        "judged": judged(read.expected, old, new),
    }


def judged(expected: Mapping[str, Any], old: Full, new: Full) -> str:
    """Which side is as the case expects; '' where it expects no verdict.

    A case is written before either side is seen: its word is a person's.
    """
    verdict = expected_verdict(expected)
    if verdict is None:
        return ""
    outcome = expected.get("outcome")
    is_right = [
        side.verdict is verdict and outcome in (None, side.outcome.value) for side in (old, new)
    ]
    return {
        (True, True): Judged.BOTH,
        (True, False): Judged.OLD,
        (False, True): Judged.NEW,
        (False, False): Judged.NEITHER,
    }[is_right[0], is_right[1]].value


def word_of_case(comparison: Comparison) -> str:
    """What `judged` makes of a comparison as it is kept; '' for one of no golden case."""
    version = comparison.case_version
    if version is None or not comparison.diff_class:
        return ""
    observed = (comparison.old_observed, comparison.new_observed)
    old, new = (full_of_observed(one) if one else BROKEN for one in observed)
    return judged(version.spec.get("expected") or {}, old, new)


def _definition(comparison: Comparison, read: ReadVersion, version: int | None) -> Definition:
    """A side's own version, else the case's own process, else what was published at the start."""
    if version is None and read.definition is not None:
        return read.definition
    known = comparison.replay.process_versions if comparison.replay else {}
    found = version or known.get(comparison.process)
    if found is None:
        raise CannotReplay(f"This project has no published process {comparison.process!r}.")
    return definition_of(found)


def _side(read: ReadVersion, verifier: VerifierVersion, definition: Definition) -> Side:
    began = time.monotonic()
    try:
        replayed = _replayed(read.given, definition, verifier, read)
    except (DatabaseError, CannotReplay, InputError, FaultError):
        raise
    except Exception as error:
        logger.exception("shadow_case_failed case=%s verifier=%s", read.document.id, verifier.pk)
        text = f"{type(error).__name__} in verifier version {verifier.number}: {error}"
        return Side(BROKEN, _ms_since(began), error=text[:MAX_TEXT])
    return Side(_full(replayed), _ms_since(began), replayed)


def _replayed(
    given: Given, definition: Definition, verifier: VerifierVersion, read: ReadVersion
) -> Replayed:
    world = World(read.workspace, worker.probe(), worker.custom())
    return replay(given, definition, VerifierSpec.from_json(verifier.spec), world)


def _full(replayed: Replayed) -> Full:
    said = replayed.conclusion
    return Full(
        outcome=said.outcome,
        verdict=said.verdict,
        reason_code=said.reason_code,
        severity_class=said.severity_class or "",
        findings=said.findings,
        trace=said.trace,
    )


def _unrecorded(old: Side, new: Side) -> str:
    """What nobody recorded, of the first side that lacks an answer."""
    for name, side in (("old", old), ("new", new)):
        lacking = [one for one in side.replayed.played if one.is_missing] if side.replayed else []
        if lacking:
            first = lacking[0]
            asked = f"question {first.number} ({first.ask}) of tier {first.tier}"
            more = f", and to {len(lacking) - 1} more" if len(lacking) > 1 else ""
            return f"No answer to {asked} was recorded{more}: the {name} side asks for it."
    return ""


def _ms_since(began: float) -> int:
    return round((time.monotonic() - began) * 1000)
