from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from processes.definition.model import Phase, ProcessPolicy, ScoreLoop
from tests.tables import check_rows
from verification.engine.attempts import (
    Accounted,
    Entered,
    TaskHistory,
    account,
    budget,
    overrule,
)
from verification.engine.outcome import Verdict

ACCEPT, REJECT, UNDECIDED = Verdict.ACCEPT, Verdict.REJECT, Verdict.UNDECIDED
VERDICTS = st.sampled_from(Verdict)
STEPS = st.lists(st.tuples(st.sampled_from("ABC"), VERDICTS), max_size=20)


def after(*steps: tuple[str, Verdict], max_attempts: int = 3) -> Accounted:
    """Enter submissions one after another, as long as the task is open."""
    accounted = Accounted(TaskHistory(max_attempts=max_attempts))
    for candidate, verdict in steps:
        if not accounted.history.exhausted:
            accounted = account(accounted.history, candidate=candidate, verdict=verdict)
    return accounted


@pytest.mark.parametrize(
    ("verdict", "terminal", "exhausted"),
    [
        (REJECT, "custom_rejected", True),
        (ACCEPT, "", False),
        (UNDECIDED, "", False),
    ],
)
def test_a_final_reject_ends_the_task_with_attempts_left(
    verdict: Verdict, terminal: str, exhausted: bool
) -> None:
    history = TaskHistory(max_attempts=3)

    accounted = account(history, candidate="A", verdict=verdict, final="custom_rejected")

    assert (accounted.terminal, accounted.history.exhausted) == (terminal, exhausted)
    assert accounted.history.exhausted_reason == terminal


@pytest.mark.parametrize(
    ("steps", "used", "repeats", "terminal"),
    [
        ([("A", REJECT)], 1, 0, ""),
        ([("A", REJECT), ("A", REJECT)], 1, 1, ""),
        ([("A", REJECT)] * 3, 1, 2, "repeated_candidate"),
        ([("A", REJECT), ("B", REJECT)], 2, 0, ""),
        ([("A", REJECT), ("B", REJECT), ("A", REJECT)], 2, 0, ""),
        ([("A", REJECT), ("B", REJECT)] * 5, 2, 0, "repeated_candidate"),
        ([("A", REJECT), ("B", REJECT), ("A", REJECT), ("A", REJECT)], 2, 1, ""),
        # What was accepted is no rejected submission that comes again.
        ([("A", ACCEPT), ("A", REJECT)], 1, 0, ""),
        ([("A", ACCEPT), ("A", REJECT), ("A", REJECT)], 1, 1, ""),
        ([("A", REJECT), ("B", REJECT), ("C", REJECT)], 3, 0, "attempts_exhausted"),
        ([("A", UNDECIDED)] * 9 + [("A", REJECT)], 1, 0, ""),
        # Doubt between two identical rejects does not make the second a new attempt.
        ([("A", REJECT), ("A", UNDECIDED), ("A", REJECT)], 1, 1, ""),
        ([("A", REJECT), ("B", ACCEPT)], 1, 0, ""),
        ([("A", ACCEPT), ("B", REJECT)] * 2 + [("C", REJECT)], 2, 0, ""),
        ([("A", ACCEPT)] * 9 + [("B", REJECT)], 1, 0, "repeated_candidate"),
    ],
)
def test_what_counts_as_an_attempt(
    steps: list[tuple[str, Verdict]], used: int, repeats: int, terminal: str
) -> None:
    accounted = after(*steps)

    assert accounted.history.attempts_used == used
    assert accounted.history.repeats == repeats
    assert accounted.terminal == terminal
    assert accounted.history.exhausted_reason == terminal
    assert accounted.history.exhausted == bool(terminal)


@pytest.mark.parametrize(
    ("verdict", "outcome"),
    [(ACCEPT, "passed"), (REJECT, "rejected"), (UNDECIDED, "system_error")],
)
def test_the_last_outcome_is_kept(verdict: Verdict, outcome: str) -> None:
    assert after(("A", verdict)).history.last_outcome == outcome


def test_a_reject_knows_its_attempt() -> None:
    assert (after(("A", REJECT)).attempt, after(("A", REJECT)).counted) == (1, True)
    assert after(("A", REJECT), ("A", REJECT)).attempt == 1
    assert not after(("A", REJECT), ("A", REJECT)).counted
    assert after(("A", ACCEPT)).attempt is None


def test_a_second_evaluation_of_a_run_is_no_second_submission() -> None:
    once = after(("A", REJECT)).history

    again = account(once, candidate="A", verdict=REJECT, is_new_submission=False)

    assert again.history == once


