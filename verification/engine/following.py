"""What follows from a conclusion for whoever sent the work: the next step, and its words."""

from __future__ import annotations

from dataclasses import dataclass, replace

from verification.engine import confidence
from verification.engine.attempts import REPEATED_CANDIDATE, Accounted
from verification.engine.climb import Case, Conclusion
from verification.engine.feedback import Feedback, feedback
from verification.engine.outcome import Action
from verification.engine.reasons import reason


@dataclass(frozen=True, slots=True)
class Following:
    """`conclusion` is what was concluded, seen with the task's history."""

    conclusion: Conclusion
    action: Action
    said: Feedback

    @property
    def reruns_execution(self) -> bool:
        return self.action is Action.RETRY


def follow(case: Case, conclusion: Conclusion, accounted: Accounted) -> Following:
    """Say what comes next, once the run was entered into its task's history."""
    if accounted.terminal == REPEATED_CANDIDATE:
        conclusion = _as_repeated(conclusion)
    history = accounted.history
    action = confidence.action(
        conclusion.verdict,
        conclusion.confidence_level,
        attempts_left=history.attempts_left,
        terminal=accounted.terminal,
    )
    said = feedback(
        conclusion,
        attempt=accounted.attempt,
        max_attempts=history.max_attempts,
        acceptance_criteria=case.submission.task.acceptance_criteria,
        instructions=case.definition.remediation_instructions,
        terminal=accounted.terminal,
        repeats=history.repeats,
    )
    return Following(conclusion, action, said)


def counts_attempt(conclusion: Conclusion) -> bool:
    """Whether a reject for this reason uses up an attempt of the task."""
    return not conclusion.reason_code or reason(conclusion.reason_code).counts_attempt


def _as_repeated(conclusion: Conclusion) -> Conclusion:
    """A candidate sent again and again is a reason of its own, above what is wrong with it."""
    why = reason(REPEATED_CANDIDATE)
    return replace(
        conclusion,
        reason_code=why.code,
        severity_class=why.severity_class,
        retry_strategy=why.retry_strategy,
    )
