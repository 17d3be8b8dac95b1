"""The Test Anything Protocol, versions 12 to 14, with subtests as node:test and Perl write them.

Source: https://testanything.org/tap-version-14-specification.html
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from verification.engine.reports.model import (
    MAX_MESSAGE_CHARS,
    CaseStatus,
    TestCase,
    TestReport,
    Unreadable,
    counted,
    inner_path,
    name,
    number,
    text,
)
from verification.engine.reports.testing.contents import lines_of

_MAX_DEPTH = 40
_INDENT = 4
_POINT = re.compile(r"( *)(not )?ok\b(?: +\d{1,9}\b)?(.*)", re.DOTALL)
_PLAN = re.compile(r"( *)1\.\.(\d{1,9})\s*(?:#.*)?", re.DOTALL)
_SUBTEST = re.compile(r"( *)# Subtest: ?(.*)", re.DOTALL)
_DIRECTIVE = re.compile(r"(?:^|\s)#\s?(?:skip(?:ped)?|todo)\b", re.IGNORECASE)
_PLACE = re.compile(
    r"\s*(?:location: '|at: '|at: [^\n(]{0,200}\()([^\n]{1,500}):(\d{1,9}):\d{1,9}['\)]"
)
"""As node:test, AVA and tape tell of it."""
_NOTE = re.compile(r" *# ?(?!Subtest:)(.*)", re.DOTALL)
_NOTED_PLACE = re.compile(r"\s*\(?in test file ([^\n]{1,500}), line (\d{1,9})\)?\s*")
"""As bats tells of it, in comments below the test."""
_FILE = re.compile(r" *# loomverify file: ([^\n]{1,500})", re.DOTALL)
"""As our reporter of node:test says it before each test."""
_BAIL_OUT = "Bail out!"


@dataclass(slots=True)
class _Level:
    """The tests of one indentation since the last of the one around it."""

    suite: str = ""
    subtest: str = ""
    points: int = 0
    plan: int | None = None
    is_bad: bool = False

    def ends(self) -> None:
        if self.plan is not None and self.plan != self.points:
            raise Unreadable("There are more tests, or fewer, than the report planned.")


@dataclass(slots=True)
class _Stream:
    folder: str
    levels: list[_Level] = field(default_factory=lambda: [_Level()])
    cases: list[TestCase] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
    block_end: str = ""
    block_begin: str = ""
    is_noting: bool = False
    file: str = ""
    has_bailed_out: bool = False

    def take(self, line: str) -> None:
        if self.is_noting and (note := _NOTE.fullmatch(line)):
            self.told.append(note[1])
            return
        self._end_notes(line)
        if self.block_end:
            self._take_told(line)
        elif self.block_begin and line.rstrip() == self.block_begin:
            self.block_end = self.block_begin.replace("---", "...")
        elif point := _POINT.fullmatch(line):
            self._take_point(len(point[1]), bool(point[2]), point[3])
        elif plan := _PLAN.fullmatch(line):
            self._take_plan(len(plan[1]), int(plan[2]))
        elif subtest := _SUBTEST.fullmatch(line):
            self._take_subtest(len(subtest[1]), subtest[2])
        elif file := _FILE.fullmatch(line):
            self.file = inner_path(file[1], self.folder)
        elif line.lstrip(" ").startswith(_BAIL_OUT):
            self.has_bailed_out = True
            told = text(line.partition(_BAIL_OUT)[2].strip())
            self.cases.append(TestCase(_BAIL_OUT, CaseStatus.ERROR, message=told))
        if not self.block_end:
            self.block_begin = self.block_begin if line.strip() == "" else self._begin_after(line)

    def _begin_after(self, line: str) -> str:
        point = _POINT.fullmatch(line)
        return f"{point[1]}  ---" if point else ""

    def _take_told(self, line: str) -> None:
        if line.rstrip() != self.block_end:
            self.told.append(line)
            return
        self.block_begin = self.block_end = ""
        self._tell()

    def _end_notes(self, line: str = "") -> None:
        """Comments may stand before a test's block, and belong to it then."""
        is_begin = bool(self.block_begin) and line.rstrip() == self.block_begin
        if self.is_noting and self.told and not is_begin:
            self._tell()
        self.is_noting = False

    def _tell(self) -> None:
        told, self.told = self.told, []
        if self.cases and self.cases[-1].status.is_bad and not self.cases[-1].message:
            self.cases[-1] = _with_told(self.cases[-1], told, self.folder)

    def _level(self, indent: int) -> _Level | None:
        """The level of an indentation, which may be one deeper than what is open."""
        depth, rest = divmod(indent, _INDENT)
        if rest:
            return None
        if depth > len(self.levels) or depth > _MAX_DEPTH:
            raise Unreadable("A subtest of the report stands in no test.")
        if depth == len(self.levels):
            around = self.levels[-1]
            names = filter(None, (around.suite, around.subtest))
            self.levels.append(_Level(name(" > ".join(names))))
        return self.levels[depth]

    def _take_point(self, indent: int, is_failed: bool, rest: str) -> None:
        level = self._level(indent)
        if level is None:
            return
        inner = self._closed(indent // _INDENT)
        level.points += 1
        case = replace(_case(is_failed, rest, level), file=self.file)
        self.file = ""
        is_holder = inner is not None and inner.points > 0
        if not is_holder or (case.status.is_bad and not (inner and inner.is_bad)):
            self.cases.append(case)
            self.is_noting = case.status.is_bad
            level.is_bad = level.is_bad or case.status.is_bad
        level.is_bad = level.is_bad or bool(inner and inner.is_bad)

    def _closed(self, depth: int) -> _Level | None:
        """The level of the subtests that a test at `depth` ends."""
        if len(self.levels) > depth + 2:
            raise Unreadable("A subtest of the report stands in no test.")
        if len(self.levels) == depth + 1:
            return None
        inner = self.levels.pop()
        inner.ends()
        return inner

    def _take_plan(self, indent: int, planned: int) -> None:
        level = self._level(indent)
        if level is None:
            return
        if level.plan is not None:
            raise Unreadable("The report has two plans.")
        level.plan = planned

    def _take_subtest(self, indent: int, subtest: str) -> None:
        depth, rest = divmod(indent, _INDENT)
        if not rest and depth < len(self.levels):
            self.levels[depth].subtest = name(subtest)

    def end(self) -> None:
        self._end_notes()
        if self.has_bailed_out:
            return
        if self.block_end or len(self.levels) > 1 or self.levels[0].plan is None:
            raise Unreadable("The report has no plan, or not all of it is there.")
        self.levels[0].ends()


def read(content: bytes, folder: str = "") -> TestReport:
    stream = _Stream(folder)
    for line in lines_of(content):
        stream.take(line)
        if stream.has_bailed_out:
            break
    stream.end()
    return counted(stream.cases)


def _case(is_failed: bool, rest: str, level: _Level) -> TestCase:
    status = CaseStatus.FAILED if is_failed else CaseStatus.PASSED
    directive = _DIRECTIVE.search(rest)
    if directive:
        status, rest = CaseStatus.SKIPPED, rest[: directive.start()]
    title = rest.strip().removeprefix("- ").replace("\\#", "#").replace("\\\\", "\\")
    return TestCase(name(title) or f"test {level.points}", status, suite=level.suite)


def _with_told(case: TestCase, told: list[str], folder: str) -> TestCase:
    message = text("\n".join(told)[: MAX_MESSAGE_CHARS + 1])
    for line in told:
        if place := _PLACE.match(line) or _NOTED_PLACE.fullmatch(line):
            path = inner_path(place[1], folder)
            return replace(
                case, message=message, path=path, line=number(place[2]) if path else None
            )
    return replace(case, message=message)
