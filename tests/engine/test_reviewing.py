"""Laws of which runs people are asked about, and of the queue's order."""

from __future__ import annotations

import uuid
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from processes.definition.model import ReviewPolicy, ReviewReason
from verification.engine import reviewing
from verification.engine.outcome import Outcome, SeverityClass, Verdict
from verification.engine.reviewing import Asked, Ended, asked, is_in_sample, rank_at, urgency_now

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
RUN = uuid.UUID(int=7)
EVERY = dict.fromkeys(ReviewReason)
ENDS = st.builds(
    Ended,
    run=st.uuids(),
    outcome=st.sampled_from(Outcome),
    verdict=st.sampled_from(Verdict),
    flags=st.lists(
        st.sampled_from(["vote_divergence", "low_confidence", "gate_error"]), max_size=3
    ),
    terminal=st.sampled_from(["", "attempts_exhausted"]),
    severity_class=st.none() | st.sampled_from(SeverityClass),
    reason_code=st.sampled_from(["", "rule_violated"]),
    is_critical_path=st.booleans(),
    holds_change=st.booleans(),
)
REASONS = st.dictionaries(
    st.sampled_from(ReviewReason), st.none() | st.integers(0, 100), max_size=6
)
RATES = st.floats(0, 1)
POLICIES = st.builds(ReviewPolicy, reasons=REASONS, sample_rate=st.none() | RATES)
OPENED = st.timedeltas(timedelta(0), timedelta(days=400)).map(lambda passed: NOW + passed)
URGENCIES = st.integers(0, 100)


def ended(**fields: Any) -> Ended:
    return Ended(**{"run": RUN, "outcome": Outcome.PASS, "verdict": Verdict.ACCEPT, **fields})


def asked_of(policy: ReviewPolicy, end: Ended, usual: float = 0.0) -> Asked | None:
    return asked(policy, end, usual_sample_rate=usual)


UNDECIDED: dict[str, Any] = {
    "outcome": Outcome.FAIL,
    "verdict": Verdict.UNDECIDED,
    "reason_code": "parse_inconclusive",
    "flags": ("parse_inconclusive",),
    "severity_class": SeverityClass.INCONCLUSIVE,
}
REJECTED: dict[str, Any] = {
    "outcome": Outcome.FAIL,
    "verdict": Verdict.REJECT,
    "reason_code": "rule_violated",
    "severity_class": SeverityClass.SEMANTIC,
}
PATHS: list[tuple[dict[str, Any], ReviewReason, list[str], int]] = [
    (UNDECIDED, ReviewReason.UNDECIDED, ["parse_inconclusive"], 40),
    ({"flags": ("vote_divergence",)}, ReviewReason.DIVERGENCE, ["vote_divergence"], 50),
    ({"flags": ("low_confidence",)}, ReviewReason.LOW_CONFIDENCE, ["low_confidence"], 30),
    ({"flags": ("gate_error",)}, ReviewReason.LOW_CONFIDENCE, ["gate_error"], 30),
    (
        {**REJECTED, "terminal": "attempts_exhausted"},
        ReviewReason.TERMINAL,
        ["attempts_exhausted"],
        55,
    ),
    (
        {"outcome": Outcome.PARTIAL_VERIFIED, "reason_code": "recommendation_pruned"},
        ReviewReason.PARTIAL,
        ["recommendation_pruned"],
        25,
    ),
    (REJECTED, ReviewReason.REJECTED, ["rule_violated"], 35),
    (
        {**REJECTED, "severity_class": SeverityClass.HARD_INVARIANT, "is_critical_path": True},
        ReviewReason.REJECTED,
        ["rule_violated"],
        70,
    ),
]


@pytest.mark.parametrize(("fields", "reason", "codes", "urgency"), PATHS)
def test_each_reason_asks_where_the_policy_names_it_and_only_there(
    fields: dict[str, Any], reason: ReviewReason, codes: list[str], urgency: int
) -> None:
    end = ended(**fields)

    alone = asked_of(ReviewPolicy(reasons={reason: None}), end)

    assert alone is not None
    assert (list(alone.reasons), alone.urgency, alone.is_flagged) == (codes, urgency, True)
    assert asked_of(ReviewPolicy(reasons={}), end) is None


def test_by_default_doubt_and_ends_are_asked_about_and_plain_verdicts_are_not() -> None:
    found = {reason: asked_of(ReviewPolicy(), ended(**fields)) for fields, reason, _, _ in PATHS}

    assert {reason for reason, one in found.items() if one} == {
        ReviewReason.UNDECIDED,
        ReviewReason.DIVERGENCE,
        ReviewReason.LOW_CONFIDENCE,
        ReviewReason.TERMINAL,
    }


def test_several_reasons_are_all_told_and_the_most_urgent_counts() -> None:
    end = ended(**REJECTED, flags=("low_confidence", "vote_divergence"))

    found = asked_of(ReviewPolicy(reasons=EVERY), end)

    assert found is not None
    assert found.reasons == ("vote_divergence", "low_confidence", "rule_violated")
    assert found.urgency == 60


@pytest.mark.parametrize(("own", "urgency"), [(0, 10), (70, 80), (95, 100)])
def test_an_urgency_of_the_processs_own_takes_the_usual_ones_place(own: int, urgency: int) -> None:
    found = asked_of(ReviewPolicy(reasons={ReviewReason.REJECTED: own}), ended(**REJECTED))

    assert found is not None
    assert found.urgency == urgency


