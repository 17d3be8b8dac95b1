"""Where reports of problems are, and what of a problem their tables tell."""

from __future__ import annotations

from pathlib import Path

from verification.engine.reports.model import Problem, ProblemSeverity
from verification.engine.reports.problems import ProblemFormat, read_problems

FOLDER = Path(__file__).parent
HIGH, MEDIUM, LOW = ProblemSeverity
Row = tuple[str, int | None, int | None, str, ProblemSeverity]


def content_of(name: str) -> bytes:
    return (FOLDER / name).read_bytes()


def row_of(one: Problem) -> Row:
    return one.path, one.line, one.column, one.rule, one.severity


def assert_reads(name: str, exits: int, rows: list[Row], format: str = "") -> None:
    """`exits` is what the tool ended with: one that failed is never read as no problem."""
    format = format or name.split("/")[1]
    report = read_problems(ProblemFormat(format), content_of(name))

    assert [row_of(one) for one in report.problems] == rows
    assert report.total == len(rows)
    assert report.total > 0 or exits == 0
    assert not report.is_guess
    assert all(one.message for one in report.problems)
