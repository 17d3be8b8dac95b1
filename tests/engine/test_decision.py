from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from processes.definition.model import AutoCommit, Enforcement, Phase, ScoreLoop
from tests.engine.cases import case, evaluate, finding, judged_case, ports
from tests.engine.decisions import (
    GOOD,
    PASSED_BUILD,
    PASSED_TESTS,
    POOR,
    decided,
    facts_of,
    task_at,
)
from tests.engine.judges import judged, reply
from tests.engine.strategies import gate_reports
from tests.tables import check_rows
from verification.engine.attempts import Accounted, TaskHistory
from verification.engine.climb import climb, conclude
from verification.engine.decision import TaskState, changes_code
from verification.engine.finding import Finding
from verification.engine.gates import GateReport, all_tests_passed, build_passed
from verification.engine.gating.findings import findings_of
from verification.engine.golden.given import RecordedGates
from verification.engine.outcome import (
    Action,
    ConfidenceLevel,
    FindingVerdict,
    Source,
    Status,
    Verdict,
)
from verification.engine.rating import Rating
from verification.engine.reasons import REASONS
from verification.engine.scoring import LoopDecision

ACCEPT, REJECT, UNDECIDED = Verdict.ACCEPT, Verdict.REJECT, Verdict.UNDECIDED
HIGH, MEDIUM, FAILED = ConfidenceLevel.HIGH, ConfidenceLevel.MEDIUM, ConfidenceLevel.FAILED
ADVISORY, OBSERVE = Enforcement.ADVISORY, Enforcement.OBSERVE
JUDGED: Any = {"tier_requested": 2, "tier_achieved": 2}
TESTED: Any = {"gates": (PASSED_TESTS,)}
LOW = finding(reason_code="low_confidence", enforcement=ADVISORY)
NO_TESTS = finding(reason_code="no_tests", enforcement=ADVISORY)
NO_SANDBOX = finding(
    reason_code="sandbox_unavailable",
    enforcement=ADVISORY,
    verdict=FindingVerdict.UNKNOWN,
    source=Source.GATE,
)
UNSCOPED = finding(reason_code="legacy_unscoped", enforcement=ADVISORY)
CONCERN = finding(source=Source.LLM, enforcement=ADVISORY)
BROKEN = finding(reason_code="syntax_invalid", enforcement=ADVISORY, path="m.py")


def gate_code(code: str, **fields: Any) -> Finding:
    return finding(reason_code=code, source=Source.GATE, **fields)