def test_an_earlier_candidate_that_is_verified_again_does_not_become_the_last_one() -> None:
    both = after(("A", REJECT), ("B", REJECT)).history

    earlier = account(
        both, candidate="A", verdict=REJECT, is_new_submission=False, counts_attempt=False
    )
    again = account(earlier.history, candidate="B", verdict=REJECT)

    assert earlier.history == both
    assert (again.counted, again.history.repeats) == (False, 1)


def test_an_undecided_run_that_is_reverified_counts_then() -> None:
    doubt = after(("A", UNDECIDED)).history

    decided = account(doubt, candidate="A", verdict=REJECT, is_new_submission=False)

    assert (decided.counted, decided.history.attempts_used) == (True, 1)


def test_what_cannot_be_read_is_rejected_without_counting() -> None:
    history = TaskHistory(max_attempts=3)

    accounted = account(history, candidate="A", verdict=REJECT, counts_attempt=False)

    assert (accounted.counted, accounted.history.attempts_used) == (False, 0)
    assert accounted.history.last_outcome == "rejected"


@given(STEPS, STEPS, VERDICTS)
def test_an_identical_submission_never_counts_twice(
    earlier: list[tuple[str, Verdict]], later: list[tuple[str, Verdict]], verdict: Verdict
) -> None:
    before = after(*earlier, ("A", REJECT), *later, max_attempts=100).history

    again = account(before, candidate="A", verdict=verdict)

    assert again.history.attempts_used == before.attempts_used
    assert before.exhausted or again.was_counted is (verdict is REJECT)


@given(STEPS)
def test_a_task_uses_up_an_attempt_for_each_different_reject(
    steps: list[tuple[str, Verdict]],
) -> None:
    rejected = {candidate for candidate, verdict in steps if verdict is REJECT}

    history = after(*steps, max_attempts=100).history

    assert history.exhausted or history.counted_sha256s == rejected
    assert history.attempts_used == len(history.counted_sha256s)


@given(STEPS)
def test_undecided_changes_the_last_outcome_and_nothing_else(
    steps: list[tuple[str, Verdict]],
) -> None:
    before = after(*steps).history

    accounted = account(before, candidate="Z", verdict=UNDECIDED)

    assert accounted == Accounted(replace(before, last_outcome="system_error"))


@given(STEPS, st.integers(1, 4))
def test_no_task_uses_more_than_its_budget(
    steps: list[tuple[str, Verdict]], max_attempts: int
) -> None:
    history = after(*steps, max_attempts=max_attempts).history

    assert history.attempts_used <= max_attempts
    assert (history.attempts_left == 0) == history.exhausted


@pytest.mark.extended
@given(st.lists(st.sampled_from("ABC"), min_size=10, max_size=10))
def test_work_that_is_always_rejected_comes_to_an_end(candidates: list[str]) -> None:
    assert after(*((one, REJECT) for one in candidates)).history.exhausted


@pytest.mark.parametrize(
    ("task", "phase", "process", "loops", "expected"),
    [
        (5, 4, 2, False, 5),
        (None, 4, 2, False, 4),
        (None, None, 2, False, 2),
        (None, None, None, False, 3),
        (None, None, None, True, 10),
        (None, 4, None, True, 4),
    ],
)
def test_the_budget_is_the_nearest_that_is_named(
    task: int | None, phase: int | None, process: int | None, loops: bool, expected: int
) -> None:
    where = Phase("p", max_attempts=phase, score=ScoreLoop() if loops else None)

    assert budget(task, where, ProcessPolicy(max_attempts=process)) == expected


def stands(verdict: Verdict, candidate: str = "A", **known: Any) -> Entered:
    return Entered(verdict=verdict, candidate=candidate, **known)


def ended(history: TaskHistory) -> tuple[int, bool, str]:
    return history.attempts_used, history.exhausted, history.last_outcome


