"""Laws of the decision about a run, over generated cases."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from processes.definition.model import AutoCommit, Enforcement, Phase, ScoreLoop
from tests.engine.decisions import decided
from tests.engine.strategies import gate_reports
from tests.tiers import long_search
from verification.engine import policy
from verification.engine.attempts import TaskHistory
from verification.engine.decision import RunDecision, RunFacts, TaskState
from verification.engine.finding import Finding, with_fingerprints
from verification.engine.gates import GateReport, all_tests_passed, build_passed
from verification.engine.outcome import (
    Action,
    ConfidenceLevel,
    FindingVerdict,
    Outcome,
    Source,
    Status,
    Verdict,
)
from verification.engine.rating import SEMANTIC_PARTS, Rating
from verification.engine.reasons import REASONS
from verification.engine.reports.model import TestCounts
from verification.engine.scoring import LoopDecision, ScoreSource
from verification.engine.verifier import LEGACY_FLAGS, Flags

EXAMPLES = 10_000
ACCEPT, REJECT, UNDECIDED = Verdict.ACCEPT, Verdict.REJECT, Verdict.UNDECIDED

FINDINGS = st.builds(
    Finding,
    rule=st.sampled_from("abc"),
    reason_code=st.sampled_from(sorted(REASONS)),
    message=st.just("It is so."),
    # Most runs are accepted without the rare hard finding.
    enforcement=st.sampled_from([Enforcement.ADVISORY] * 4 + [*Enforcement]),
    verdict=st.sampled_from([FindingVerdict.VIOLATED, FindingVerdict.UNKNOWN]),
    source=st.sampled_from(Source),
    tier=st.integers(1, 3),
    place=st.sampled_from([{}, {"certain": False}]),
)
RATINGS = st.builds(
    Rating,
    **{
        name: st.sampled_from([None, 0.0, most / 2, *[float(most)] * 4])
        for name, most in SEMANTIC_PARTS.items()
    },
)
PASSED = st.sampled_from(
    [
        GateReport("test", Status.PASSED, "a", exit_code=0, tests=TestCounts(passed=3)),
        GateReport("build", Status.PASSED, "a", exit_code=0),
    ]
)
LOOPS = st.none() | st.builds(
    ScoreLoop,
    threshold=st.sampled_from([0.0, 5.0, 8.0, 10.0]),
    max_iterations=st.integers(1, 4),
    budget_usd=st.sampled_from([None, 0.0, 1.0]),
)


@st.composite
def run_facts(draw: st.DrawFn) -> RunFacts:
    findings = with_fingerprints(draw(st.lists(FINDINGS, max_size=3)))
    tier = draw(st.integers(1, 3))
    return RunFacts(
        findings=policy.ordered(findings, {}),
        flags=draw(st.sampled_from([Flags(), Flags(), LEGACY_FLAGS])),
        phase=Phase("p", score=draw(LOOPS)),
        tier_requested=tier,
        tier_achieved=draw(st.sampled_from([tier, tier, 0, 1])),
        gates=tuple(draw(st.lists(PASSED | gate_reports(), max_size=3))),
        ratings=tuple(draw(st.lists(RATINGS, max_size=3))),
        changes_code=draw(st.booleans()),
        auto_commit=draw(st.sampled_from(AutoCommit)),
        is_final=draw(st.sampled_from([False, False, True])),
    )


@st.composite
def task_states(draw: st.DrawFn) -> TaskState:
    most = draw(st.integers(1, 4))
    used = draw(st.integers(0, most))
    history = TaskHistory(
        most,
        attempts_used=used,
        submissions=draw(st.integers(used, 5)),
        repeats=draw(st.integers(0, 2)),
        last_candidate_sha256=draw(st.sampled_from(["", "work"])),
        counted_sha256s=draw(st.sampled_from([frozenset(), frozenset({"work"})])),
        exhausted=used == most,
        exhausted_reason="attempts_exhausted" if used == most else "",
    )
    return TaskState(
        history,
        "work",
        is_new_submission=draw(st.booleans()),
        may_count=draw(st.booleans()),
        spent_usd=draw(st.sampled_from([0.0, 2.0])),
    )


def codes(run: RunDecision) -> set[str]:
    return {
        finding.reason_code
        for finding in run.findings
        if finding.enforcement is not Enforcement.OBSERVE
    }


@long_search(EXAMPLES)
@given(run_facts(), task_states())
def test_what_is_committed_without_a_person_is_sure(facts: RunFacts, task: TaskState) -> None:
    run = decided(facts, task)

    if run.action is not Action.AUTO_COMMIT:
        return
    assert run.decision.verdict is ACCEPT
    assert run.confidence_level is ConfidenceLevel.HIGH
    assert run.decision.outcome is not Outcome.PARTIAL_VERIFIED
    assert facts.tier_achieved >= facts.tier_requested
    if facts.phase.score is not None:
        assert run.loop is not None
        assert run.score is not None
        assert run.loop.decision is LoopDecision.FINISH
        assert run.score.total >= facts.phase.score.threshold
        assert run.score.source is not ScoreSource.NEITHER
    certain = [one for one in run.findings if one.place.get("certain", True)]
    assert not any(
        one.reason_code == "syntax_invalid"
        and one.verdict is FindingVerdict.VIOLATED
        and one.enforcement is not Enforcement.OBSERVE
        for one in certain
    )
    assert all_tests_passed(facts.gates) or facts.tier_achieved >= 2
    if facts.changes_code and facts.auto_commit is not AutoCommit.JUDGE_IS_ENOUGH:
        assert all_tests_passed(facts.gates) or build_passed(facts.gates)
    doubts = {"low_confidence", "vote_divergence", "no_tests", "gate_error", "gate_contradiction"}
    assert not codes(run) & (doubts | {"sandbox_unavailable", "output_empty"})


@long_search(EXAMPLES)
@given(run_facts(), task_states())
def test_actions_levels_and_verdicts_agree(facts: RunFacts, task: TaskState) -> None:
    run = decided(facts, task)

    verdict, level, action = run.decision.verdict, run.confidence_level, run.action
    assert (action is Action.AUTO_COMMIT) is (level is ConfidenceLevel.HIGH)
    assert verdict is ACCEPT or level is not ConfidenceLevel.HIGH
    assert verdict is REJECT or level is not ConfidenceLevel.FAILED
    assert verdict is REJECT or action not in (Action.RETRY, Action.REVERT)
    assert action is not Action.REVERT or level is ConfidenceLevel.FAILED
    assert action is not Action.RETRY or run.accounted.history.attempts_left > 0
    if verdict is not ACCEPT:
        assert run.decision.reason_code


@long_search(EXAMPLES)
@given(run_facts(), task_states())
def test_a_score_below_the_threshold_is_never_accepted_or_reverted(
    facts: RunFacts, task: TaskState
) -> None:
    run = decided(facts, task)

    loop = facts.phase.score
    if loop is None:
        assert run.loop is None
        assert not codes(run) & {"below_threshold", "score_missing"} - {
            finding.reason_code for finding in facts.findings
        }
        return
    assert run.score is not None
    is_reached = run.score.total >= loop.threshold and run.score.source is not ScoreSource.NEITHER
    assert is_reached or run.decision.verdict is not ACCEPT
    assert run.loop is not None
    assert (run.loop.decision is LoopDecision.FINISH) is (
        is_reached and run.decision.verdict is ACCEPT
    )
    assert run.decision.verdict is not ACCEPT or run.loop.decision is LoopDecision.FINISH
    if run.decision.reason_code == "below_threshold" and run.findings != facts.findings:
        assert run.action is not Action.REVERT
        if run.decision.verdict is REJECT and task.may_count and not run.accounted.terminal:
            is_known = task.submission_hash in task.history.counted_sha256s
            assert run.accounted.counted is not is_known
        if run.action is Action.RETRY:
            assert run.loop.decision is LoopDecision.ITERATE


@long_search(EXAMPLES)
@given(run_facts(), task_states(), st.data())
def test_more_doubt_never_makes_a_run_surer(
    facts: RunFacts, task: TaskState, data: st.DataObject
) -> None:
    """Another finding never leads to a commit."""
    finding = with_fingerprints([data.draw(FINDINGS)])
    worse = replace(facts, findings=policy.ordered([*facts.findings, *finding], {}))

    before, after = decided(facts, task), decided(worse, task)

    assert after.action is not Action.AUTO_COMMIT or before.action is Action.AUTO_COMMIT
    assert after.decision.verdict is not ACCEPT or before.decision.verdict is ACCEPT


@given(run_facts(), task_states())
def test_the_order_of_findings_plays_no_part(facts: RunFacts, task: TaskState) -> None:
    reversed_findings = policy.ordered(reversed(facts.findings), {})

    assert decided(replace(facts, findings=reversed_findings), task) == decided(facts, task)