@check_rows(
    ("findings", "facts", "verdict", "level"),
    [
        ([], {}, ACCEPT, MEDIUM),
        ([], TESTED, ACCEPT, HIGH),
        ([], JUDGED, ACCEPT, HIGH),
        ([finding(reason_code="output_empty", enforcement=ADVISORY)], JUDGED, ACCEPT, MEDIUM),
        ([], {"tier_requested": 3, "tier_achieved": 2}, ACCEPT, MEDIUM),
        ([CONCERN], JUDGED, ACCEPT, MEDIUM),
        ([LOW], JUDGED, ACCEPT, MEDIUM),
        ([BROKEN], JUDGED, ACCEPT, MEDIUM),
        ([BROKEN], TESTED, ACCEPT, MEDIUM),
        ([replace(BROKEN, place={"certain": False})], JUDGED, ACCEPT, HIGH),
        ([replace(BROKEN, enforcement=OBSERVE)], JUDGED, ACCEPT, HIGH),
        ([], {**JUDGED, "changes_code": True}, ACCEPT, MEDIUM),
        ([], {**TESTED, "changes_code": True}, ACCEPT, HIGH),
        ([], {**JUDGED, "changes_code": True, "gates": (PASSED_BUILD,)}, ACCEPT, HIGH),
        ([], {"changes_code": True, "gates": (PASSED_BUILD,)}, ACCEPT, MEDIUM),
        (
            [],
            {**JUDGED, "changes_code": True, "auto_commit": AutoCommit.JUDGE_IS_ENOUGH},
            ACCEPT,
            HIGH,
        ),
        ([], {"changes_code": True, "auto_commit": AutoCommit.JUDGE_IS_ENOUGH}, ACCEPT, MEDIUM),
        (
            [finding(reason_code="infra_verifier_error", verdict=FindingVerdict.UNKNOWN)],
            TESTED,
            UNDECIDED,
            MEDIUM,
        ),
        ([finding()], {}, REJECT, FAILED),
        ([finding(source=Source.LLM, reason_code="llm_semantic_failed")], {}, REJECT, MEDIUM),
        ([gate_code("build_failed"), CONCERN], {}, REJECT, FAILED),
        ([gate_code("tests_failed"), CONCERN], {}, REJECT, FAILED),
        ([gate_code("install_failed"), NO_TESTS], {}, REJECT, FAILED),
        ([finding(), NO_TESTS], {}, REJECT, MEDIUM),
        ([NO_SANDBOX], JUDGED, ACCEPT, MEDIUM),
        ([finding(), NO_SANDBOX], {}, REJECT, FAILED),
        ([UNSCOPED], JUDGED, ACCEPT, MEDIUM),
        ([finding(reason_code="recommendation_pruned")], TESTED, ACCEPT, MEDIUM),
        ([finding(), UNSCOPED], {}, REJECT, FAILED),
        ([finding(), LOW], {}, REJECT, MEDIUM),
        ([NO_TESTS], JUDGED, ACCEPT, MEDIUM),
        ([gate_code("gate_timed_out"), NO_TESTS], {}, REJECT, FAILED),
        ([gate_code("gate_out_of_memory"), NO_TESTS], {}, REJECT, FAILED),
        ([gate_code("gate_timed_out"), CONCERN], {}, REJECT, FAILED),
        ([gate_code("gate_timed_out", enforcement=ADVISORY), NO_TESTS], {}, ACCEPT, MEDIUM),
        ([gate_code("tests_failed", enforcement=OBSERVE)], TESTED, ACCEPT, HIGH),
        ([], {"gates": (PASSED_TESTS, replace(PASSED_TESTS, old_failures=1))}, ACCEPT, MEDIUM),
    ],
)
def test_the_confidence_level_follows_from_everything_that_is_known(
    findings: list[Finding], facts: dict[str, Any], verdict: Verdict, level: ConfidenceLevel
) -> None:
    decision = decided(facts_of(*findings, **facts))

    assert (decision.decision.verdict, decision.confidence_level) == (verdict, level)


@pytest.mark.parametrize(
    ("findings", "used", "repeats", "action"),
    [
        ([finding()], 0, 0, Action.RETRY),
        ([finding(source=Source.LLM)], 0, 0, Action.RETRY),
        ([finding()], 1, 0, Action.RETRY),
        ([finding()], 2, 0, Action.REVERT),
        ([finding(source=Source.LLM)], 2, 0, Action.REVIEW_BRANCH),
        ([finding()], 1, 2, Action.REVERT),
        ([finding(verdict=FindingVerdict.UNKNOWN)], 2, 0, Action.REVIEW_BRANCH),
        ([], 2, 0, Action.REVIEW_BRANCH),
    ],
)
def test_only_a_reject_with_attempts_left_runs_the_work_again(
    findings: list[Finding], used: int, repeats: int, action: Action
) -> None:
    history = TaskHistory(3, used, used, repeats, "work" if repeats else "")

    decision = decided(facts_of(*findings), TaskState(history, "work"))

    assert decision.action is action


def test_an_accept_with_passed_tests_is_committed() -> None:
    assert decided(facts_of(**TESTED), task_at(used=2)).action is Action.AUTO_COMMIT


