from __future__ import annotations

import pytest

from tests.engine.reports.problem_reports import HIGH, LOW, MEDIUM, Row, assert_reads

STORE = "src/store.js"


@pytest.mark.parametrize(
    ("name", "exits", "rows"),
    [
        (
            "recorded/eslint/problems.json",
            1,
            [
                ("src/broken.js", 1, 7, "", HIGH),
                (STORE, 1, 7, "no-unused-vars", MEDIUM),
                (STORE, 2, 5, "no-undef", MEDIUM),
                (STORE, 2, 7, "eqeqeq", LOW),
            ],
        ),
        ("recorded/eslint/clean.json", 0, []),
    ],
)
def test_a_report_on_javascript_is_read_as_its_tool_means_it(
    name: str, exits: int, rows: list[Row]
) -> None:
    assert_reads(name, exits, rows)
