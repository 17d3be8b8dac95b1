"""What rooms above know against a process text: they register here, warnings beside the lint's.

A check is called with the process and what the text says, and gives problems with a path; line
and column are found here. A text that belongs to no process yet is not asked about.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from processes.definition.model import Definition, Level, Problem
from processes.models import Process

Check = Callable[[Process, Definition], Iterable[Problem]]
MAX_PROBLEMS = 500
"""Of one check: as many as there are rules."""

_checks: list[Check] = []


def register(check: Check) -> None:
    """Ask this check about every text that is edited or stored; once more changes nothing."""
    if check not in _checks:
        _checks.append(check)


def linted(process: Process | None, definition: Definition | None) -> tuple[Problem, ...]:
    """Return what the registered checks say, as warnings at their places."""
    if process is None or definition is None:
        return ()
    found = (one for check in _checks for one in list(check(process, definition))[:MAX_PROBLEMS])
    return tuple(_placed(definition, problem) for problem in found)


def _placed(definition: Definition, problem: Problem) -> Problem:
    line, column = definition.place(problem.path)
    return replace(problem, line=line, column=column, level=Level.WARNING)
