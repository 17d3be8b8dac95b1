"""`loomverify processes lint FILE…`: needs neither a database nor settings."""

from __future__ import annotations

import sys
from pathlib import Path

from processes.definition.lint import lint as lint_definition
from processes.definition.load import load
from processes.definition.model import Level, Problem

EXIT_CLEAN, EXIT_ERRORS = 0, 1


def lint(paths: list[str]) -> int:
    """Print each problem as `file:line:column: level: message`; 1 when any is an error."""
    found = [problem for path in paths for problem in _lint_file(path)]
    errors = sum(problem.level is Level.ERROR for problem in found)
    warnings = sum(problem.level is Level.WARNING for problem in found)
    sys.stdout.write(f"{len(paths)} file(s), {errors} error(s), {warnings} warning(s)\n")
    return EXIT_ERRORS if errors else EXIT_CLEAN


def _lint_file(path: str) -> list[Problem]:
    try:
        source = Path(path).read_bytes()
    except OSError as error:
        problems = [Problem("file.unreadable", f"{error.strerror or error}.")]
    else:
        loaded = load(source)
        problems = list(loaded.problems)
        if loaded.definition is not None:
            problems += lint_definition(loaded.definition)
    for problem in problems:
        place = f"{path}:{problem.line}:{problem.column}"
        sys.stdout.write(f"{place}: {problem.level}: {problem.message} [{problem.code}]\n")
    return problems