def test_the_urgency_of_a_blind_review_tells_nothing_of_the_verdict() -> None:
    policy = ReviewPolicy(reasons={**EVERY, ReviewReason.REJECTED: 70}, is_blind=True)

    found = [
        asked_of(policy, ended(**{**fields, "is_critical_path": False})) for fields, *_ in PATHS
    ]

    assert {one.urgency for one in found if one} == {70}


@pytest.mark.parametrize("fields", [{}, REJECTED], ids=["accepted", "rejected"])
def test_chance_draws_what_nothing_flagged(fields: dict[str, Any]) -> None:
    found = asked_of(ReviewPolicy(sample_rate=1), ended(**fields))

    assert found == Asked(("random_sample",), reviewing.SAMPLE_URGENCY, False, 1)


def test_a_flagged_run_is_in_the_sample_as_well_and_stays_flagged() -> None:
    found = asked_of(ReviewPolicy(), ended(flags=("vote_divergence",)), usual=1)

    assert found is not None
    assert found.reasons == ("vote_divergence", "random_sample")
    assert (found.is_flagged, found.sample_rate, found.urgency) == (True, 1, 50)


def test_the_processs_rate_goes_before_the_installations() -> None:
    assert asked_of(ReviewPolicy(sample_rate=0), ended(), usual=1) is None
    assert asked_of(ReviewPolicy(), ended(), usual=1) is not None


@given(ENDS, POLICIES, RATES)
def test_whoever_is_asked_has_a_reason(end: Ended, policy: ReviewPolicy, usual: float) -> None:
    found = asked(policy, end, usual_sample_rate=usual)

    if found is not None:
        assert found.reasons
        assert len(set(found.reasons)) == len(found.reasons)
        assert found.is_flagged or found.sample_rate is not None
        assert (reviewing.RANDOM_SAMPLE in found.reasons) is (found.sample_rate is not None)
        assert 0 <= found.urgency <= 100


@given(ENDS)
def test_nothing_that_asks_for_a_person_is_passed_over(end: Ended) -> None:
    found = asked_of(ReviewPolicy(), end)

    if end.flags:
        assert found is not None
        assert set(found.reasons) >= set(end.flags)


@given(ENDS, POLICIES, RATES)
def test_doubt_is_never_drawn_by_chance(end: Ended, policy: ReviewPolicy, usual: float) -> None:
    found = asked(policy, replace(end, verdict=Verdict.UNDECIDED), usual_sample_rate=usual)

    assert found is None or found.sample_rate is None


@given(ENDS, REASONS, REASONS)
def test_more_reasons_never_ask_about_less(
    end: Ended, some: dict[ReviewReason, int | None], more: dict[ReviewReason, int | None]
) -> None:
    few = asked_of(ReviewPolicy(reasons=some, sample_rate=0), end)
    many = asked_of(ReviewPolicy(reasons=more | some, sample_rate=0), end)

    if few is not None:
        assert many is not None
        assert many.urgency >= few.urgency
        assert set(many.reasons) >= set(few.reasons)


@given(ENDS, REASONS, REASONS, RATES)
def test_what_is_flagged_has_no_part_in_the_draw(
    end: Ended,
    some: dict[ReviewReason, int | None],
    others: dict[ReviewReason, int | None],
    rate: float,
) -> None:
    draws = [
        found.sample_rate if (found := asked_of(ReviewPolicy(one, rate), end)) else None
        for one in (some, others)
    ]

    assert draws[0] == draws[1]


@given(st.uuids())
def test_a_rate_of_nought_draws_nothing_and_of_one_everything(run: uuid.UUID) -> None:
    assert not is_in_sample(run, 0)
    assert is_in_sample(run, 1)


@given(st.uuids(), RATES, RATES)
def test_what_is_drawn_at_a_low_rate_is_drawn_at_a_higher(
    run: uuid.UUID, one: float, other: float
) -> None:
    low, high = sorted((one, other))

    assert is_in_sample(run, high) or not is_in_sample(run, low)


@pytest.mark.extended
@pytest.mark.parametrize("rate", [0.02, 0.1, 0.5])
def test_of_many_runs_about_the_rate_is_drawn(rate: float) -> None:
    runs = [uuid.UUID(int=number) for number in range(20_000)]

    drawn = sum(is_in_sample(run, rate) for run in runs)

    spread = (rate * (1 - rate) / len(runs)) ** 0.5
    assert abs(drawn / len(runs) - rate) < 4 * spread


@given(OPENED, URGENCIES, OPENED, URGENCIES, st.timedeltas(timedelta(0), timedelta(days=400)))
def test_the_queue_is_in_the_order_of_the_urgency_that_is_shown(
    one: datetime, first: int, other: datetime, second: int, waited: timedelta
) -> None:
    now = max(one, other) + waited

    if rank_at(one, first) <= rank_at(other, second):
        assert urgency_now(one, first, now) >= urgency_now(other, second, now)


@given(OPENED, URGENCIES, st.timedeltas(timedelta(0), timedelta(days=400)))
def test_waiting_never_makes_less_urgent(opened: datetime, urgency: int, waited: timedelta) -> None:
    assert urgency <= urgency_now(opened, urgency, opened + waited) <= 100


def test_an_hour_is_worth_a_point() -> None:
    assert urgency_now(NOW, 40, NOW + timedelta(minutes=119)) == 41
    assert rank_at(NOW, 41) == rank_at(NOW - timedelta(hours=1), 40)


def test_a_held_change_asks_a_person_whatever_the_policy_says() -> None:
    nobody = ReviewPolicy(reasons={}, sample_rate=0.0)

    assert asked_of(nobody, ended()) is None
    held = asked_of(nobody, ended(holds_change=True))
    assert held == Asked(("change_held",), 20, is_flagged=True, sample_rate=None)
