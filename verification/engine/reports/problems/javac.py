"""What `javac` prints, by itself, below Maven and below Gradle, where `kotlinc` may stand beside it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import dropwhile

from verification.engine.reports.model import Problem, ProblemReport, ProblemSeverity
from verification.engine.reports.problems.grouping import Entry, only_entries
from verification.engine.reports.problems.parsing import collected, distinct, lines_of, problem

_JAVA = (
    r"(?:\[(?P<maven>ERROR|WARNING)\] )?"
    r"(?:(?P<path>(?:[A-Za-z]:)?[^:]{1,500}\.java)"
    r":(?:(?P<line>\d{1,9}):|\[(?P<row>\d{1,9}),(?P<column>\d{1,9})\]) "
    r"|(?=error: |warning: ))"
    r"(?:(?P<level>error|warning): )?(?:\[(?P<rule>[a-z-]{1,40})\] )?(?P<message>.*)"
)
_KOTLIN = (
    r"(?P<kotlin>[ew]): (?:file://)?(?P<source>[^:]{1,500}\.kts?):"
    r"(?: \((?P<from>\d{1,9}), (?P<at>\d{1,9})\):|(?P<first>\d{1,9}):(?P<place>\d{1,9}))"
    r" (?P<said>.*)"
)
_HEAD = re.compile(f"{_KOTLIN}|{_JAVA}")
_QUIET = re.compile(r"Note: |Picked up |\d{1,9} (?:errors?|warnings?)\Z")
_ANYTHING = re.compile("")
_MAVEN_SUCCEEDED = b"[INFO] BUILD SUCCESS"
_COUNT = re.compile(
    r"(?P<count>\d{1,9}) (?:errors?|warnings?)\Z"
    r"|only showing the first \d{1,9} \w{1,10}, of (?P<all>\d{1,9}) total"
)


def read(content: bytes, folder: str = "") -> ProblemReport:
    """What javac counts holds, where it is more than what it shows."""
    quiet = _ANYTHING if _MAVEN_SUCCEEDED in content else _QUIET
    found = only_entries(lines_of(content), _HEAD, quiet, is_loose=True)
    report = collected(distinct(_problem(one, folder) for one in found))
    return replace(report, total=max(report.total, _told(content)))


def _told(content: bytes) -> int:
    counts, shortened = 0, 0
    for line in lines_of(content):
        if found := _COUNT.match(line):
            counts += int(found["count"] or 0)
            shortened = max(shortened, int(found["all"] or 0))
    return max(counts, shortened)


def _problem(one: Entry, folder: str) -> Problem:
    if one["kotlin"]:
        return problem(
            one["said"],
            ProblemSeverity.LOW if one["kotlin"] == "w" else ProblemSeverity.HIGH,
            path=one["source"],
            folder=folder,
            line=one["first"] or one["from"],
            column=one["place"] or one["at"],
        )
    is_warning = one["level"] == "warning" or one["maven"] == "WARNING"
    return problem(
        "\n".join((one["message"], *_details(one))),
        ProblemSeverity.LOW if is_warning else ProblemSeverity.HIGH,
        path=one["path"],
        folder=folder,
        line=one["line"] or one["row"],
        column=one["column"] or _column_of(one),
        rule=one["rule"],
    )


def _column_of(one: Entry) -> int | None:
    """Where the mark stands below the line of source."""
    marks = (line for line in one.following if _is_mark(line))
    return next((line.index("^") + 1 for line in marks), None)


def _details(one: Entry) -> Iterator[str]:
    """What is said below the mark, of symbols and places."""
    after = dropwhile(lambda line: not _is_mark(line), one.following)
    return (line for line in after if line.startswith("  ") and not _is_mark(line))


def _is_mark(line: str) -> bool:
    return line.strip() == "^"
