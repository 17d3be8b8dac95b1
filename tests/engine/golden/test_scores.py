# Worked example: 30 hits, 2 false alarms, 4 misses, counted by hand.

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tables import check_rows
from verification.engine.golden.f1 import f1, f1_score
from verification.engine.golden.scores import VERDICTS, Pair, Scores, expected_verdict, scores
from verification.engine.outcome import Verdict
from verification.engine.statistics.estimates import Estimate, Figure, TooFew, Undefined

ACCEPT, REJECT, UNDECIDED = VERDICTS
PAIRS = [
    *[Pair(ACCEPT, ACCEPT, "research")] * 40,
    *[Pair(ACCEPT, REJECT, "research")] * 1,
    *[Pair(ACCEPT, UNDECIDED, "research")] * 5,
    *[Pair(REJECT, REJECT, "research", "rule_violated")] * 22,
    *[Pair(REJECT, REJECT, "code-change", "syntax_invalid")] * 8,
    *[Pair(REJECT, ACCEPT, "code-change", "syntax_invalid")] * 3,
    *[Pair(REJECT, UNDECIDED, "code-change", "tool_failed")] * 1,
    *[Pair(UNDECIDED, REJECT, "code-change", "rate_limited")] * 1,
    *[Pair(UNDECIDED, UNDECIDED, "code-change", "rate_limited")] * 6,
]
pair = st.builds(
    Pair,
    expected=st.sampled_from(VERDICTS),
    observed=st.sampled_from(VERDICTS),
    process=st.sampled_from(["", "research", "code-change"]),
    reason_code=st.sampled_from(["", "rule_violated", "rate_limited"]),
)
# Many of a kind: fewer than twenty pairs make no figure.
pairs = st.lists(st.tuples(pair, st.integers(1, 40)), max_size=8).map(
    lambda counted: [one for one, count in counted for _ in range(count)]
)


def value(figure: Figure) -> float:
    assert isinstance(figure, Estimate)
    return figure.value


def every_figure(found: Scores) -> list[Figure]:
    each = (found.whole, *found.by_process.values(), *found.by_reason.values())
    return [
        figure
        for one in each
        for figure in (
            one.precision, one.recall, one.f1, one.undecided, one.agreement, one.kappa
        )
    ]  # fmt: skip


def test_the_figures_are_those_counted_by_hand() -> None:
    whole = scores(PAIRS).whole

    assert whole.n == 87
    assert whole.table == ((40, 1, 5), (3, 30, 1), (0, 1, 6))
    assert value(whole.precision) == 30 / 32
    assert value(whole.recall) == 30 / 34
    assert value(whole.f1) == 60 / 66
    assert value(whole.undecided) == 5 / 46
    assert value(whole.agreement) == 76 / 87
    by_chance = (46 * 43 + 34 * 32 + 7 * 12) / 87**2
    assert value(whole.kappa) == pytest.approx((76 / 87 - by_chance) / (1 - by_chance))


def test_intervals_are_those_of_the_tables() -> None:
    whole = scores(PAIRS).whole

    assert isinstance(whole.precision, Estimate)
    assert (whole.precision.low, whole.precision.high) == pytest.approx((0.7985, 0.9827), abs=1e-4)
    assert isinstance(whole.recall, Estimate)
    assert (whole.recall.low, whole.recall.high) == pytest.approx((0.7338, 0.9533), abs=1e-4)
    assert isinstance(whole.f1, Estimate)
    assert 0.80 < whole.f1.low < 0.86
    assert 0.95 < whole.f1.high < 1


def test_an_undecided_is_a_miss_where_a_reject_was_expected_and_told_apart_elsewhere() -> None:
    certain = [Pair(ACCEPT, ACCEPT)] * 20 + [Pair(REJECT, REJECT)] * 20

    missed = scores([*certain, *[Pair(REJECT, UNDECIDED)] * 20]).whole
    doubted = scores([*certain, *[Pair(ACCEPT, UNDECIDED)] * 20]).whole

    assert (value(missed.precision), value(missed.recall)) == (1, 0.5)
    assert value(missed.undecided) == 0
    assert (value(doubted.precision), value(doubted.recall), value(doubted.f1)) == (1, 1, 1)
    assert value(doubted.undecided) == 0.5


def test_a_reject_where_doubt_was_expected_is_a_false_alarm() -> None:
    found = scores([Pair(REJECT, REJECT)] * 20 + [Pair(UNDECIDED, REJECT)] * 20).whole

    assert (value(found.precision), value(found.recall)) == (0.5, 1)


def test_processes_and_expected_reasons_are_scored_by_themselves() -> None:
    found = scores(PAIRS)

    assert {name: one.n for name, one in found.by_process.items()} == {
        "code-change": 19,
        "research": 68,
    }
    assert list(found.by_reason) == [
        "rate_limited",
        "rule_violated",
        "syntax_invalid",
        "tool_failed",
    ]
    assert value(found.by_reason["rule_violated"].recall) == 1
    assert found.by_reason["rule_violated"].kappa == Undefined(22, "one_category")


