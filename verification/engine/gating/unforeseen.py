"""A command that fails for the image's sake, or the install's: it could not be run, and blames nobody."""

from __future__ import annotations

import shlex

from verification.engine.gating.stages import REPORT

COULD_NOT_RUN_EXIT_CODE = 126
_LOG = f'"{REPORT}.log"'


def unless_said(pattern: str, command: str, *, unless: str = "") -> str:
    """A shell's text in which one command is run, and its exit code kept in `$code`.

    Where it failed and wrote what matches, the whole ends as what could not be executed does; not
    where the condition `unless` holds.
    """
    return f"{kept(command)}\n{or_said(pattern, unless=unless)}"


def kept(command: str) -> str:
    """A shell's text in which one command is run, its exit code kept, and what it wrote."""
    return f"code=0\n{command} > {_LOG} 2>&1 || code=$?\ncat {_LOG}"


def or_said(pattern: str, *, unless: str = "") -> str:
    """The same for a further pattern, or where a report is gathered between: behind `kept`."""
    holds = f"{unless} || " if unless else ""
    said = f"! grep -Eq {shlex.quote(pattern)} {_LOG}"
    return f"[ $code = 0 ] || {holds}{said} || exit {COULD_NOT_RUN_EXIT_CODE}"
