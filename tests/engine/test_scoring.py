from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from processes.definition.model import ScoreLoop
from tests.tables import check_rows
from verification.engine.outcome import Verdict
from verification.engine.reports.model import TestCounts
from verification.engine.scoring import (
    TOP,
    Loop,
    LoopDecision,
    Measured,
    Score,
    ScoreSource,
    automated,
    loop_decision,
    resolved,
)

ALL_WELL = Measured(True, True, TestCounts(passed=10), 0, 0)


def test_the_parts_add_up_to_ten() -> None:
    found = automated(ALL_WELL)

    assert found is not None
    assert sum(part.most for part in found.parts) == TOP


@check_rows(
    ("measured", "total"),
    [
        (ALL_WELL, 10),
        (replace(ALL_WELL, tests=TestCounts(passed=3, failed=1)), 9),
        (replace(ALL_WELL, tests=TestCounts(passed=4, errors=2)), 8.67),
        (replace(ALL_WELL, tests=TestCounts(skipped=9)), 6),
        (replace(ALL_WELL, tests=None), 6),
        (replace(ALL_WELL, lint_problems=4), 9),
        (replace(ALL_WELL, lint_problems=5), 8),
        (replace(ALL_WELL, lint_problems=None), 8),
        (replace(ALL_WELL, critical_errors=1), 9),
        (replace(ALL_WELL, build_ok=False), 7),
        (replace(ALL_WELL, build_ok=None), 10),
        (replace(ALL_WELL, build_ok=None, install_ok=None), 7),
        (replace(ALL_WELL, install_ok=False), 0),
        (replace(ALL_WELL, high_security=0), 10),
        (replace(ALL_WELL, high_security=2), 9.09),
        (replace(ALL_WELL, changed_lines=(1, 2)), 9.55),
        (replace(ALL_WELL, changed_lines=(0, 0)), 10),
        (Measured(lint_problems=0), 2),
        (Measured(), None),
    ],
)
def test_what_gates_told_is_added_up(measured: Measured, total: float | None) -> None:
    found = automated(measured)

    assert (found and found.total) == total


@pytest.mark.parametrize(
    ("files", "why"),
    [
        ((), "2 of 5"),
        ((("src/b.js", 3),), "2 of 5; 3 new lines in src/b.js were in no report"),
        ((("src/b.js", 1),), "2 of 5; 1 new line in src/b.js was in no report"),
        (
            (("a.js", 2), ("b.js", 1), ("c.js", 1)),
            "2 of 5; 4 new lines in a.js and 2 other files were in no report",
        ),
        ((("a.cs", 0),), "2 of 5; a.cs was in no report"),
        ((("a.cs", 0), ("b.cs", 0)), "2 of 5; a.cs and 1 other file were in no report"),
    ],
)
def test_new_lines_that_no_report_speaks_of_are_told_of(
    files: tuple[tuple[str, int], ...], why: str
) -> None:
    found = automated(replace(ALL_WELL, changed_lines=(2, 5), unreported=files))

    assert found is not None
    assert found.parts[-1].why == why


def test_lines_by_the_works_own_word_earn_their_share_and_say_whose_word_it_was() -> None:
    found = automated(replace(ALL_WELL, changed_lines=(1, 2), is_coverage_word=True))

    assert found is not None
    assert (found.parts[-1].points, found.parts[-1].why) == (0.5, "1 of 2 by the work's own word")


def test_what_was_not_measured_earns_nothing_and_says_so() -> None:
    found = automated(Measured(lint_problems=0))

    assert found is not None
    assert {part.name for part in found.parts if not part.is_measured} == {
        "build", "tests", "no critical errors",
    }  # fmt: skip
    assert {part.why for part in found.parts if not part.is_measured} == {"not asked for"}


@pytest.mark.parametrize(
    ("semantic", "measured", "total", "source"),
    [
        ([7.5], ALL_WELL, 7.5, ScoreSource.SEMANTIC),
        ([9.5], Measured(), 9.5, ScoreSource.SEMANTIC),
        ([9.5], Measured(lint_problems=0), 9.5, ScoreSource.SEMANTIC),
        ([9.5], replace(ALL_WELL, tests=TestCounts(passed=1, failed=1)), 8, ScoreSource.SEMANTIC),
        ([9.5], Measured(build_ok=False), 7, ScoreSource.SEMANTIC),
        ([9.5], Measured(install_ok=False), 0, ScoreSource.SEMANTIC),
        ([9.5], replace(ALL_WELL, high_security=1), 9.09, ScoreSource.SEMANTIC),
        ([6], replace(ALL_WELL, tests=TestCounts(failed=1)), 6, ScoreSource.SEMANTIC),
        ([9, 2, 8], ALL_WELL, 8, ScoreSource.SEMANTIC),
        ([0], ALL_WELL, 0, ScoreSource.SEMANTIC),
        ([float("nan"), float("inf"), -1, 11], ALL_WELL, 10, ScoreSource.AUTOMATED),
        ([], Measured(), 5, ScoreSource.NEITHER),
    ],
)
def test_a_judges_score_comes_first_within_what_gates_measured(
    semantic: list[float], measured: Measured, total: float, source: ScoreSource
) -> None:
    found = resolved(semantic, measured)

    assert (found.total, found.source) == (total, source)


