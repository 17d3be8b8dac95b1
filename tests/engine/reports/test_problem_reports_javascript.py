from __future__ import annotations

import pytest

from tests.engine.reports.problem_reports import HIGH, LOW, MEDIUM, Row, assert_reads, row_of
from verification.engine.reports.model import Unreadable
from verification.engine.reports.problems import ProblemFormat, read_problems

STORE = "src/store.js"
TYPES: list[Row] = [
    ("src/store.ts", 1, 7, "TS2322", MEDIUM),
    ("src/store.ts", 3, 12, "TS2322", MEDIUM),
    ("src/store.ts", 5, 6, "TS2304", MEDIUM),
]


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
        ("recorded/tsc/problems.txt", 2, TYPES),
        ("recorded/tsc/pretty.txt", 2, TYPES),
        ("recorded/tsc/broken.txt", 2, [("src/broken.ts", 1, 7, "TS1134", HIGH)]),
        ("recorded/tsc/option.txt", 1, [("", None, None, "TS5023", HIGH)]),
        ("recorded/tsc/none.txt", 2, [("", None, None, "TS6053", HIGH)]),
    ],
)
def test_a_report_on_javascript_is_read_as_its_tool_means_it(
    name: str, exits: int, rows: list[Row]
) -> None:
    assert_reads(name, exits, rows)


@pytest.mark.parametrize(
    "path", ["app/(auth)/page.tsx", "src/with space.ts", "src/a:b.ts", "src/[id](2,3).ts"]
)
def test_a_path_may_hold_what_else_ends_it(path: str) -> None:
    content = f"{path}(3,5): error TS2304: Cannot find name 'x'.\n".encode()

    report = read_problems(ProblemFormat.TSC, content)

    assert [row_of(one) for one in report.problems] == [(path, 3, 5, "TS2304", MEDIUM)]


def test_tsc_says_nothing_when_all_is_well() -> None:
    assert read_problems(ProblemFormat.TSC, b"").total == 0


@pytest.mark.parametrize(
    ("format", "content"),
    [
        ("eslint", b""),
        ("eslint", b"Oops! Something went wrong! :(\n"),
        ("eslint", b'[{"filePath": "a.js"}]'),
        ("eslint", b"[1]"),
        ("tsc", b"sh: 1: tsc: not found\n"),
    ],
)
def test_what_broke_down_found_nothing_out(format: str, content: bytes) -> None:
    with pytest.raises(Unreadable):
        read_problems(ProblemFormat(format), content)
