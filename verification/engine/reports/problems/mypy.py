"""`mypy`, in its lines of JSON (`--output json`) and in its text, pretty or not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from verification.engine.reports.contents import as_text, json_lines
from verification.engine.reports.model import (
    Problem,
    ProblemReport,
    ProblemSeverity,
    Unreadable,
    text,
)
from verification.engine.reports.problems.grouping import MAX_FOLLOWING, Entry, entries
from verification.engine.reports.problems.parsing import collected, from_zero, lines_of, problem

_HEAD = re.compile(
    r"(?P<path>(?:[A-Za-z]:)?[^:]{1,500})(?::(?P<line>\d{1,9}))?(?::(?P<column>\d{1,9}))?"
    r"(?::\d{1,9}:\d{1,9})?: (?P<level>error|note|warning): (?P<message>.*)"
)
_SUMMARY = re.compile(r"Found (?P<count>\d{1,9}) errors? in |Success: ")
_SYNTAX = "syntax"
_UNFIT = ("Duplicate module named ", "Source file found twice under different module names: ")
"""How files lie, which mypy cannot go on from: what stands in them is not known."""


def read(content: bytes, folder: str = "") -> ProblemReport:
    """A run without errors prints an empty line in the one, and `Success` in the other."""
    start = as_text(content[:100]).lstrip()
    if not content:
        raise Unreadable("The report is empty: mypy always prints something.")
    if not start or start.startswith("{"):
        return collected(_of_json(content, folder))
    return _of_text(content, folder)


def _of_json(content: bytes, folder: str) -> Iterator[Problem]:
    for one in json_lines(content):
        code, column = one.get("code"), one.get("column")
        _refuse_unfit(one.get("message"))
        if one.get("severity") != "note":
            yield problem(
                one.get("message"),
                _severity(code),
                path=one.get("file"),
                folder=folder,
                line=one.get("line"),
                # Those of syntax errors alone are counted from 1.
                column=column if code == _SYNTAX else from_zero(column),
                rule=code,
            )


def _of_text(content: bytes, folder: str) -> ProblemReport:
    """What mypy counts holds, where it is more than what is seen: some of it goes to stderr."""
    told, is_known = 0, False
    found: list[_Told] = []
    for one in entries(lines_of(content), _HEAD):
        if isinstance(one, Entry):
            is_known = True
            found.append(_Told(one, [one["message"]]))
        elif summary := _SUMMARY.match(one):
            is_known = True
            told += int(summary["count"] or 0)
        elif found and not one.startswith(" ") and len(found[-1].parts) < MAX_FOLLOWING:
            found[-1].parts.append(one)
    if not is_known:
        raise Unreadable("The report is not what mypy prints.")
    report = collected(_problem(one, folder) for one in found if one.entry["level"] != "note")
    return replace(report, total=max(report.total, told))


@dataclass(frozen=True, slots=True)
class _Told:
    """An error, and the parts of its message: `--pretty` breaks it over lines."""

    entry: Entry
    parts: list[str]


def _refuse_unfit(message: object) -> None:
    if isinstance(message, str) and message.startswith(_UNFIT):
        raise Unreadable(f"mypy checked nothing: {text(message)}")


def _problem(told: _Told, folder: str) -> Problem:
    _refuse_unfit(told.parts[0])
    message, _, rule = " ".join(told.parts).rpartition("  [")
    is_rule = rule.endswith("]") and bool(message)
    return problem(
        message if is_rule else " ".join(told.parts),
        _severity(rule[:-1] if is_rule else ""),
        path=told.entry["path"],
        folder=folder,
        line=told.entry["line"],
        column=told.entry["column"],
        rule=rule[:-1] if is_rule else "",
    )


def _severity(code: object) -> ProblemSeverity:
    return ProblemSeverity.HIGH if code == _SYNTAX else ProblemSeverity.MEDIUM