@pytest.mark.parametrize(
    ("total", "iterations", "cost", "budget", "decision"),
    [
        (8.0, 1, 9, 1, LoopDecision.FINISH),
        (7.99, 10, 9, 1, LoopDecision.FINISH_FORCED),
        (7.99, 9, 1, 1, LoopDecision.STOP),
        (7.99, 9, 0.99, 1, LoopDecision.ITERATE),
        (7.99, 9, 1_000, None, LoopDecision.ITERATE),
    ],
)
def test_the_loop_ends_when_it_is_good_enough_too_long_or_too_dear(
    total: float, iterations: int, cost: float, budget: float | None, decision: LoopDecision
) -> None:
    score = Score(total, ScoreSource.AUTOMATED)

    found: Loop = loop_decision(
        score,
        loop=ScoreLoop(budget_usd=budget),
        iterations=iterations,
        cost_usd=cost,
        verdict=Verdict.ACCEPT,
    )

    assert found.decision is decision
    assert found.why


def test_a_score_that_nothing_stands_behind_finishes_nothing() -> None:
    loose = ScoreLoop(threshold=4.0)

    found = loop_decision(
        resolved([], Measured()), loop=loose, iterations=0, cost_usd=0, verdict=Verdict.ACCEPT
    )

    assert found.decision is LoopDecision.ITERATE


@pytest.mark.parametrize(
    ("verdict", "iterations", "cost", "ended", "decision"),
    [
        (Verdict.ACCEPT, 10, 2, "attempts_exhausted", LoopDecision.FINISH),
        (Verdict.REJECT, 1, 0, "", LoopDecision.ITERATE),
        (Verdict.REJECT, 10, 2, "", LoopDecision.FINISH_FORCED),
        (Verdict.REJECT, 1, 2, "", LoopDecision.STOP),
        (Verdict.REJECT, 1, 0, "attempts_exhausted", LoopDecision.FINISH_FORCED),
        (Verdict.UNDECIDED, 1, 0, "", LoopDecision.STOP),
        (Verdict.UNDECIDED, 1, 2, "", LoopDecision.STOP),
        (Verdict.UNDECIDED, 10, 0, "", LoopDecision.STOP),
    ],
)
def test_the_best_score_finishes_nothing_that_was_not_accepted(
    verdict: Verdict, iterations: int, cost: float, ended: str, decision: LoopDecision
) -> None:
    found = loop_decision(
        Score(TOP, ScoreSource.SEMANTIC),
        loop=ScoreLoop(budget_usd=1),
        iterations=iterations,
        cost_usd=cost,
        verdict=verdict,
        ended=ended,
    )

    assert found.decision is decision


@check_rows("verdict", [*Verdict])
@check_rows("total", [0, 7.99, 8, 10])
@check_rows("iterations", [0, 1, 10])
def test_only_an_accept_is_ever_finished_for_being_good(
    verdict: Verdict, total: float, iterations: int
) -> None:
    score = Score(total, ScoreSource.AUTOMATED)

    found = loop_decision(
        score, loop=ScoreLoop(), iterations=iterations, cost_usd=0, verdict=verdict
    )

    is_good = verdict is Verdict.ACCEPT and total >= 8
    assert (found.decision is LoopDecision.FINISH) is is_good


COUNTS = st.builds(
    TestCounts,
    passed=st.integers(0, 50), failed=st.integers(0, 50), errors=st.integers(0, 50),
    skipped=st.integers(0, 50),
)  # fmt: skip
MEASURED = st.builds(
    Measured,
    install_ok=st.none() | st.booleans(), build_ok=st.none() | st.booleans(),
    tests=st.none() | COUNTS, lint_problems=st.none() | st.integers(0, 9),
    critical_errors=st.none() | st.integers(0, 3), high_security=st.none() | st.integers(0, 3),
    changed_lines=st.none() | st.tuples(st.just(1), st.integers(1, 9)),
)  # fmt: skip


@given(MEASURED)
def test_a_score_lies_between_none_and_all(measured: Measured) -> None:
    found = automated(measured)

    assert found is None or 0 <= found.total <= TOP


@given(MEASURED, COUNTS)
def test_another_failed_test_never_makes_a_score_better(
    measured: Measured, counts: TestCounts
) -> None:
    worse = replace(counts, failed=counts.failed + 1)
    if not counts.ran:
        return

    one, other = (automated(replace(measured, tests=tests)) for tests in (counts, worse))

    assert one is not None
    assert other is not None
    assert other.total <= one.total
