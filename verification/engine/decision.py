"""Decide one run, once: outcome, verdict, score, loop, attempts, confidence level and action.

Everything that acts on a run reads this decision: the API, landing, reviews, reports, feedback.

Source: docs/engine.md, "Decision".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from processes.definition.model import AutoCommit, Enforcement, Phase
from verification.engine.attempts import (
    ATTEMPTS_EXHAUSTED,
    REPEATED_CANDIDATE,
    Accounted,
    TaskHistory,
    account,
)
from verification.engine.evidence import Submission
from verification.engine.finding import Finding, with_fingerprints
from verification.engine.gates import GateReport, all_tests_passed, build_passed
from verification.engine.gating.components import CODE_SUFFIXES
from verification.engine.gating.measuring import measured
from verification.engine.outcome import (
    WHOLE_OUTCOMES,
    Action,
    ConfidenceLevel,
    FindingVerdict,
    Source,
    Verdict,
)
from verification.engine.policy import Decision, decide, ordered
from verification.engine.rating import SEMANTIC_PARTS, Rating
from verification.engine.reasons import reason
from verification.engine.scoring import (
    Loop,
    Score,
    ScoreSource,
    loop_decision,
    resolved,
    semantic_parts,
)
from verification.engine.verifier import Flags

BELOW_THRESHOLD, SCORE_MISSING = "below_threshold", "score_missing"
SCORE_RULE = "score"
MAX_PARTS_NAMED = 3

OTHER_CODE_SUFFIXES = (
    ".clj", ".dart", ".erl", ".ex", ".exs", ".groovy", ".hs", ".ipynb", ".jl", ".lua", ".m", ".mm",
    ".pl", ".pm", ".ps1", ".r", ".scala", ".sol", ".sql", ".svelte", ".swift", ".tf", ".vue", ".zig",
)  # fmt: skip
"""Suffixes of code that no gate builds or tests."""

_WORK_FAILED = frozenset({"install_failed", "build_failed", "tests_failed"})
_CUT_OFF = frozenset({"gate_timed_out", "gate_out_of_memory"})
_GATES_IN_DOUBT = frozenset({"gate_error", "gate_contradiction", "sandbox_unavailable", "no_tests"})
_JUDGE_IN_DOUBT = frozenset({"low_confidence", "vote_divergence"})
_NOT_SURE = _GATES_IN_DOUBT | _JUDGE_IN_DOUBT | {"legacy_unscoped", "output_empty"}
"""Reason codes beside which accepted work goes to a person."""


@dataclass(frozen=True, slots=True)
class TaskState:
    """The task of a run before the run is counted.

    `is_new_submission` is False if the run was counted before. `may_count` is False if the run
    uses an attempt already. `settled`: a person decided this run, and the task stays as it is.
    `spent_usd` is what judging all runs of the task has cost, this one included.
    """

    history: TaskHistory
    submission_hash: str = ""
    is_new_submission: bool = True
    may_count: bool = True
    settled: Accounted | None = None
    spent_usd: float = 0.0


@dataclass(frozen=True, slots=True)
class RunFacts:
    """Everything known about a run when it is decided. `findings` are in the policy's order.

    `tier_achieved` is the highest tier that gave an answer. `is_final`: a reject ends the task.
    """

    findings: tuple[Finding, ...]
    flags: Flags
    phase: Phase
    tier_requested: int
    tier_achieved: int
    gates: tuple[GateReport, ...] = ()
    ratings: tuple[Rating, ...] = ()
    changes_code: bool = False
    auto_commit: AutoCommit = AutoCommit.BUILD_OR_TESTS
    is_final: bool = False
    rule_order: Mapping[str, int] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class RunDecision:
    """`decision` and `findings` include what the score adds. `accounted` is the task afterwards."""

    decision: Decision
    findings: tuple[Finding, ...]
    score: Score | None
    loop: Loop | None
    accounted: Accounted
    confidence_level: ConfidenceLevel
    action: Action


def changes_code(submission: Submission) -> bool:
    """Whether the work is a change of code, or has files of code."""
    if submission.changed is not None or submission.diff.strip():
        return True
    endings = (*CODE_SUFFIXES, *OTHER_CODE_SUFFIXES)
    return any(file.path.lower().endswith(endings) for file in submission.files)


def decide_run(facts: RunFacts, task: TaskState) -> RunDecision:
    """Decide a run from everything that is known about it and its task."""
    findings = facts.findings
    decision = decide(findings, facts.flags)
    score = _score(facts)
    iterations = task.history.submissions + task.is_new_submission
    if decision.verdict is Verdict.ACCEPT and (shortfall := _shortfall(facts, task, score)):
        findings = ordered([*findings, shortfall], facts.rule_order)
        decision = decide(findings, facts.flags)
    accounted = _count(facts, task, decision)
    if accounted.terminal == REPEATED_CANDIDATE:
        repeated = reason(REPEATED_CANDIDATE)
        decision = replace(
            decision,
            reason_code=repeated.code,
            severity_class=repeated.severity_class,
            retry_strategy=repeated.retry_strategy,
        )
    loop = None
    if facts.phase.score is not None and score is not None:
        loop = loop_decision(
            score,
            loop=facts.phase.score,
            iterations=iterations,
            cost_usd=task.spent_usd,
            verdict=decision.verdict,
            is_below_threshold=decision.reason_code == BELOW_THRESHOLD,
            ended=accounted.history.exhausted_reason,
        )
    level = _confidence_level(facts, findings, decision)
    return RunDecision(
        decision, findings, score, loop, accounted, level, _action(decision, level, accounted)
    )


def _score(facts: RunFacts) -> Score | None:
    """The score of a phase that asks for one, or for gates. None if nothing was measured."""
    if facts.phase.score is None and not facts.gates:
        return None
    totals = [rating.total for rating in facts.ratings if rating.total is not None]
    score = resolved(totals, measured(facts.gates, facts.phase.gates))
    score = replace(score, semantic=semantic_parts(facts.ratings))
    is_asked = facts.phase.score is not None
    return score if is_asked or score.source is not ScoreSource.NEITHER else None


def _shortfall(facts: RunFacts, task: TaskState, score: Score | None) -> Finding | None:
    """What the score loop holds against work that is accepted otherwise.

    Below the threshold the agent revises while it may. After its last iteration a person decides.
    """
    loop = facts.phase.score
    if loop is None or score is None:
        return None
    if score.source is ScoreSource.NEITHER:
        message = "The phase asks for a score, and neither gates nor a judge gave one."
        return _score_finding(facts, SCORE_MISSING, message, FindingVerdict.UNKNOWN)
    if score.total >= loop.threshold:
        return None
    may_revise = (
        task.history.submissions + task.is_new_submission < loop.max_iterations
        and (loop.budget_usd is None or task.spent_usd < loop.budget_usd)
        and _after_reject(task).terminal != ATTEMPTS_EXHAUSTED
    )
    message = f"The score is {score.total:g} of 10; the phase asks for {loop.threshold:g}."
    if lowest := _lowest_parts(score):
        message = f"{message} Lowest parts: {'; '.join(lowest)}."
    verdict = FindingVerdict.VIOLATED if may_revise else FindingVerdict.UNKNOWN
    return _score_finding(facts, BELOW_THRESHOLD, message, verdict)


def _after_reject(task: TaskState) -> Accounted:
    return task.settled or account(
        task.history,
        candidate=task.submission_hash,
        verdict=Verdict.REJECT,
        counts_attempt=task.may_count,
    )


def _lowest_parts(score: Score) -> list[str]:
    """The parts that lack most of their points, the worst first."""
    by_judge = score.source is ScoreSource.SEMANTIC
    parts = [*(score.semantic if by_judge else ())]
    parts += [part for part in score.parts if part.is_measured or not by_judge]
    lacking = [part for part in parts if part.points < part.most and not part.is_left_out]
    lacking.sort(key=lambda part: part.points / part.most)
    return [
        f"{part.name} {part.points:g} of {part.most:g}"
        + (f" ({part.why})" if part.name not in SEMANTIC_PARTS else "")
        for part in lacking[:MAX_PARTS_NAMED]
    ]


def _score_finding(
    facts: RunFacts, reason_code: str, message: str, verdict: FindingVerdict
) -> Finding:
    finding = Finding(
        rule=SCORE_RULE,
        reason_code=reason_code,
        message="",
        enforcement=Enforcement.HARD,
        verdict=verdict,
        tier=max(1, facts.tier_achieved),
    )
    # The fingerprint leaves out the message: its numbers change with each attempt.
    return replace(with_fingerprints([finding])[0], message=message)


def _count(facts: RunFacts, task: TaskState, decision: Decision) -> Accounted:
    if task.settled is not None:
        return task.settled
    counts = not decision.reason_code or reason(decision.reason_code).counts_attempt
    return account(
        task.history,
        candidate=task.submission_hash,
        verdict=decision.verdict,
        is_new_submission=task.is_new_submission,
        counts_attempt=task.may_count and counts,
        final=decision.reason_code if facts.is_final else "",
    )


def _confidence_level(
    facts: RunFacts, findings: Sequence[Finding], decision: Decision
) -> ConfidenceLevel:
    if decision.verdict is Verdict.REJECT:
        return _level_of_reject(findings)
    is_whole = decision.verdict is Verdict.ACCEPT and decision.outcome in WHOLE_OUTCOMES
    is_high = is_whole and _may_land(facts, findings)
    return ConfidenceLevel.HIGH if is_high else ConfidenceLevel.MEDIUM


def _level_of_reject(findings: Sequence[Finding]) -> ConfidenceLevel:
    """FAILED if what was measured is certain. A judge's word, or doubt beside it, is MEDIUM."""
    counted = [finding for finding in findings if _counts(finding)]
    # A phase that is decided without gates is as sure of a reject as one that asks for none.
    codes = {finding.reason_code for finding in counted if not _is_without_gates(finding)}
    was_cut_off = any(
        finding.reason_code in _CUT_OFF and finding.enforcement is Enforcement.HARD
        for finding in counted
    )
    if was_cut_off or codes & _WORK_FAILED:
        return ConfidenceLevel.FAILED
    in_doubt = codes & (_GATES_IN_DOUBT | _JUDGE_IN_DOUBT | {BELOW_THRESHOLD})
    by_judge = any(finding.source is Source.LLM for finding in counted)
    return ConfidenceLevel.MEDIUM if in_doubt or by_judge else ConfidenceLevel.FAILED


