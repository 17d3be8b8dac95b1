from __future__ import annotations

import pytest

from verification.runs.gating.axis import MOST_TICKS, STEPS_MS, Axis


@pytest.mark.parametrize(
    ("length_ms", "words"),
    [
        (0, ["0"]),
        (700, ["0", "200 ms", "400 ms", "600 ms"]),
        (8_000, ["0", "2 s", "4 s", "6 s"]),
        (49_100, ["0", "10 s", "20 s", "30 s", "40 s"]),
        (70_000, ["0", "15 s", "30 s", "45 s", "1 min"]),
        (100_500, ["0", "30 s", "1 min", "90 s"]),
        (900_000, ["0", "5 min", "10 min"]),
        (10_100, ["0", "2 s", "4 s", "6 s", "8 s"]),
    ],
)
def test_a_time_axis_is_marked_at_round_times(length_ms: int, words: list[str]) -> None:
    assert [one.words for one in Axis(length_ms).ticks] == words


def test_whatever_its_length_an_axis_has_few_marks() -> None:
    for length in (1, 9, 99, 12_345, 1_000_000, STEPS_MS[-1] * 50):
        assert 1 <= len(Axis(length).ticks) <= MOST_TICKS


@pytest.mark.parametrize(
    ("started_ms", "duration_ms", "x", "width"),
    [
        (0, 4_000, "0.00%", "50.00%"),
        (6_000, 2_000, "75.00%", "25.00%"),
        (8_000, 0, "99.20%", "0.80%"),  # too short to be seen, and seen all the same
    ],
)
def test_a_bar_stands_where_its_gate_ran(
    started_ms: int, duration_ms: int, x: str, width: str
) -> None:
    bar = Axis(8_000).bar(started_ms, duration_ms)

    assert (bar.x, bar.width) == (x, width)