def test_only_a_repeated_submission_changes_the_reason() -> None:
    facts = facts_of(finding(reason_code="syntax_invalid"))
    history = TaskHistory(9, 1, 3, repeats=2, last_candidate_sha256="work")

    once, last = decided(facts, task_at(used=2)), decided(facts, TaskState(history, "work"))

    repeated = REASONS["repeated_candidate"]
    assert once.decision.reason_code == "syntax_invalid"
    assert once.accounted.terminal == "attempts_exhausted"
    assert last.decision.reason_code == last.accounted.terminal == repeated.code
    assert last.decision.severity_class is repeated.severity_class
    assert last.decision.retry_strategy is repeated.retry_strategy
    assert (last.findings, last.decision.verdict) == (facts.findings, REJECT)


@check_rows("code", [*REASONS])
def test_each_reason_but_an_output_of_the_wrong_shape_counts_an_attempt(code: str) -> None:
    decision = decided(facts_of(finding(reason_code=code)))

    is_reject = decision.decision.verdict is REJECT
    assert decision.accounted.counted is (is_reject and code != "invalid_output")


LOOP = ScoreLoop(threshold=8.0, max_iterations=3)
FINGERPRINT = "576afcb0f22fe1055ba59cb559bb105e086c929971ac1b35a037b72b2b18c2a2"
"""Of the finding of the score, in stored runs as well."""
RATED: Any = {**JUDGED, "score": LOOP}


def test_work_below_the_threshold_is_revised_by_the_lowest_parts() -> None:
    decision = decided(facts_of(ratings=(POOR,), **RATED))

    (below,) = decision.findings
    assert decision.decision.verdict is REJECT
    assert decision.decision.reason_code == below.reason_code == "below_threshold"
    assert below.message == (
        "The score is 3 of 10; the phase asks for 8. "
        "Lowest parts: practice 0 of 1; testing 0.5 of 2; quality 0.5 of 2."
    )
    assert (decision.action, decision.accounted.attempt) == (Action.RETRY, 1)
    assert decision.loop is not None
    assert decision.loop.decision is LoopDecision.ITERATE


@pytest.mark.parametrize(
    ("task", "loop", "decision"),
    [
        (task_at(used=2, submissions=2, most=9), LOOP, LoopDecision.FINISH_FORCED),
        (task_at(used=2, submissions=1), ScoreLoop(), LoopDecision.FINISH_FORCED),
        (task_at(spent_usd=2.0), ScoreLoop(budget_usd=2.0), LoopDecision.STOP),
    ],
)
def test_work_below_the_threshold_that_cannot_be_revised_is_undecided(
    task: TaskState, loop: ScoreLoop, decision: LoopDecision
) -> None:
    run = decided(facts_of(ratings=(POOR,), **{**RATED, "score": loop}), task)

    assert (run.decision.verdict, run.decision.reason_code) == (UNDECIDED, "below_threshold")
    assert run.decision.review_reasons == ("below_threshold",)
    assert not run.decision.may_pass
    assert (run.confidence_level, run.action) == (MEDIUM, Action.REVIEW_BRANCH)
    assert run.accounted.history.attempts_used == task.history.attempts_used
    assert run.loop is not None
    assert run.loop.decision is decision


@pytest.mark.parametrize("rating", [GOOD, Rating(2.5, 2, 1, 2, 0.5)])
def test_work_that_reaches_the_threshold_is_finished(rating: Rating) -> None:
    decision = decided(facts_of(ratings=(rating,), **RATED))

    assert (decision.decision.verdict, decision.action) == (ACCEPT, Action.AUTO_COMMIT)
    assert decision.score is not None
    assert decision.score.total == rating.total
    assert decision.loop is not None
    assert decision.loop.decision is LoopDecision.FINISH


def test_the_finding_of_the_score_names_its_rule_and_tier() -> None:
    (judged_one,) = decided(facts_of(ratings=(POOR,), **RATED)).findings
    (unjudged,) = decided(facts_of(score=LOOP, tier_achieved=0)).findings

    assert (judged_one.rule, judged_one.tier) == ("score", 2)
    assert (unjudged.rule, unjudged.tier) == ("score", 1)
    assert judged_one.source is unjudged.source is Source.DETERMINISTIC
    assert judged_one.verdict is FindingVerdict.VIOLATED
    assert unjudged.verdict is FindingVerdict.UNKNOWN
    assert unjudged.message == "The phase asks for a score, and neither gates nor a judge gave one."


