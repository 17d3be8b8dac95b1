"""One replay of one case: the whole engine climbs again, over what was submitted then."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from processes.definition.model import Definition, Phase
from verification.engine.attempts import (
    Accounted,
    Entered,
    TaskHistory,
    budget,
    overrule,
)
from verification.engine.case import Case, CustomVerifiers, Ports
from verification.engine.climb import Conclusion, climb, conclude
from verification.engine.decision import TaskState
from verification.engine.evidence import Probe, Workspace
from verification.engine.feedback import feedback_of
from verification.engine.floors import tier_of, values_below_phase
from verification.engine.golden.given import Given, RecordedGates
from verification.engine.golden.observing import Observed, observed_of
from verification.engine.golden.recordings import Played, RecordedJudge
from verification.engine.judges.asking import Judge, Question
from verification.engine.outcome import Verdict
from verification.engine.protocol.prompt import token_of
from verification.engine.reasons import REASONS
from verification.engine.submission_hash import submission_sha256
from verification.engine.tiers import TierReport
from verification.engine.verifier import VerifierSpec


class CannotReplay(Exception):
    """This case cannot be replayed here: one sentence says why."""


class TieredJudge(Judge, Protocol):
    """A judge that is told which tier is under way."""

    tier: int


@dataclass(frozen=True, slots=True)
class World:
    """What a replay may reach for. `live` None: recorded answers stand in for the judges.

    `judges` are what a case knows of the live ones (`judge_models`, `prompt_chars`).
    """

    workspace: Workspace
    probe: Probe
    custom: CustomVerifiers | None = None
    clock: Callable[[], float] = time.monotonic
    live: TieredJudge | None = None
    judges: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Replayed:
    """`observed` is the same for the same input, whenever and wherever it is replayed.

    `conclusion` is what it was taken from, seen with the task's history. `asked` are the questions
    of `played`, as they were put.
    """

    observed: Observed
    played: Sequence[Played]
    conclusion: Conclusion
    asked: Sequence[Question] = ()

    @property
    def missing(self) -> int:
        return sum(one.is_missing for one in self.played)

    @property
    def stale(self) -> int:
        return sum(one.is_stale for one in self.played)


def replay(given: Given, definition: Definition, verifier: VerifierSpec, world: World) -> Replayed:
    """Climb, conclude, enter it into the task's history, and say what came of it.

    Raises:
        CannotReplay: the process has no such phase, or the history no such end.

    Source: docs/golden.md, "Replay".
    """
    case = case_of(given, definition, verifier, world)
    recorded = RecordedJudge(
        {one.key: one for one in given.recordings}, given.seats, token_of(case)
    )
    judge: TieredJudge = world.live or recorded
    gates = RecordedGates(given.gates) if given.gates is not None else None
    ports = Ports(world.workspace, world.probe, world.clock, judge, world.custom, gates)
    tiers: list[TierReport] = []
    judge.tier = 1
    for report in climb(case, ports):
        tiers.append(_as_saved(report))
        judge.tier = report.tier + 1
    conclusion = conclude(case, tiers, _task_state(case, given))
    overruled = _overruled(case, given, conclusion)
    observed = observed_of(
        tiers, conclusion, feedback_of(case, conclusion, given.history.findings).text, overruled
    )
    return Replayed(observed, recorded.played, conclusion, recorded.asked)


def case_of(given: Given, definition: Definition, verifier: VerifierSpec, world: World) -> Case:
    """Return what the engine verifies.

    Raises:
        CannotReplay: the process has no such phase, or the case lowers its tier.
    """
    phase: Phase | None = definition.phase(given.phase)
    if phase is None:
        raise CannotReplay(f"The process has no phase {given.phase!r}.")
    of_task = given.submission.task.is_critical_path
    for value in values_below_phase(phase, tier=given.tier, is_critical_path=of_task):
        raise CannotReplay(f"{'.'.join(value.field)}: {value.message}")
    if world.live is None:
        verifier = replace(verifier, models=given.seats.models)
    return Case(
        definition=definition,
        phase=phase,
        submission=given.submission,
        verifier=verifier,
        tier=tier_of(phase, given.tier),
        fence=given.fence,
        nonce="replay",
        attempt=given.history.attempts_used + 1,
        **(given.seats.known if world.live is None else world.judges or {}),
    )


def _task_state(case: Case, given: Given) -> TaskState:
    candidate, before = submission_sha256(case.submission), given.history
    if before.exhausted_reason and before.exhausted_reason not in REASONS:
        raise CannotReplay(f"There is no reason {before.exhausted_reason!r} to end a task for.")
    last = candidate if before.is_same_candidate else before.last_candidate
    was_counted = last == candidate if before.was_counted is None else before.was_counted
    history = TaskHistory(
        max_attempts=budget(case.submission.task.max_attempts, case.phase, case.definition.policy),
        attempts_used=before.attempts_used,
        submissions=before.submissions,
        repeats=before.repeats,
        last_candidate_sha256=last,
        exhausted=bool(before.exhausted_reason),
        exhausted_reason=before.exhausted_reason,
        counted_sha256s=frozenset({candidate} if was_counted else ()),
    )
    return TaskState(history, submission_hash=candidate)


def _overruled(case: Case, given: Given, conclusion: Conclusion) -> Accounted | None:
    """What a person's word makes of the task. None: there was none."""
    decided, accounted = given.decided, conclusion.accounted
    if decided is None:
        return None
    run = Entered(
        verdict=conclusion.verdict,
        candidate=submission_sha256(case.submission),
        is_entered=conclusion.verdict is not Verdict.UNDECIDED,
        attempt=accounted.attempt if accounted.counted else None,
        is_known=decided.is_known,
        is_last=decided.is_last,
        has_ended=decided.has_ended,
    )
    return overrule(accounted.history, run, decided.verdict)


def _as_saved(report: TierReport) -> TierReport:
    """As another worker would take it up: each tier is saved when it ends."""
    return TierReport.from_json(json.loads(json.dumps(report.to_json())))
