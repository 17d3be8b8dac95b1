"""Attempts of a task: what counts as one, and when there are none left."""

from __future__ import annotations

from dataclasses import dataclass, replace

from processes.definition.model import Phase, ProcessPolicy
from verification.engine.outcome import LastOutcome, Verdict

DEFAULT_MAX_ATTEMPTS = 3
IDENTICAL_ENDS_AT = 3
"""The third identical rejected submission in a row ends the task."""
SUBMISSIONS_PER_ATTEMPT = 3
ATTEMPTS_EXHAUSTED = "attempts_exhausted"
REPEATED_CANDIDATE = "repeated_candidate"


def budget(task_max: int | None, phase: Phase, policy: ProcessPolicy) -> int:
    """How many attempts a task has: what it asks for, else its phase's, else the process's."""
    usual = phase.score.max_iterations if phase.score else DEFAULT_MAX_ATTEMPTS
    for given in (task_max, phase.max_attempts, policy.max_attempts):
        if given is not None:
            return given
    return usual


@dataclass(frozen=True, slots=True)
class TaskHistory:
    """A task so far. `repeats` counts how often its last submission came again in a row.

    `submissions` counts what was decided: a lost verification is not the submitter's.
    `counted_sha256s` are the submission hashes of the rejects that used up an attempt.
    """

    max_attempts: int
    attempts_used: int = 0
    submissions: int = 0
    repeats: int = 0
    last_candidate_sha256: str = ""
    last_outcome: str = ""
    exhausted: bool = False
    exhausted_reason: str = ""
    counted_sha256s: frozenset[str] = frozenset()

    @property
    def attempts_left(self) -> int:
        return 0 if self.exhausted else max(0, self.max_attempts - self.attempts_used)


@dataclass(frozen=True, slots=True)
class Accounted:
    """`attempt` is the number of the attempt that a reject belongs to, else None.

    `terminal` is the reason code that ended the task, '' while it goes on. `was_counted`: the
    same submission used up an attempt before.
    """

    history: TaskHistory
    attempt: int | None = None
    counted: bool = False
    terminal: str = ""
    was_counted: bool = False


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
    was_accepted = history.last_outcome == LastOutcome.PASSED
    is_repeat = candidate == history.last_candidate_sha256 and not was_accepted
    is_rejected = verdict is Verdict.REJECT
    is_known = candidate in history.counted_sha256s
    counted = is_rejected and counts_attempt and not is_known and not history.exhausted
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
    accounted = _rejected(entered, candidate, counted=counted, final=final)
    return replace(accounted, was_counted=is_known)


@dataclass(frozen=True, slots=True)
class Entered:
    """What a task's history holds of one run.

    `verdict` is what the run stands at. `is_entered`: it was decided before, by whomever.
    `attempt` is the number of the attempt that it used up; `is_known`: the same candidate used
    up one elsewhere. `is_last`: nothing of the task was decided after it. `has_ended`: the task
    is exhausted for a reason that is this run's own.
    """

    verdict: Verdict
    candidate: str
    is_entered: bool = True
    attempt: int | None = None
    is_known: bool = False
    is_last: bool = True
    has_ended: bool = False


def overrule(history: TaskHistory, run: Entered, verdict: Verdict) -> Accounted:
    """Enter a person's verdict on a run. One that changes nothing leaves everything as it is.

    `attempt` of the answer is the one that the run uses up from now on, None for none.

    Source: docs/engine.md, "Attempts".
    """
    if verdict is run.verdict or verdict is Verdict.UNDECIDED:
        return Accounted(history, run.attempt)
    is_repeat = run.candidate == history.last_candidate_sha256
    entered = replace(history, submissions=history.submissions + (not run.is_entered))
    if run.is_last:
        entered = replace(
            entered,
            last_candidate_sha256=run.candidate,
            repeats=history.repeats + (is_repeat and not run.is_entered) if is_repeat else 0,
        )
    if verdict is Verdict.ACCEPT:
        return Accounted(_accepted(entered, run))
    is_known = run.is_known or run.candidate in history.counted_sha256s
    counted = run.attempt is None and not is_known and not history.exhausted
    accounted = _rejected(entered, run.candidate, counted=counted, final="")
    history = accounted.history
    if not run.is_last:
        history = replace(history, last_outcome=entered.last_outcome)
    attempt = history.attempts_used if counted else run.attempt
    return Accounted(history, attempt, counted, accounted.terminal)


def _accepted(history: TaskHistory, run: Entered) -> TaskHistory:
    """Give the attempt back, and open a task again that nothing else has ended."""
    is_repeated = run.candidate == history.last_candidate_sha256
    used_up = frozenset() if run.attempt is None else frozenset({run.candidate})
    history = replace(
        history,
        attempts_used=max(0, history.attempts_used - len(used_up)),
        counted_sha256s=history.counted_sha256s - used_up,
        repeats=0 if is_repeated else history.repeats,
        last_outcome=LastOutcome.PASSED if run.is_last else history.last_outcome,
    )
    ends_no_more = {
        "": False,
        ATTEMPTS_EXHAUSTED: True,
        REPEATED_CANDIDATE: is_repeated,
    }.get(history.exhausted_reason, run.has_ended)
    if not ends_no_more or history.attempts_used >= history.max_attempts:
        return history
    return replace(history, exhausted=False, exhausted_reason="")


def _rejected(history: TaskHistory, candidate: str, *, counted: bool, final: str) -> Accounted:
    history = replace(
        history,
        attempts_used=history.attempts_used + counted,
        counted_sha256s=history.counted_sha256s | ({candidate} if counted else frozenset()),
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
        return ATTEMPTS_EXHAUSTED
    is_stuck = history.repeats + 1 >= IDENTICAL_ENDS_AT
    if is_stuck or history.submissions > SUBMISSIONS_PER_ATTEMPT * history.max_attempts:
        return REPEATED_CANDIDATE
    return ""