def _may_land(facts: RunFacts, findings: Sequence[Finding]) -> bool:
    """Whether accepted work is sure enough to be committed without a person.

    The loop plays no part: work that has not finished it is not accepted.
    """
    counted = [finding for finding in findings if _counts(finding)]
    codes = {finding.reason_code for finding in counted}
    tests_passed = all_tests_passed(facts.gates)
    is_built = tests_passed or build_passed(facts.gates)
    judge_passed = facts.tier_achieved >= 2
    return not (
        codes & _NOT_SURE
        or any(finding.source is Source.LLM for finding in counted)
        or any(_is_certain_syntax_error(finding) for finding in counted)
        or facts.tier_achieved < facts.tier_requested
        or any(report.is_excused for report in facts.gates)
        or not (tests_passed or judge_passed)
        or (
            facts.changes_code
            and not is_built
            and not (judge_passed and facts.auto_commit is AutoCommit.JUDGE_IS_ENOUGH)
        )
    )


def _is_without_gates(finding: Finding) -> bool:
    is_advisory = finding.enforcement is Enforcement.ADVISORY
    return finding.reason_code == "sandbox_unavailable" and is_advisory


def _is_certain_syntax_error(finding: Finding) -> bool:
    is_syntax = finding.reason_code == "syntax_invalid"
    is_violated = finding.verdict is FindingVerdict.VIOLATED
    return is_syntax and is_violated and finding.place.get("certain", True) is True


def _action(decision: Decision, level: ConfidenceLevel, accounted: Accounted) -> Action:
    """The work is run again only for a reject with attempts left."""
    if decision.verdict is Verdict.REJECT:
        if accounted.history.attempts_left > 0:  # none is left of a task that has ended
            return Action.RETRY
        is_failed = level is ConfidenceLevel.FAILED
        return Action.REVERT if is_failed else Action.REVIEW_BRANCH
    return Action.AUTO_COMMIT if level is ConfidenceLevel.HIGH else Action.REVIEW_BRANCH


def _counts(finding: Finding) -> bool:
    is_open = finding.verdict is not FindingVerdict.SATISFIED
    return is_open and finding.enforcement is not Enforcement.OBSERVE
