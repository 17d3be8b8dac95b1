from __future__ import annotations

import json

import pytest

from tests.engine.reports.problem_reports import HIGH, LOW, MEDIUM, Row, assert_reads, content_of
from tests.tables import check_rows
from verification.engine.reports.model import ProblemSeverity, Unreadable
from verification.engine.reports.problems import ProblemFormat, read_problems

STORE, BROKEN = "app/store.py", "app/broken.py"
TYPES: list[Row] = [
    (STORE, 13, None, "assignment", MEDIUM),
    (STORE, 14, None, "return-value", MEDIUM),
]
TYPES_IN_COLUMNS: list[Row] = [
    (STORE, 13, 19, "assignment", MEDIUM),
    (STORE, 14, 12, "return-value", MEDIUM),
]
STYLE: list[Row] = [
    (STORE, 1, 1, "F401", LOW),
    (STORE, 12, 5, "F841", LOW),
    (STORE, 13, 5, "F841", LOW),
]


@check_rows(
    ("name", "exits", "rows"),
    [
        (
            "recorded/ruff/problems.json",
            1,
            [
                (BROKEN, 1, 12, "invalid-syntax", HIGH),
                (BROKEN, 1, 13, "invalid-syntax", HIGH),
                (STORE, 7, 5, "S602", HIGH),
                (STORE, 8, 12, "S301", HIGH),
                (STORE, 12, 16, "S105", HIGH),
                (STORE, 1, 1, "I001", LOW),
                (STORE, 1, 8, "F401", LOW),
                (STORE, 12, 5, "F841", LOW),
                (STORE, 13, 5, "F841", LOW),
            ],
        ),
        ("recorded/ruff/clean.json", 0, []),
        ("recorded/mypy/store.jsonl", 1, TYPES_IN_COLUMNS),
        ("recorded/mypy/store.txt", 1, TYPES),
        ("recorded/mypy/pretty.txt", 1, TYPES_IN_COLUMNS),
        (
            "recorded/mypy/broken.jsonl",
            2,
            [(BROKEN, 1, 12, "syntax", HIGH), (BROKEN, 1, 13, "syntax", HIGH)],
        ),
        (
            "recorded/mypy/broken.txt",
            2,
            [(BROKEN, 1, None, "syntax", HIGH), (BROKEN, 1, None, "syntax", HIGH)],
        ),
        (
            "recorded/bandit/problems.json",
            1,
            [
                (BROKEN, None, None, "", HIGH),
                (STORE, 7, 5, "B602", HIGH),
                (STORE, 8, 12, "B301", MEDIUM),
                (STORE, 2, 1, "B404", LOW),
                (STORE, 3, 1, "B403", LOW),
                (STORE, 12, 16, "B105", LOW),
            ],
        ),
        ("recorded/bandit/clean.json", 0, []),
        ("recorded/flake8/problems.txt", 1, [(BROKEN, 1, 13, "E999", HIGH), *STYLE]),
        ("recorded/flake8/source.txt", 1, STYLE),
        ("recorded/mypy/fine.jsonl", 0, []),
        ("recorded/mypy/fine.txt", 0, []),
    ],
)
def test_a_report_on_python_is_read_as_its_tool_means_it(
    name: str, exits: int, rows: list[Row]
) -> None:
    assert_reads(name, exits, rows)


def test_a_message_that_mypy_breaks_over_lines_is_one_without_its_rule() -> None:
    report = read_problems(ProblemFormat.MYPY, content_of("recorded/mypy/pretty.txt"))

    assert report.problems[1].message == (
        'Incompatible return value type (got "int", expected "str")'
    )


def test_errors_that_mypy_counts_and_tells_elsewhere_count() -> None:
    report = read_problems(ProblemFormat.MYPY, content_of("recorded/mypy/missing_file.txt"))

    assert report.total == 1


def test_notes_of_mypy_are_no_problems() -> None:
    content = b'a.py:1: note: Revealed type is "int"\nSuccess: no issues found in 1 source file\n'

    assert read_problems(ProblemFormat.MYPY, content).total == 0


@pytest.mark.parametrize(
    "content",
    [
        b'{"file": "b/x.py", "line": -1, "column": -1, "message": "Duplicate module named \\"x\\" (also at '
        b'\\"a/x.py\\")", "hint": "See ...", "code": null, "severity": "error"}\n',
        b'b/x.py: error: Duplicate module named "x" (also at "a/x.py")\n'
        b"b/x.py: note: Common resolutions include:\n"
        b"Found 1 error in 1 file (errors prevented further checking)\n",
        b'p/m.py: error: Source file found twice under different module names: "p.m" and "m"\n',
    ],
)
def test_how_files_lie_is_no_problem_that_mypy_found(content: bytes) -> None:
    with pytest.raises(Unreadable, match=r"^mypy checked nothing: "):
        read_problems(ProblemFormat.MYPY, content)


@pytest.mark.parametrize("content", [b"", b"Traceback (most recent call last):\n", b"{\n"])
def test_what_mypy_did_not_finish_is_not_read(content: bytes) -> None:
    with pytest.raises(Unreadable):
        read_problems(ProblemFormat.MYPY, content)


@pytest.mark.parametrize(
    ("code", "severity"),
    [
        ("E501", LOW),
        ("F821", LOW),
        ("SIM102", LOW),
        ("S101", MEDIUM),
        ("S110", MEDIUM),
        ("S105", HIGH),
        ("S307", HIGH),
        ("S501", HIGH),
        ("S608", HIGH),
        ("E902", HIGH),
        (None, HIGH),  # what ruff once said of a syntax error
    ],
)
def test_how_bad_a_rule_of_ruff_is_comes_from_its_code(
    code: str | None, severity: ProblemSeverity
) -> None:
    content = json.dumps([{"code": code, "message": "no", "filename": "a.py"}]).encode()

    assert read_problems(ProblemFormat.RUFF, content).problems[0].severity is severity


def test_flake8_says_nothing_when_all_is_well() -> None:
    assert read_problems(ProblemFormat.FLAKE8, b"").total == 0
    assert read_problems(ProblemFormat.FLAKE8, b"0\n").total == 0


def test_a_flake8_that_broke_down_found_nothing_out() -> None:
    with pytest.raises(Unreadable):
        read_problems(ProblemFormat.FLAKE8, content_of("recorded/flake8/failed.txt"))
