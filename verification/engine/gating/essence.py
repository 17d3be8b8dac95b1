"""Of a long account of a failure what its reader looks for first."""

from __future__ import annotations

from itertools import takewhile

_ERROR, _FAILING = "E  ", ">  "
"""How pytest marks what went wrong, and the line that did."""


def essence(message: str) -> str:
    """Pytest's failing line and its error; of every other account, all."""
    lines = message.splitlines()
    errors = [line for line in lines if line.startswith(_ERROR)]
    if not errors:
        return message
    before = takewhile(lambda line: not line.startswith(_ERROR), lines)
    failing = [line for line in before if line.startswith(_FAILING)][-1:]
    return "\n".join([*failing, *errors])
