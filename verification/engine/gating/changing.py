"""Which lines of the work are new, by a base, else by its diff; and which of them tests ran."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from itertools import islice
from types import MappingProxyType
from typing import Any

from verification.engine.gates import GateReport
from verification.engine.gating.stages import Part
from verification.engine.gating.unreported import is_code
from verification.engine.reports.coverage import changed_lines, lines_of_diff
from verification.engine.reports.model import Coverage, FileCoverage, Unreadable
from verification.engine.reports.record import runs_of

MAX_FILE_BYTES = 1_000_000
MAX_FILES = 500
MAX_UNRUN = 50
MAX_UNREPORTED = 50
UNWEIGHED: Mapping[str, Any] = MappingProxyType(
    {"changed_lines": None, "unrun": (), "unreported": ()}
)
"""A report as `weighed` finds it."""

Read = Callable[[str], bytes | None]
Changed = Mapping[str, frozenset[int]]
"""By path, the lines that are new or differ, from 1."""


def changed_by_diff(diff: str) -> Changed:
    """Nothing, where it cannot be read."""
    try:
        return lines_of_diff(diff) if diff else {}
    except Unreadable:
        return {}


def changed_since(paths: Iterable[str], now: Read, before: Read) -> Changed:
    """The lines that the file did not hold before, wherever in it. `paths` are those that differ.

    Linear, whatever the files are: a line that was only moved is none that changed.
    """
    found = {}
    for path in sorted(paths)[:MAX_FILES]:
        content, old = now(path) or b"", before(path) or b""
        if max(len(content), len(old)) <= MAX_FILE_BYTES and b"\0" not in content:
            found[path] = _added(content.splitlines(), old.splitlines())
    return found


def _added(now: Iterable[bytes], before: Iterable[bytes]) -> frozenset[int]:
    left = Counter(before)
    added = set()
    for number, line in enumerate(now, 1):
        if left[line]:
            left[line] -= 1
        elif line.strip():
            added.add(number)
    return frozenset(added)


def covering(part: Part, *, is_wanted: bool) -> Part:
    """Which lines the tests run is asked where it is known which are new: it takes time."""
    stages = tuple(one.covered() if is_wanted else replace(one, cover=None) for one in part.stages)
    return replace(part, stages=stages)


def weighed(
    report: GateReport,
    coverage: Coverage,
    changed: Changed,
    silent: Mapping[str, frozenset[int] | None] = MappingProxyType({}),
) -> GateReport:
    """Told which of the new lines the tests ran, and the first of those they did not.

    `silent` are files that no report speaks of, with their lines of code: no test loaded them. None:
    which of their lines are code is not known.
    """
    code = {path: lines for path, lines in changed.items() if is_code(path)}
    unloaded = {path: FileCoverage(missed=lines) for path, lines in silent.items() if lines}
    whole = Coverage({**coverage.files, **unloaded})
    missed = (
        (path, first, last)
        for path, lines in sorted(code.items())
        if (file := whole.files.get(path)) is not None
        for first, last in runs_of(lines & file.missed)
    )
    unreported = (
        (path, count)
        for path, lines in sorted(silent.items())
        if (count := len(code.get(path, frozenset()) & (lines or frozenset()))) or lines is None
    )
    return replace(
        report,
        changed_lines=changed_lines(whole, code),
        unrun=tuple(islice(missed, MAX_UNRUN)),
        unreported=tuple(islice(unreported, MAX_UNREPORTED)),
    )
