"""Which lines of code that changed the tests ran."""

from __future__ import annotations

from collections.abc import Mapping

from verification.engine.reports.model import Coverage


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
