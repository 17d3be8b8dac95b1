from __future__ import annotations

import random
from uuid import UUID

import pytest
from django.db import connection
from hypothesis import given
from hypothesis import strategies as st

from tests.tables import check_rows
from verification.trials.drawing import Draw, drawn_sql, is_drawn

TRIAL = UUID(int=1)
RUNS = 20_000


def some_runs(count: int) -> list[UUID]:
    seeded = random.Random(7)  # noqa: S311 - the same ones every time
    return [UUID(int=seeded.getrandbits(128)) for _ in range(count)]


@pytest.mark.django_db
@check_rows("draw", list(Draw))
@check_rows("rate", [0.0, 1e-9, 0.1, 1 / 3, 0.999, 1.0], rollback=True)
def test_the_database_draws_the_same_runs(rate: float, draw: Draw) -> None:
    runs = some_runs(500)
    condition = drawn_sql(trial="%(trial)s", run="run", rate="%(rate)s", draw=draw)

    with connection.cursor() as cursor:
        cursor.execute(
            f"select run from unnest(%(runs)s::uuid[]) as run where {condition}",  # noqa: S608
            {"trial": TRIAL, "rate": rate, "runs": runs},
        )
        found = {run for [run] in cursor.fetchall()}

    assert found == {run for run in runs if is_drawn(TRIAL, run, rate, draw)}


@pytest.mark.extended
@pytest.mark.parametrize("rate", [0.01, 0.1, 0.5, 0.9])
def test_as_many_are_drawn_as_the_rate_says(rate: float) -> None:
    drawn = sum(is_drawn(TRIAL, run, rate) for run in some_runs(RUNS))

    assert abs(drawn / RUNS - rate) < 0.015


def test_two_trials_draw_apart_and_so_do_the_two_draws_of_one() -> None:
    runs = some_runs(RUNS)
    sampled = {run for run in runs if is_drawn(TRIAL, run, 0.1)}
    others = {run for run in runs if is_drawn(UUID(int=2), run, 0.1)}
    twice = {run for run in runs if is_drawn(TRIAL, run, 0.1, Draw.AA)}

    assert 100 < len(sampled & others) < 300
    assert 100 < len(sampled & twice) < 300


@given(st.uuids(), st.uuids(), st.floats(0, 1), st.floats(0, 1))
def test_what_is_drawn_stays_drawn_at_a_higher_rate(
    trial: UUID, run: UUID, one: float, other: float
) -> None:
    low, high = sorted((one, other))

    assert is_drawn(trial, run, high) or not is_drawn(trial, run, low)


@given(st.uuids(), st.uuids())
def test_all_and_none_are_rates_too(trial: UUID, run: UUID) -> None:
    assert is_drawn(trial, run, 1.0)
    assert not is_drawn(trial, run, 0.0)