def test_too_few_cases_say_so_and_make_no_figure() -> None:
    few = scores([Pair(ACCEPT, ACCEPT)] * 10 + [Pair(REJECT, REJECT)] * 9).whole

    assert few.precision == few.recall == few.f1 == TooFew(9, 20)
    assert few.undecided == TooFew(10, 20)
    assert few.agreement == few.kappa == TooFew(19, 20)
    assert set(every_figure(scores([]))) == {TooFew(0, 20)}


@given(pairs)
def test_figures_are_those_of_counting_one_by_one(those: list[Pair]) -> None:
    found = scores(those).whole
    hits = sum(one.expected is REJECT and one.observed is REJECT for one in those)
    rejects = sum(one.observed is REJECT for one in those)
    wanted = sum(one.expected is REJECT for one in those)
    accepts = [one.observed for one in those if one.expected is ACCEPT]

    for figure, count, n in (
        (found.precision, hits, rejects),
        (found.recall, hits, wanted),
        (found.undecided, accepts.count(UNDECIDED), len(accepts)),
        (found.agreement, sum(one.expected is one.observed for one in those), len(those)),
    ):
        assert figure == TooFew(n, 20) if n < 20 else value(figure) == count / n
    if isinstance(found.f1, Estimate):
        both = rejects + wanted
        assert found.f1.value == pytest.approx(2 * hits / both)
    for row, column in itertools.product(range(3), repeat=2):
        assert found.table[row][column] == sum(
            (one.expected, one.observed) == (VERDICTS[row], VERDICTS[column]) for one in those
        )


@given(pairs, st.randoms())
def test_the_order_of_cases_plays_no_part_and_the_draws_never_change(
    those: list[Pair], random: Any
) -> None:
    shuffled = list(those)
    random.shuffle(shuffled)

    assert scores(shuffled) == scores(those)


@given(pairs)
def test_every_interval_holds_its_figure_within_bounds(those: list[Pair]) -> None:
    found = scores(those)

    for figure in every_figure(found):
        if isinstance(figure, Estimate):
            assert -1 <= figure.low <= figure.value <= figure.high <= 1
    assert found.whole.n == len(those)


@pytest.mark.parametrize(
    ("counts", "low", "high"),
    [
        ((20, 0, 0), 0.91, 1.0),
        ((200, 0, 0), 0.99, 1.0),
        ((0, 10, 10), 0.0, 0.28),
        ((50, 50, 0), 0.57, 0.75),
    ],
    ids=["all hit", "very many hit", "none hit", "half"],
)
def test_f1_is_never_surer_than_its_cases_allow(
    counts: tuple[int, int, int], low: float, high: float
) -> None:
    found = f1(*counts)

    assert isinstance(found, Estimate)
    assert found.low == pytest.approx(low, abs=0.011)
    assert found.high == pytest.approx(high, abs=0.011)
    assert (found.low, found.high) != (found.value, found.value)


def test_precision_and_recall_weigh_the_same_in_f1() -> None:
    assert f1_score(8, 1, 4) == f1_score(8, 4, 1) == pytest.approx(2 / (9 / 8 + 12 / 8))
    assert f1(30, 5, 2) == f1(30, 2, 5)


@check_rows(
    ("expected", "verdict"),
    [
        ({"verdict": "reject", "outcome": "pass"}, "reject"),
        ({"outcome": "pass"}, "accept"),
        ({"outcome": "pass_with_warnings", "reason_code": "odd_payload"}, "accept"),
        ({"outcome": "partial_verified", "reason_code": "recommendation_pruned"}, "accept"),
        ({"outcome": "partial_verified", "reason_code": "verifier_unavailable"}, "undecided"),
        ({"outcome": "partial_verified"}, None),
        ({"outcome": "fail", "reason_code": "syntax_invalid"}, "reject"),
        ({"outcome": "fail", "reason_code": "rate_limited"}, "undecided"),
        ({"outcome": "fail", "severity_class": "semantic"}, "reject"),
        ({"outcome": "fail", "severity_class": "infra"}, "undecided"),
        ({"outcome": "fail", "reason_code": "changed_file_missing"}, None),
        ({"outcome": "fail"}, None),
        ({"reason_code": "tests_failed"}, "reject"),
        ({"reason_code": "odd_payload"}, None),
        ({"verdict": None, "reason_code": None}, None),
        ({"confidence": 1.0}, None),
        ({}, None),
    ],
    ids=str,
)
def test_the_verdict_that_an_expectation_means(
    expected: dict[str, Any], verdict: str | None
) -> None:
    assert expected_verdict(expected) == verdict


def test_a_corpus_of_ten_thousand_cases_is_scored_at_once() -> None:
    verdicts: Sequence[Verdict] = list(VERDICTS)
    many = [
        Pair(verdicts[n % 3], verdicts[n % 7 % 3], f"p{n % 5}", f"r{n % 40}") for n in range(10_000)
    ]

    found = scores(many)

    assert found.whole.n == 10_000
    assert (len(found.by_process), len(found.by_reason)) == (5, 40)
