"""Which lines of code that changed the tests ran."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from verification.engine.reports.model import Coverage

MAX_SHOWN_CHARS = 100


def changed_lines(
    coverage: Coverage, changed: Mapping[str, frozenset[int]]
) -> tuple[int, int] | None:
    """(covered, all) lines of code among those changed; None where the report speaks of none."""
    covered = missed = 0
    for path, lines in changed.items():
        if (file := coverage.files.get(path)) is not None:
            covered += len(lines & file.covered)
            missed += len(lines & file.missed)
    return (covered, covered + missed) if covered + missed else None


def unreported_words(files: Sequence[tuple[str, int]]) -> str:
    """What to say of (path, new lines of code) that no report speaks of; 0: nobody knows how many.

    >>> unreported_words([("a.js", 3), ("b.js", 1), ("c.cs", 0)])
    '4 new lines in a.js and 1 other file were in no report; c.cs was in no report'
    """
    counted = [path for path, lines in files if lines]
    uncounted = [path for path, lines in files if not lines]
    lines = sum(count for _, count in files)
    told = []
    if counted:
        noun, were = ("new line", "was") if lines == 1 else ("new lines", "were")
        told.append(f"{lines} {noun} in {_named(counted)} {were} in no report")
    if uncounted:
        were = "was" if len(uncounted) == 1 else "were"
        told.append(f"{_named(uncounted)} {were} in no report")
    return "; ".join(told)


def _named(paths: Sequence[str]) -> str:
    more = len(paths) - 1
    first = paths[0] if len(paths[0]) <= MAX_SHOWN_CHARS else f"…{paths[0][-MAX_SHOWN_CHARS:]}"
    return f"{first} and {more} other file{'' if more == 1 else 's'}" if more else first
