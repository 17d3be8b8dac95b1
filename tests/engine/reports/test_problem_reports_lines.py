from __future__ import annotations

import pytest

from tests.engine.reports.problem_reports import HIGH, LOW, MEDIUM, Row, content_of, row_of
from verification.engine.reports.model import Unreadable
from verification.engine.reports.problems import ProblemFormat, read_problems


@pytest.mark.parametrize(
    ("line", "row"),
    [
        ("a.py:3:5: bad", ("a.py", 3, 5, "", MEDIUM)),
        ("./src/a.c:3:5: warning: unused", ("src/a.c", 3, 5, "", LOW)),
        ("src/a.c:3: error: bad", ("src/a.c", 3, None, "", MEDIUM)),
        ("Dockerfile/a:3 DL3006 warning: bad", ("Dockerfile/a", 3, None, "", MEDIUM)),
        ("/workspace/a.md:7:1 MD022 Headings", ("a.md", 7, 1, "", MEDIUM)),
        ("a.c:3:5: fatal error: no such file", ("a.c", 3, 5, "", HIGH)),
        ("/etc/passwd:3:5: bad", ("", 3, 5, "", MEDIUM)),
    ],
)
def test_a_line_with_a_place_is_a_problem(line: str, row: Row) -> None:
    report = read_problems(ProblemFormat.LINES, f"{line}\n".encode())

    assert [row_of(one) for one in report.problems] == [row]
    assert report.is_guess


@pytest.mark.parametrize(
    ("content", "total"),
    [
        (b"", 0),
        (b"0 problems\n", 0),
        (b"Found no issues.\n", 0),
        (b"5 problems (3 errors, 2 warnings)\n", 5),
        (b"a.py:3:5: bad\nFound 4 errors.\n", 4),
        (b"a.py:3:5: bad\nb.py:3:5: bad\n1 error\n", 2),
        (b"2 vulnerabilities\n", 2),
        ("✖ 2 problems\n".encode(), 2),
        (content_of("recorded/javac/problems.txt"), 3),
        (content_of("recorded/tsc/pretty.txt"), 3),
        (content_of("recorded/flake8/source.txt"), 3),
    ],
)
def test_what_is_counted_holds_where_it_is_more_than_what_is_seen(
    content: bytes, total: int
) -> None:
    assert read_problems(ProblemFormat.LINES, content).total == total


@pytest.mark.parametrize(
    "content",
    [
        b"All is well, believe me.\n",
        b"12:30:45: started\n",
        b"version 1.2 problems\n",
        b"Traceback (most recent call last):\n",
    ],
)
def test_a_text_that_tells_of_no_problems_is_no_word_that_there_are_none(content: bytes) -> None:
    with pytest.raises(Unreadable):
        read_problems(ProblemFormat.LINES, content)
