"""Files as they were before the work, and which of their problems they had then."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from verification.engine.case import Case, Ports
from verification.engine.checks.changed_files import certainly_changed_files
from verification.engine.evidence import Base, SubmittedFile, SyntaxProblem
from verification.engine.reports.coverage.diffs import Hunk, hunks_of_diff
from verification.engine.reports.model import Unreadable

_LINE_END = re.compile(r"\r\n?|\n")


class FilesBefore:
    """What is known of the files before the work: from the submitted base, else from the diff."""

    def __init__(self, case: Case, ports: Ports) -> None:
        self._base: Base | None = ports.base
        self._changed = case.submission.changed
        self._diff = case.submission.diff
        self._hunks = _read_hunks(self._diff)
        self._named = certainly_changed_files(case.submission, self._hunks)

    def is_changed(self, file: SubmittedFile) -> bool:
        """Whether the work added or changed the file, for all that is known."""
        if self._base is not None:
            return not self._base.holds(file.sha256)
        return file.path in self._named

    def content(self, file: SubmittedFile, now: bytes) -> bytes | None:
        """Return the file's content before the work, empty for a new one; None: it is not known."""
        if self._changed is not None and file.path not in self._changed:
            return now
        if self._base is None:
            return self._reverse(file, now)
        if self._base.holds(file.sha256):
            return now
        try:
            return self._base.read(file.path)
        except KeyError:
            # New, or renamed and changed.
            return self._reverse(file, now) or b""

    def _reverse(self, file: SubmittedFile, now: bytes) -> bytes | None:
        """Take the diff's hunks back; None: the diff does not name the file, or does not fit it."""
        if f"\nrename to {file.path}\n" in self._diff and file.path not in self._hunks:
            return now
        lines = now.decode("utf-8", "surrogateescape").split("\n")
        before: list[str] = []
        position = 0
        hunks = self._hunks.get(file.path)
        for hunk in hunks or ():
            end = hunk.index + len(hunk.after)
            if hunk.index < position or lines[hunk.index : end] != hunk.after:
                return None
            before += [*lines[position : hunk.index], *hunk.before]
            position = end
        if not hunks:
            return None
        return "\n".join([*before, *lines[position:]]).encode("utf-8", "surrogateescape")


def problems_before(
    problems: Sequence[SyntaxProblem],
    before: Sequence[SyntaxProblem],
    texts: tuple[bytes, bytes],
) -> frozenset[SyntaxProblem]:
    """Return those problems that the file had before the work, or that follow such a one.

    `before` are its problems then, `texts` its contents now and then. A parser that met an old
    problem has lost its way: what it says of the rest of the file is no fault of the work.
    """
    now, then = map(_lines, texts)
    lines_now, lines_then = set(now), set(then)
    edited = {problem.message for problem in before if _line(problem, then) not in lines_now}
    old: set[SyntaxProblem] = set()
    for problem in sorted(problems, key=_place):
        line = _line(problem, now)
        # A problem in a line that the work did not write, or in a line that was broken before.
        is_old = bool(before) and (line in lines_then or problem.message in edited)
        if old or is_old:
            old.add(problem)
    return frozenset(old)


def _read_hunks(diff: str) -> Mapping[str, Sequence[Hunk]]:
    try:
        return hunks_of_diff(diff) if diff else {}
    except Unreadable:
        return {}


def _lines(content: bytes) -> list[str]:
    return [line.strip() for line in _LINE_END.split(content.decode("utf-8", "replace"))]


def _place(problem: SyntaxProblem) -> tuple[int, int]:
    return (problem.line, problem.column)


def _line(problem: SyntaxProblem, lines: Sequence[str]) -> str | None:
    """The text of the problem's line; None: it has no place."""
    return lines[problem.line - 1] if 0 < problem.line <= len(lines) else None
