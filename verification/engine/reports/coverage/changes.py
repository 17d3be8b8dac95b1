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
        noun = "new line" if lines == 1 else "new lines"
        is_one = lines == 1
        told.append(
            f"{lines} {noun} in {_named(counted)} {'was' if is_one else 'were'} in no report"
        )
    if uncounted:
        is_one = len(uncounted) == 1
        told.append(f"{_named(uncounted)} {'was' if is_one else 'were'} in no report")
    return "; ".join(told)


def _named(paths: Sequence[str]) -> str:
    more = len(paths) - 1
    first = paths[0] if len(paths[0]) <= MAX_SHOWN_CHARS else f"…{paths[0][-MAX_SHOWN_CHARS:]}"
    return f"{first} and {more} other file{'' if more == 1 else 's'}" if more else first
