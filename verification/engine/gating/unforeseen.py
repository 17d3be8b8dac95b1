"""A command that fails for the image's sake, or the install's: it could not be run, and blames nobody."""

from __future__ import annotations

import shlex

from verification.engine.gating.stages import REPORT

COULD_NOT_RUN_EXIT_CODE = 126


def unless_said(pattern: str, command: str) -> str:
    """A shell's text in which one command is run, and its exit code kept in `$code`.

    Where it failed and wrote what matches, the whole ends as what could not be executed does.
    """
    log = f'"{REPORT}.log"'
    return (
        f"code=0\n{command} > {log} 2>&1 || code=$?\ncat {log}\n"
        f"[ $code = 0 ] || ! grep -Eq {shlex.quote(pattern)} {log} || exit {COULD_NOT_RUN_EXIT_CODE}"
    )
