from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from tests.engine.gating.test_judging import (
    ALL_SKIPPED,
    END,
    GO_BUILD,
    GOOD,
    LINT,
    MILD,
    MIXED,
    NONE,
    NPM_BUILD,
    PLAIN,
    PYTEST,
    SECURITY,
    TSC,
    TYPES,
    UNSAFE,
    pytest_ended,
    reasons,
    recorded,
    told,
)
from verification.engine import policy
from verification.engine.gating.findings import findings_of
from verification.engine.gating.stages import Ended, Expected, Stage, Stream
from verification.engine.outcome import Status
from verification.engine.reasons import Effect
from verification.engine.reports.problems import ProblemFormat
from verification.engine.reports.testing import TestFormat

STAGES = st.sampled_from(
    [
        PYTEST, PLAIN, LINT, SECURITY, TYPES, TSC, GO_BUILD, NPM_BUILD,
        Stage("install", "pip"), Stage("run", "x"),
        *(Stage("test", "x", Expected(one)) for one in TestFormat),
        *(Stage(gate, "x", Expected(one, stream))
          for one in ProblemFormat for gate in ("lint", "types") for stream in Stream),
    ]
)  # fmt: skip
TEXTS = st.binary(max_size=60) | st.sampled_from(
    [
        GOOD, MIXED, NONE, ALL_SKIPPED, UNSAFE, MILD, b"[]", b"{}", b"", END.encode(),
        b"3 passed in 0.1s", b"1 failed in 0.1s", b"no tests ran in 0.1s", b"1..0",
        recorded("go/calc.jsonl"), recorded("jest/calc.json"), recorded("node/calc.tap"),
        recorded("mypy/store.jsonl"), recorded("tsc/problems.txt"), recorded("govet/problems.txt"),
    ]
)  # fmt: skip
ENDS = st.builds(
    Ended,
    exit_code=st.none() | st.sampled_from([0, 1, 2, 5, 124, 126, 127, 137, 139]) | st.integers(),
    is_timed_out=st.booleans(),
    lost=st.sampled_from(["", "", "", "The engine is gone."]),
    out=TEXTS,
    err=TEXTS,
    is_whole=st.booleans(),
    report=st.none() | TEXTS,
)


@given(STAGES, ENDS)
@example(PYTEST, Ended())
def test_however_a_command_ends_its_gate_says_what_may_be_said(stage: Stage, ended: Ended) -> None:
    report = told(stage, ended)
    found = list(findings_of(report))

    assert report.gate == stage.gate
    if ended.exit_code != 0 or ended.lost or ended.is_timed_out:
        assert report.status is not Status.PASSED
    if ended.lost or ended.exit_code is None:
        assert report.is_lost or report.status is Status.TIMED_OUT
    if report.status is Status.ERROR:
        assert found
        assert all(policy.effect_of(one) is Effect.UNDECIDED for one in found)
    if report.status in (Status.FAILED, Status.TIMED_OUT):
        assert found


@given(STAGES.filter(lambda one: one.gate == "test"), ENDS)
@example(PYTEST, pytest_ended(0, GOOD))
@example(PYTEST, pytest_ended(0, NONE))
def test_tests_that_passed_were_counted_or_there_are_none(stage: Stage, ended: Ended) -> None:
    report = told(stage, ended)
    found = reasons(report)

    if report.status is Status.PASSED and "gate_contradiction" not in found:
        assert report.tests is not None
        assert report.tests.failed + report.tests.errors == 0
        assert report.tests.passed or found == ["no_tests"]


@given(STAGES.filter(lambda one: one.gate in ("lint", "security")), ENDS)
def test_a_look_that_passed_has_counted_what_it_saw(stage: Stage, ended: Ended) -> None:
    report = told(stage, ended)

    assert report.status is not Status.PASSED or report.problem_count is not None