FAILED_LINT = GateReport("lint", Status.FAILED, "a", exit_code=1, problem_count=9)


@pytest.mark.parametrize(
    ("facts", "lowest"),
    [
        (
            {"gates": (PASSED_BUILD,)},
            "tests 0 of 4 (not asked for); lint 0 of 2 (not asked for).",
        ),
        (
            {"ratings": (Rating(1.5, 2, 0.8, 2, 0.6),)},
            "testing 0.8 of 2; correctness 1.5 of 3; practice 0.6 of 1.",
        ),
        (
            {"gates": (FAILED_LINT,), "ratings": (Rating(3, 1.5, 1, 0.5, 1),)},
            "lint 0 of 2 (9 found); quality 0.5 of 2; testing 1 of 2.",
        ),
        (
            {"gates": (PASSED_BUILD,), "ratings": (Rating(correctness=0.5),)},
            "tests 0 of 4 (not asked for); lint 0 of 2 (not asked for).",
        ),
    ],
)
def test_the_lowest_parts_are_those_that_make_the_score(facts: dict[str, Any], lowest: str) -> None:
    (finding_of_score,) = decided(facts_of(score=LOOP, **facts)).findings

    assert finding_of_score.message.partition("Lowest parts: ")[2] == lowest


def test_the_score_of_gates_is_told_without_a_loop() -> None:
    with_gates = decided(facts_of(gates=(PASSED_BUILD,))).score
    silent = replace(facts_of(gates=(PASSED_BUILD,)), phase=Phase("p", gates=("build", "test")))
    unread = decided(facts_of(gates=(replace(PASSED_BUILD, status=Status.ERROR),))).score

    assert with_gates is not None
    assert with_gates.total == 4
    assert (silent_score := decided(silent).score) is not None
    assert [part.why for part in silent_score.parts if part.name == "tests"] == [
        "gate error: test told nothing"
    ]
    assert unread is None
    assert decided(facts_of()).score is None
    assert decided(facts_of(ratings=(GOOD,), **JUDGED)).score is None
    assert decided(facts_of()).loop is None


@pytest.mark.parametrize(
    "task",
    [
        TaskState(
            TaskHistory(3, 2, 2, last_candidate_sha256="work", counted_sha256s=frozenset({"work"})),
            "work",
        ),
        task_at(used=2, submissions=2, may_count=False),
    ],
)
def test_a_submission_that_counts_no_attempt_may_be_revised_at_the_last_one(
    task: TaskState,
) -> None:
    run = decided(facts_of(ratings=(POOR,), **{**RATED, "score": ScoreLoop()}), task)

    assert (run.decision.verdict, run.decision.reason_code) == (REJECT, "below_threshold")
    assert (run.accounted.counted, run.action) == (False, Action.RETRY)


def test_the_loop_says_which_iteration_it_was_and_why_it_ended() -> None:
    last = decided(facts_of(ratings=(POOR,), **RATED), task_at(used=2, submissions=2, most=9)).loop
    again = decided(
        facts_of(ratings=(POOR,), **RATED), task_at(submissions=2, is_new_submission=False)
    ).loop
    ended = decided(facts_of(finding(), **RATED), task_at(used=2, submissions=1)).loop

    assert last is not None
    assert last.why == "Iteration 3 of 3 was the last; the score is 3."
    assert again is not None
    assert again.why == "3 of 8, iteration 2 of 3."
    assert ended is not None
    assert ended.why == "The task has ended: attempts_exhausted."


