"""What a verdict is called and why it fell, in words for people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from verification.engine.finding import TraceReason
from verification.engine.outcome import Action, Outcome, Status, Verdict
from verification.runs.models import Run, RunState


@dataclass(frozen=True, slots=True)
class Badge:
    """A sign, a word and a tone. The sign is the path of a 12 by 12 drawing."""

    word: str
    tone: str
    sign: str
    spins: bool = False


_RING = "M6 1.5a4.5 4.5 0 1 1 0 9 4.5 4.5 0 0 1 0-9"
_CHECK = "M2 6.5 4.8 9.3 10 3"
_TRIANGLE = "M6 1.4 11 10.4H1zM6 4.9v2.4M6 8.9v.1"
_HALF = f"{_RING}v9M3.9 2.6v6.8M2.4 4.4v3.2"
_CROSS = "m2.5 2.5 7 7m0-7-7 7"
_QUESTION = "M4 4.1a2 2 0 1 1 2.9 1.8c-.6.4-.9.8-.9 1.4M6 9.7v.1"
_CLOCK = f"{_RING}M6 3.6V6l1.6 1.2"
_ARC = "M10.5 6A4.5 4.5 0 1 1 6 1.5"
_BOLT = "M6.8 1 3 6.8h2.7L5 11l4-5.8H6.2z"
_SLASH = f"{_RING}M2.8 9.2l6.4-6.4"
_DASH = "M2.5 6h7"

PASS = Badge("pass", "pass", _CHECK)
WARNINGS = Badge("warnings", "warn", _TRIANGLE)
PARTIAL = Badge("partial", "part", _HALF)
FAIL = Badge("fail", "fail", _CROSS)
UNDECIDED = Badge("undecided", "open", _QUESTION)

OUTCOMES = {
    Outcome.PASS: PASS,
    Outcome.PASS_WITH_WARNINGS: WARNINGS,
    Outcome.PARTIAL_VERIFIED: PARTIAL,
    Outcome.FAIL: FAIL,
}
STATES = {
    RunState.QUEUED: Badge("queued", "open", _CLOCK),
    RunState.RUNNING: Badge("running", "open", _ARC, spins=True),
    RunState.ERRORED: Badge("errored", "warn", _BOLT),
    RunState.CANCELLED: Badge("cancelled", "open", _SLASH),
}
IN_DOUBT = Badge("in doubt", "open", _CLOCK)
REMEDIATION_STATES = {
    "queued": Badge("queued", "open", _CLOCK),
    "claimed": Badge("being worked on", "open", _ARC),
    "resolved": Badge("resolved", "pass", _CHECK),
    "failed": Badge("failed", "fail", _CROSS),
    "expired": Badge("expired", "warn", _CLOCK),
}
WAIVER_STATES = {
    "active": Badge("active", "part", _HALF),
    "expired": Badge("expired", "warn", _CLOCK),
    "ended": Badge("ended", "open", _SLASH),
}
REMEDIATION_MODES = {
    "confirm_or_prune": "Confirm or take out",
    "targeted_remediation": "Remedy this alone",
    "queue_follow_up": "Follow up",
    "remediate_and_retry": "Remedy and submit again",
}
STATUSES = {
    Status.PASSED: Badge("passed", "pass", _CHECK),
    Status.FAILED: Badge("failed", "fail", _CROSS),
    Status.TIMED_OUT: Badge("timed out", "warn", _CLOCK),
    Status.SKIPPED: Badge("skipped", "open", _DASH),
    Status.ERROR: Badge("undecided", "open", _QUESTION),
}
FINDING_VERDICTS = {
    "violated": Badge("violated", "fail", _CROSS),
    "unknown": Badge("unknown", "open", _QUESTION),
    "satisfied": Badge("satisfied", "pass", _CHECK),
}
VIOLATED_ADVISORY = Badge("violated", "warn", _TRIANGLE)


def rule_badge(verdict: str, *, is_hard: bool) -> Badge | None:
    """A rule that only advises does not look like one that rejected the work."""
    if verdict == "violated" and not is_hard:
        return VIOLATED_ADVISORY
    return FINDING_VERDICTS.get(verdict)


def trace_reason(reason: str) -> str:
    """Why a rule was applied or skipped."""
    return "this phase" if reason == TraceReason.PHASE else reason.replace("_", " ")


def badge(outcome: str | None, verdict: str, state: str = "") -> Badge:
    """Doubt comes first: an undecided run is never shown as failed or partly verified."""
    if state and state != RunState.FINISHED:
        return STATES[RunState(state)]
    if verdict == Verdict.UNDECIDED:
        return UNDECIDED
    return OUTCOMES[Outcome(outcome)] if outcome else UNDECIDED


# Read after "Rejected: ", "Undecided: ", "Partly verified: " or "Accepted with warnings: ".
REASONS = {
    "hard_invariant_failed": "a hard requirement is not met",
    "output_empty": "nothing was submitted",
    "path_outside_workspace": "a path leads outside the workspace",
    "tool_failed": "a tool call failed",
    "nonzero_return_code": "the work ended with an error code",
    "deliverable_missing": "a declared deliverable is missing",
    "deliverable_empty": "a declared deliverable is empty",
    "syntax_invalid": "a file does not parse",
    "incomplete_deliverable_placeholder": "a placeholder was left in the work",
    "rule_violated": "a rule of the process is violated",
    "llm_semantic_failed": "the judge found that the task is not fulfilled",
    "custom_rejected": "the custom verifier refused it",
    "vote_rejected": "the vote went against it",
    "below_threshold": "its score is below the threshold",
    "score_missing": "there is no score, and the phase asks for one",
    "score_contradiction": "the judge's score contradicts its verdict",
    "evidence_gap": "evidence for what it says is missing",
    "install_failed": "installing its dependencies failed",
    "build_failed": "the build failed",
    "types_failed": "the type check failed",
    "tests_failed": "tests failed",
    "run_failed": "running it failed",
    "lint_failed": "the linter found errors",
    "security_failed": "a new security problem was found",
    "gate_timed_out": "a gate ran out of time",
    "gate_out_of_memory": "a gate ran out of memory",
    "recommendation_unconfirmed": "a recommendation rests on unconfirmed content",
    "unconfirmed_critical_path": "too much on the critical path is unconfirmed",
    "unconfirmed_above_threshold": "more is unconfirmed than the process allows",
    "recommendation_pruned": "unconfirmed recommendations were taken out",
    "no_tests": "there are no tests",
    "gate_contradiction": "a gate's report contradicts its exit code",
    "gate_error": "a gate could not do its work",
    "sandbox_unavailable": "the sandbox is not available",
    "verifier_unavailable": "no judge is configured for the tier that was asked for",
    "verifier_not_independent": "the judge is the model that did the work",
    "parse_inconclusive": "the judge's answer could not be read",
    "claims_missing": "a synthesis has no labelled claim",
    "infra_verifier_error": "the verifier could not be reached, or failed itself",
    "rate_limited": "the judge was too busy",
    "vote_divergence": "votes or alternatives disagree",
    "low_confidence": "the judge is not sure enough",
    "budget_exhausted": "the budget for judging is spent",
    "invalid_output": "the output is not of the shape that was asked for",
    "attempts_exhausted": "all attempts of the task are used",
    "repeated_candidate": "the same work came again and again",
    "changed_file_missing": "a file said to be changed is missing",
    "file_type_mismatch": "a file's content does not fit its name",
    "odd_payload": "a tool call has an odd shape",
    "tool_result_error": "a tool call reports an error",
    "unsupported_pattern": "a rule's pattern cannot be run",
    "claim_label_invalid": "a claim has an unknown label",
    "legacy_unscoped": "a rule names no phase",
}

NEXT_STEPS = {
    Action.RETRY: "Correct what is listed below and submit the task again.",
    Action.AUTO_COMMIT: "Nothing is left to do: the work can be used as it is.",
    Action.REVIEW_BRANCH: "Keep the work on a branch until a person has looked at it.",
    Action.REVERT: "Take the work back: it cannot be used as it is.",
}

NOT_REVIEWED = "The work can be used. No review is required."
PARTLY = "The work can be used, but not all of it is verified: what is not, is listed below."

NOT_BLAMED = "The work is not blamed and no attempt was counted."

# What whoever runs the place can do, where the fault is not with the work.
REMEDIES = {
    "verifier_unavailable": "Set LOOMVERIFY_JUDGE_MODEL, restart and verify again.",
    "sandbox_unavailable": "Verify again once the sandbox runs.",
    "rate_limited": "Verify again later.",
    "infra_verifier_error": "Settings, Judges tests the connection; verify again once it answers.",
    "parse_inconclusive": "Its replies are below: verify again, or let another judge look at it.",
    "score_missing": "Verify again, or let another judge look at it.",
    "score_contradiction": "Its replies are below: verify again, or let another judge look at it.",
    "claims_missing": "Submit the work with its labelled claims, or verify again with a judge.",
    "budget_exhausted": (
        "Raise it under Settings, Budgets, or verify again after midnight UTC. What a loop may cost"
        " in all is said by its phase."
    ),
}

# Of the phase's own verifier, which belongs to tier 1; a judge is missed after it.
NO_SUCH_VERIFIER = "Undecided: the custom verifier that the phase names is not there."
INSTALL_IT = (
    "Install it beside the workers or name it in LOOMVERIFY_VERIFIERS, restart and verify again."
)


def next_step(run: Run, action: str) -> str:
    """Say what to do next, for whoever did the work."""
    said: str = NEXT_STEPS.get(action, "")  # type: ignore[call-overload]
    task = run.task
    if not said:
        return ""
    needs_nobody = action == Action.AUTO_COMMIT or run.review_state == "not_required"
    if run.verdict == Verdict.ACCEPT and needs_nobody:
        if run.outcome == Outcome.PARTIAL_VERIFIED:
            return PARTLY
        return NOT_REVIEWED if action == Action.REVIEW_BRANCH else said
    if task.exhausted and run.verdict == Verdict.REJECT:
        if run.rerun_execution:
            return "Nothing: the task was tried again since and takes no more submissions."
        decides = ": a person decides" if run.review_state == "pending" else ""
        return f"{said} The task takes no more submissions{decides}."
    if not run.rerun_execution:
        return said
    used = f"{run.attempt or task.attempts_used} of {task.max_attempts} attempts used."
    return f"{said} {used}"


@dataclass(frozen=True, slots=True)
class Headline:
    badge: Badge
    title: str
    detail: str = ""


def reason(code: str) -> str:
    return REASONS.get(code) or code.replace("_", " ")


def headline(run: Run, *, shown: Any = None) -> Headline:
    """The verdict and why, in one sentence. `shown` is an evaluation other than the live one."""
    if shown is None and run.state != RunState.FINISHED:
        return _unfinished(run)
    said = shown or run
    mark = badge(said.outcome, said.verdict)
    if not said.outcome:
        return Headline(STATES[RunState.RUNNING], "This evaluation has not ended.")
    if said.verdict == Verdict.UNDECIDED:
        if said.reason_code == "verifier_unavailable" and not said.tier_achieved:
            return Headline(mark, NO_SUCH_VERIFIER, f"{NOT_BLAMED} {INSTALL_IT}")
        why = (
            reason(said.reason_code) if said.reason_code else "verification did not come to an end"
        )
        return Headline(mark, f"Undecided: {why}.", _detail(said))
    if said.verdict == Verdict.REJECT:
        why = reason(said.reason_code) if said.reason_code else "a hard requirement is not met"
        return Headline(mark, f"Rejected: {why}.")
    return Headline(mark, _accepted(said.outcome, said.reason_code))


def _detail(said: Any) -> str:
    """What helps a judge that failed helps no custom verifier, which belongs to tier 1."""
    is_own = said.reason_code == "infra_verifier_error" and not said.tier_achieved
    remedy = "" if is_own else REMEDIES.get(said.reason_code, "")
    return f"{NOT_BLAMED} {remedy}".strip()


def _accepted(outcome: str, code: str) -> str:
    if outcome == Outcome.PASS:
        return "Accepted: every check that was asked for holds."
    why = f": {reason(code)}" if code else ""
    if outcome == Outcome.PASS_WITH_WARNINGS:
        return f"Accepted with warnings{why}."
    return f"Partly verified{why}."


def _unfinished(run: Run) -> Headline:
    mark = STATES[RunState(run.state)]
    titles = {
        RunState.QUEUED: ("Waiting for a worker.", ""),
        RunState.RUNNING: ("Being verified.", ""),
        RunState.CANCELLED: ("Cancelled before it was judged.", ""),
        RunState.ERRORED: (
            "Verification failed on our side.",
            run.error_text or NOT_BLAMED,
        ),
    }
    return Headline(mark, *titles[RunState(run.state)])
