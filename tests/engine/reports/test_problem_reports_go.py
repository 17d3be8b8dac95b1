from __future__ import annotations

import pytest

from tests.engine.reports.problem_reports import HIGH, MEDIUM, Row, assert_reads, content_of
from verification.engine.reports.model import Unreadable
from verification.engine.reports.problems import ProblemFormat, read_problems

MAIN, DOUBLE, BROKEN = "main.go", "pkg/double.go", "broken/broken.go"


@pytest.mark.parametrize(
    ("name", "exits", "rows"),
    [
        (
            "recorded/govet/problems.txt",
            2,
            [(MAIN, 10, 2, "", MEDIUM), (DOUBLE, 11, 9, "", MEDIUM)],
        ),
        # In JSON it ends with 0, whatever it found.
        (
            "recorded/govet/problems.json",
            0,
            [(MAIN, 10, 2, "printf", MEDIUM), (DOUBLE, 11, 9, "bools", MEDIUM)],
        ),
        (
            "recorded/govet/broken.txt",
            2,
            [(BROKEN, 4, 9, "", HIGH), (MAIN, 10, 2, "", MEDIUM)],
        ),
        (
            "recorded/govet/broken.json",
            2,
            [(BROKEN, 4, 9, "", HIGH), (MAIN, 10, 2, "printf", MEDIUM)],
        ),
        ("recorded/govet/clean.json", 0, []),
        (
            "recorded/gobuild/problems.txt",
            2,
            [
                (BROKEN, 4, 9, "", HIGH),
                (BROKEN, 8, 6, "", HIGH),
                (BROKEN, 9, 9, "", HIGH),
                (BROKEN, 9, 16, "", HIGH),
            ],
        ),
        (
            "written/golangci/problems.json",
            1,
            [
                (BROKEN, 4, 9, "typecheck", HIGH),
                (DOUBLE, 7, 7, "gosec", HIGH),
                (DOUBLE, 9, 11, "errcheck", MEDIUM),
            ],
        ),
        ("written/golangci/clean.json", 0, []),
        ("recorded/gobuild/syntax.txt", 2, [("broken/syntax.go", 3, 14, "", HIGH)]),
        ("recorded/gobuild/import.txt", 1, [("broken/imp.go", 3, 8, "", HIGH)]),
    ],
)
def test_a_report_on_go_is_read_as_its_tool_means_it(
    name: str, exits: int, rows: list[Row]
) -> None:
    assert_reads(name, exits, rows)


def test_what_go_says_in_indented_lines_belongs_to_the_line_above() -> None:
    report = read_problems(ProblemFormat.GO_BUILD, content_of("recorded/gobuild/problems.txt"))

    assert report.problems[3].message == (
        "too many arguments in call to Broken\n\thave (number, number)\n\twant ()"
    )


@pytest.mark.parametrize("format", [ProblemFormat.GO_VET, ProblemFormat.GO_BUILD])
def test_go_says_nothing_when_all_is_well(format: ProblemFormat) -> None:
    assert read_problems(format, b"").total == 0
    assert read_problems(format, b"go: downloading example.com/a v1.0.0\n").total == 0


@pytest.mark.parametrize("format", [ProblemFormat.GO_VET, ProblemFormat.GO_BUILD])
def test_what_keeps_go_from_its_work_is_a_problem_of_no_file(format: ProblemFormat) -> None:
    report = read_problems(format, b"go: cannot find main module\n")

    assert [(one.path, one.severity) for one in report.problems] == [("", HIGH)]


@pytest.mark.parametrize(
    "content", [content_of("written/golangci/failed.json"), b"", b"{}", b'{"Issues": 1}']
)
def test_a_golangci_lint_that_broke_down_found_nothing_out(content: bytes) -> None:
    with pytest.raises(Unreadable):
        read_problems(ProblemFormat.GOLANGCI, content)


def test_an_analysis_that_go_vet_could_not_make_is_a_problem() -> None:
    content = b'{"example.com/shop": {"printf": {"error": "no types"}}}'

    report = read_problems(ProblemFormat.GO_VET, content)

    assert [(one.rule, one.message, one.severity) for one in report.problems] == [
        ("printf", "no types", HIGH)
    ]
