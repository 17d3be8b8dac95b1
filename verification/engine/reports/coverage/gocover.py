"""`go test -coverprofile`: blocks of statements, each with how often it ran."""

from __future__ import annotations

import re

from verification.engine.reports.coverage.tally import MAX_TOLD_LINES, Tally
from verification.engine.reports.model import Coverage, Unreadable, inner_path
from verification.engine.reports.problems.parsing import lines_of

_MODE = re.compile(r"mode: (?:set|count|atomic)\Z")
_BLOCK = re.compile(
    r"(?P<path>.{1,500}):(?P<first>\d{1,9})\.\d{1,9},(?P<last>\d{1,9})\.\d{1,9} "
    r"(?P<statements>\d{1,9}) (?P<runs>\d{1,20})\Z"
)


def read(content: bytes, folder: str = "", *, module: str = "") -> Coverage:
    """A line has run when a block that touches it has: the profile knows lines no better.

    `module` is the module's path as `go.mod` names it. Files of other modules are left out;
    without it paths stay as the profile has them, and they begin with the module's.
    """
    tally = Tally()
    for (path, first, last), has_run in _blocks(content).items():
        if first > last:
            raise Unreadable("A block of the profile ends before it begins.")
        tally.add(_inner(path, folder, module), range(first, last + 1), covered=has_run)
    return tally.coverage()


def _blocks(content: bytes) -> dict[tuple[str, int, int], bool]:
    """With `-coverpkg` every package tells of every block; one that ran once has run."""
    blocks: dict[tuple[str, int, int], bool] = {}
    is_begun = False
    for line in lines_of(content, MAX_TOLD_LINES):
        if _MODE.match(line):
            is_begun = True
        elif found := _BLOCK.match(line):
            key = found["path"], int(found["first"]), int(found["last"])
            if int(found["statements"]):
                blocks[key] = blocks.get(key, False) or int(found["runs"]) > 0
        elif line.strip():
            raise Unreadable("A line of the report is not of a profile of go.")
    if not is_begun:
        raise Unreadable("The report does not begin as a profile of go does.")
    return blocks


def _inner(path: str, folder: str, module: str) -> str:
    if module and not path.startswith(f"{module}/"):
        return ""
    return inner_path(path.removeprefix(f"{module}/") if module else path, folder)