def test_a_final_reject_ends_the_task_and_a_second_look_is_no_new_submission() -> None:
    rejected = finding(reason_code="custom_rejected")

    final = decided(facts_of(rejected, is_final=True)).accounted
    again = decided(facts_of(rejected), task_at(submissions=1, is_new_submission=False)).accounted

    assert (final.terminal, final.history.submissions) == ("custom_rejected", 1)
    assert (again.terminal, again.history.submissions) == ("", 1)


def test_a_phase_that_asks_for_a_score_accepts_nothing_without_one() -> None:
    decision = decided(facts_of(**RATED))

    assert decision.decision.verdict is UNDECIDED
    assert decision.decision.reason_code == "score_missing"
    assert decision.decision.may_pass
    assert decision.action is Action.REVIEW_BRANCH


def test_the_score_adds_nothing_to_a_reject_or_to_doubt() -> None:
    rejected = decided(facts_of(finding(), ratings=(POOR,), **RATED))
    doubted = decided(facts_of(finding(verdict=FindingVerdict.UNKNOWN), ratings=(POOR,), **RATED))

    assert [one.reason_code for one in rejected.findings] == ["rule_violated"]
    assert [one.reason_code for one in doubted.findings] == ["rule_violated"]
    assert doubted.loop is not None
    assert doubted.loop.decision is LoopDecision.STOP


def test_the_finding_of_the_score_keeps_its_fingerprint_while_the_score_changes() -> None:
    first = decided(facts_of(ratings=(POOR,), **RATED)).findings[0]
    second = decided(facts_of(ratings=(replace(POOR, testing=2.0),), **RATED)).findings[0]

    assert first.message != second.message
    assert first.fingerprint == second.fingerprint == FINGERPRINT


def test_a_decision_of_a_person_stays_counted() -> None:
    settled = decided(facts_of(finding())).accounted

    decision = decided(facts_of(), replace(task_at(used=1), settled=settled))

    assert decision.accounted is settled


def test_a_run_that_a_person_decided_is_not_retried_without_attempts() -> None:
    settled = Accounted(TaskHistory(3, 3, 3), 3)

    decision = decided(facts_of(finding()), replace(task_at(used=3), settled=settled))

    assert decision.action is Action.REVERT


@pytest.mark.parametrize(
    ("others", "are_known"),
    [
        ([], True),
        ([replace(PASSED_TESTS, component="b"), GateReport("build", Status.FAILED)], True),
        ([replace(PASSED_TESTS, component="b", is_guess=True)], False),
        ([replace(PASSED_TESTS, component="b", is_word=True)], False),
        ([replace(PASSED_TESTS, component="b", tests=None)], False),
        ([replace(PASSED_TESTS, component="b", status=Status.SKIPPED, tests=None)], False),
    ],
)
def test_tests_of_one_component_do_not_vouch_for_another(
    others: list[GateReport], are_known: bool
) -> None:
    assert all_tests_passed([PASSED_TESTS, *others]) is are_known


@pytest.mark.parametrize(
    ("reports", "is_known"),
    [
        ([], False),
        ([PASSED_TESTS], False),
        ([PASSED_BUILD], True),
        ([PASSED_BUILD, PASSED_TESTS], True),
        ([PASSED_BUILD, replace(PASSED_BUILD, component="b", status=Status.SKIPPED)], False),
        ([PASSED_BUILD, replace(PASSED_BUILD, component="b", status=Status.FAILED)], False),
        ([replace(PASSED_BUILD, is_lost=True)], False),
        ([replace(PASSED_BUILD, exit_code=1)], False),
    ],
)
def test_a_build_counts_if_each_component_is_known_to_build(
    reports: list[GateReport], is_known: bool
) -> None:
    assert build_passed(reports) is is_known


