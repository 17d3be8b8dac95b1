"""What `go vet` prints, and `go vet -json`: objects between the lines of text."""

from __future__ import annotations

from collections.abc import Iterator

from verification.engine.reports.contents import (
    after_space,
    as_text,
    bounded_json,
    bounded_lines,
    json_at,
    record,
    records,
)
from verification.engine.reports.model import Problem, ProblemReport, ProblemSeverity
from verification.engine.reports.problems.go_text import problems_of
from verification.engine.reports.problems.parsing import collected, lines_of, problem


def read(content: bytes, folder: str = "") -> ProblemReport:
    whole = as_text(content)
    if whole.startswith("{") or "\n{" in whole:
        return collected(_of_json(bounded_json(bounded_lines(whole)), folder))
    return collected(problems_of(lines_of(content), folder, ProblemSeverity.MEDIUM))


def _of_json(whole: str, folder: str) -> Iterator[Problem]:
    lines, start = [], after_space(whole, 0)
    while start < len(whole):
        if whole[start] == "{":
            packages, start = json_at(whole, start)
            yield from _of_packages(packages, folder)
            continue
        end = whole.find("\n", start)
        end = len(whole) if end < 0 else end
        # Here a package may be named that has none.
        if whole[start] != "#":
            lines.append(whole[start:end])
        start = after_space(whole, end)
    yield from problems_of(lines, folder, ProblemSeverity.MEDIUM)


def _of_packages(packages: object, folder: str) -> Iterator[Problem]:
    for analyses in record(packages).values():
        for analysis, found in record(analyses).items():
            if isinstance(found, dict):
                yield problem(found.get("error"), ProblemSeverity.HIGH, rule=analysis)
                continue
            for one in records(found):
                path, line, column = _place(one.get("posn"))
                yield problem(
                    one.get("message"),
                    ProblemSeverity.MEDIUM,
                    path=path,
                    folder=folder,
                    line=line,
                    column=column,
                    rule=analysis,
                )


def _place(posn: object) -> tuple[str, str, str]:
    """Path, line and column of `path:line:column`."""
    path, _, column = (posn if isinstance(posn, str) else "").rpartition(":")
    path, _, line = path.rpartition(":")
    return path, line, column
