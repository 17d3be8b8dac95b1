"""Everything known about a run, in few words."""

from __future__ import annotations

from typing import Any

from processes.definition.model import Phase, ScoreLoop
from verification.engine import policy
from verification.engine.attempts import TaskHistory
from verification.engine.decision import RunDecision, RunFacts, TaskState, decide_run
from verification.engine.finding import Finding, with_fingerprints
from verification.engine.gates import GateReport
from verification.engine.outcome import Status
from verification.engine.rating import Rating
from verification.engine.reports.model import TestCounts
from verification.engine.verifier import Flags

PASSED_TESTS = GateReport("test", Status.PASSED, "a", exit_code=0, tests=TestCounts(passed=3))
PASSED_BUILD = GateReport("build", Status.PASSED, "a", exit_code=0)
GOOD = Rating(3, 2, 2, 2, 1)
POOR = Rating(1, 1, 0.5, 0.5, 0)


def facts_of(*findings: Finding, score: ScoreLoop | None = None, **fields: Any) -> RunFacts:
    """A run of tier 1 with these findings; `score` is the loop of its phase."""
    usual: dict[str, Any] = {"flags": Flags(), "tier_requested": 1, "tier_achieved": 1}
    ordered = policy.ordered(with_fingerprints(findings), {})
    return RunFacts(ordered, phase=Phase("p", score=score), **{**usual, **fields})


def task_at(used: int = 0, submissions: int = 0, most: int = 3, **fields: Any) -> TaskState:
    """A task with this many used attempts and decided submissions."""
    return TaskState(TaskHistory(most, used, submissions), "work", **fields)


def decided(facts: RunFacts, task: TaskState | None = None) -> RunDecision:
    return decide_run(facts, task or task_at())