@pytest.mark.parametrize(
    ("report", "level"),
    [
        (PASSED_TESTS, HIGH),
        (replace(PASSED_TESTS, is_guess=True), MEDIUM),
        (replace(PASSED_TESTS, is_word=True), MEDIUM),
    ],
)
def test_only_a_report_of_tests_makes_the_level_high(
    report: GateReport, level: ConfidenceLevel
) -> None:
    asked = case(gates=["test"], output="Done.")

    tiers = list(climb(asked, replace(ports(), gates=RecordedGates([report]))))

    concluded = conclude(asked, tiers)
    assert (concluded.verdict, concluded.confidence_level) == (ACCEPT, level)


@given(st.lists(gate_reports(), max_size=4))
def test_no_report_that_the_work_names_makes_the_level_higher(reports: list[GateReport]) -> None:
    words = [replace(report, is_word=True) for report in reports]

    assert not all_tests_passed(words)
    for word, report in zip(words, reports, strict=True):
        assert list(findings_of(word)) == list(findings_of(report))


@pytest.mark.parametrize(
    ("submitted", "is_code"),
    [
        ({"output": "A report."}, False),
        ({"files": {"report.md": "x", "data.csv": "a,b"}}, False),
        ({"files": {"src/main.PY": "x"}}, True),
        ({"files": {"query.sql": "x"}}, True),
        ({"files": {"m.py": "x", "report.md": "x"}, "changed": frozenset({"report.md"})}, True),
        ({"changed": frozenset()}, True),
        ({"diff": "--- a\n+++ b\n"}, True),
        ({"diff": " \n"}, False),
    ],
)
def test_a_change_a_diff_or_a_file_of_code_is_a_change_of_code(
    submitted: dict[str, Any], is_code: bool
) -> None:
    assert changes_code(case(**submitted).submission) is is_code


def test_a_judge_alone_does_not_commit_code() -> None:
    code, _, _ = judged(reply(), files={"m.py": "x = 1\n"})
    text, _, _ = judged(reply(), output="A report.")

    assert (code.verdict, code.action) == (ACCEPT, Action.REVIEW_BRANCH)
    assert (text.verdict, text.action) == (ACCEPT, Action.AUTO_COMMIT)


def test_a_file_that_does_not_parse_is_never_committed() -> None:
    broken, _, _ = judged(
        reply(),
        files={"fixtures/m.py": "def f(:\n"},
        changed=frozenset({"fixtures/m.py"}),
        output="Done.",
    )

    assert broken.verdict is ACCEPT
    assert [one.reason_code for one in broken.findings] == ["syntax_invalid"]
    assert broken.action is Action.REVIEW_BRANCH


def test_nothing_submitted_is_never_committed() -> None:
    empty, _, _ = judged(reply(), output=" \n")

    assert empty.action is not Action.AUTO_COMMIT


def test_tier_one_alone_has_no_confidence() -> None:
    accepted, rejected = evaluate(output="Done."), evaluate(output="Done.", return_code=1)

    assert (accepted.verdict, accepted.confidence) == (ACCEPT, None)
    assert (rejected.verdict, rejected.confidence) == (REJECT, None)
    assert judged(reply(confidence=0.7), output="Done.")[0].confidence == 0.7


def test_the_task_of_a_case_counts_the_attempts_before_it() -> None:
    asked = judged_case(output="Done.", return_code=1, of_case={"attempt": 3})

    concluded = conclude(asked, list(climb(asked, ports())))

    assert concluded.accounted.terminal == "attempts_exhausted"
    assert not concluded.reruns_execution


@pytest.mark.parametrize(("used", "action"), [(0, Action.RETRY), (2, Action.REVIEW_BRANCH)])
def test_a_judges_concerns_beside_passed_gates_end_in_a_review_branch(
    used: int, action: Action
) -> None:
    concerns = finding(source=Source.LLM, reason_code="llm_semantic_failed", tier=2)
    facts = facts_of(
        concerns, gates=(PASSED_BUILD, PASSED_TESTS), tier_requested=2, tier_achieved=2
    )

    decision = decided(facts, task_at(used))

    assert (decision.decision.verdict, decision.confidence_level) == (REJECT, MEDIUM)
    assert decision.action is action