@check_rows(
    ("steps", "run", "verdict", "after_it"),
    [
        # A person rejects what was undecided: one attempt.
        ([("A", UNDECIDED)], stands(UNDECIDED, is_entered=False), REJECT, (1, False, "rejected")),
        # A person rejects what the verifier accepted: one attempt.
        ([("A", ACCEPT)], stands(ACCEPT), REJECT, (1, False, "rejected")),
        # The last attempt.
        (
            [("A", REJECT), ("B", REJECT), ("C", UNDECIDED)],
            stands(UNDECIDED, "C", is_entered=False),
            REJECT,
            (3, True, "rejected"),
        ),
        # The same work was rejected elsewhere and counted there.
        (
            [("A", REJECT), ("A", UNDECIDED)],
            stands(UNDECIDED, is_entered=False, is_known=True),
            REJECT,
            (1, False, "rejected"),
        ),
        # A person accepts: the attempt is given back.
        ([("A", REJECT)], stands(REJECT, attempt=1), ACCEPT, (0, False, "passed")),
        ([("A", UNDECIDED)], stands(UNDECIDED, is_entered=False), ACCEPT, (0, False, "passed")),
        # What only that exhausted is open again.
        (
            [("A", REJECT), ("B", REJECT), ("C", REJECT)],
            stands(REJECT, "C", attempt=3),
            ACCEPT,
            (2, False, "passed"),
        ),
        # An earlier one of them: the last outcome is that of the last run.
        (
            [("A", REJECT), ("B", REJECT), ("C", REJECT)],
            stands(REJECT, "A", attempt=1, is_last=False),
            ACCEPT,
            (2, False, "rejected"),
        ),
        # The same rejected thrice, and right after all.
        ([("A", REJECT)] * 3, stands(REJECT, attempt=1), ACCEPT, (0, False, "passed")),
        # Another candidate was stuck: what was accepted does not open the task.
        (
            [("B", REJECT), *[("A", REJECT)] * 3],
            stands(REJECT, "B", attempt=1, is_last=False),
            ACCEPT,
            (1, True, "rejected"),
        ),
        # Nothing changes where nothing changed.
        ([("A", REJECT)], stands(REJECT, attempt=1), REJECT, (1, False, "rejected")),
        ([("A", ACCEPT)], stands(ACCEPT), ACCEPT, (0, False, "passed")),
    ],
)
def test_what_a_persons_verdict_does_to_a_task(
    steps: list[tuple[str, Verdict]],
    run: Entered,
    verdict: Verdict,
    after_it: tuple[int, bool, str],
) -> None:
    history = after(*steps).history

    assert ended(overrule(history, run, verdict).history) == after_it


def test_an_accepted_submission_counts_again_once_it_is_rejected_again() -> None:
    both = after(("A", REJECT), ("B", REJECT)).history

    accepted = overrule(both, stands(REJECT, "A", attempt=1, is_last=False), ACCEPT).history
    again = account(accepted, candidate="A", verdict=REJECT)

    assert accepted.counted_sha256s == {"B"}
    assert (again.counted, again.history.attempts_used) == (True, 2)


def test_a_persons_reject_of_a_submission_that_was_counted_counts_nothing() -> None:
    history = after(("A", REJECT), ("B", REJECT), ("A", UNDECIDED)).history

    accounted = overrule(history, stands(UNDECIDED, "A", is_entered=False), REJECT)

    assert (accounted.counted, accounted.history.attempts_used) == (False, 2)


@pytest.mark.parametrize(("has_ended", "exhausted"), [(True, False), (False, True)])
def test_a_task_that_a_final_reject_ended_is_opened_by_accepting_that_one(
    has_ended: bool, exhausted: bool
) -> None:
    history = account(
        TaskHistory(max_attempts=3), candidate="A", verdict=REJECT, final="custom_rejected"
    ).history

    accounted = overrule(history, stands(REJECT, attempt=1, has_ended=has_ended), ACCEPT)

    assert accounted.history.exhausted == exhausted


@given(STEPS, VERDICTS, st.integers(1, 4), st.booleans())
def test_a_verdict_that_is_known_already_changes_nothing(
    steps: list[tuple[str, Verdict]], verdict: Verdict, max_attempts: int, is_last: bool
) -> None:
    history = after(*steps, max_attempts=max_attempts).history

    accounted = overrule(history, stands(verdict, is_last=is_last, attempt=2), verdict)

    assert accounted == Accounted(history, 2)


@given(STEPS, st.integers(1, 4), st.booleans())
def test_to_reject_and_to_accept_again_gives_back_what_was_taken(
    steps: list[tuple[str, Verdict]], max_attempts: int, is_last: bool
) -> None:
    history = after(*steps, ("A", ACCEPT), max_attempts=max_attempts).history
    assume(not history.exhausted)

    rejected = overrule(history, stands(ACCEPT, is_last=is_last), REJECT)
    accepted = overrule(
        rejected.history, stands(REJECT, is_last=is_last, attempt=rejected.attempt), ACCEPT
    )

    assert accepted.history.attempts_used == history.attempts_used
    assert not accepted.history.exhausted
    assert accepted.attempt is None


@given(STEPS, VERDICTS, st.sampled_from([ACCEPT, REJECT]), st.integers(1, 4), st.booleans())
def test_a_persons_verdict_stays_within_the_budget(
    steps: list[tuple[str, Verdict]],
    before: Verdict,
    verdict: Verdict,
    max_attempts: int,
    is_last: bool,
) -> None:
    history = after(*steps, max_attempts=max_attempts).history

    found = overrule(history, stands(before, is_last=is_last, is_entered=False), verdict).history

    assert 0 <= found.attempts_used <= max_attempts
    assert found.attempts_used - history.attempts_used in ((0, 1) if verdict is REJECT else (0,))
    assert (found.attempts_left == 0) == found.exhausted
    assert verdict is REJECT or not found.exhausted or history.exhausted
