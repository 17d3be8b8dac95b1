"""Attempts of a task: what counts as one, and when there are none left."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace

from processes.definition.model import Phase, ProcessPolicy
from verification.engine.evidence import Submission
from verification.engine.outcome import LastOutcome, Verdict

DEFAULT_MAX_ATTEMPTS = 3
IDENTICAL_ENDS_AT = 3
"""The third identical rejected candidate in a row ends the task."""
SUBMISSIONS_PER_ATTEMPT = 3


def candidate_sha256(submission: Submission) -> str:
    """Name the work itself: its output, files and claims, whatever was said around them."""
    candidate = {
        "output": submission.output,
        "files": {file.path: file.sha256 for file in submission.files},
        "claims": [
            {
                "text": claim.text,
                "label": claim.label,
                "section": claim.section,
                "evidence": list(claim.evidence),
            }
            for claim in submission.claims
        ],
    }
    text = json.dumps(candidate, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def budget(task_max: int | None, phase: Phase, policy: ProcessPolicy) -> int:
    """How many attempts a task has: what it asks for, else its phase's, else the process's."""
    usual = phase.score.max_iterations if phase.score else DEFAULT_MAX_ATTEMPTS
    for given in (task_max, phase.max_attempts, policy.max_attempts):
        if given is not None:
            return given
    return usual


@dataclass(frozen=True, slots=True)
class TaskHistory:
    """A task so far. `repeats` counts how often its last candidate came again in a row.

    `submissions` counts what was decided: a lost verification is not the submitter's.
    """

    max_attempts: int
    attempts_used: int = 0
    submissions: int = 0
    repeats: int = 0
    last_candidate_sha256: str = ""
    last_outcome: str = ""
    exhausted: bool = False
    exhausted_reason: str = ""

    @property
    def attempts_left(self) -> int:
        return 0 if self.exhausted else max(0, self.max_attempts - self.attempts_used)


@dataclass(frozen=True, slots=True)
class Accounted:
    """`attempt` is the number of the attempt that a reject belongs to, else None.

    `terminal` is the reason code that ended the task, '' while it goes on.
    """

    history: TaskHistory
    attempt: int | None = None
    counted: bool = False
    terminal: str = ""


def account(
    history: TaskHistory,
    *,
    candidate: str,
    verdict: Verdict,
    is_new_submission: bool = True,
    counts_attempt: bool = True,
    final: str = "",
) -> Accounted:
    """Enter one finished evaluation into its task's history.

    `is_new_submission` is False for a second evaluation of a run that was entered before;
    `counts_attempt` is False for a reason that is not an attempt (`invalid_output`); `final` is
    the reason code of a reject after which no attempt can help, '' for any other.

    Source: docs/engine.md, "Attempts".
    """
    if verdict is Verdict.UNDECIDED:
        return Accounted(replace(history, last_outcome=LastOutcome.SYSTEM_ERROR))
    is_repeat = candidate == history.last_candidate_sha256
    is_rejected = verdict is Verdict.REJECT
    counted = is_rejected and counts_attempt and not is_repeat and not history.exhausted
    entered = history
    if is_new_submission or counted:  # else it was the last one in its time
        entered = replace(
            history,
            submissions=history.submissions + is_new_submission,
            last_candidate_sha256=candidate,
            repeats=history.repeats + is_new_submission if is_repeat else 0,
        )
    if not is_rejected:
        return Accounted(replace(entered, repeats=0, last_outcome=LastOutcome.PASSED))
    return _rejected(entered, counted=counted, final=final)


def _rejected(history: TaskHistory, *, counted: bool, final: str) -> Accounted:
    history = replace(
        history,
        attempts_used=history.attempts_used + counted,
        last_outcome=LastOutcome.REJECTED,
    )
    terminal = _terminal(history, final)
    if terminal:
        history = replace(history, exhausted=True, exhausted_reason=terminal)
    return Accounted(history, history.attempts_used, counted, terminal)


def _terminal(history: TaskHistory, final: str) -> str:
    if history.exhausted:
        return history.exhausted_reason
    if final:
        return final
    if history.attempts_used >= history.max_attempts:
        return "attempts_exhausted"
    is_stuck = history.repeats + 1 >= IDENTICAL_ENDS_AT
    if is_stuck or history.submissions > SUBMISSIONS_PER_ATTEMPT * history.max_attempts:
        return "repeated_candidate"
    return ""
