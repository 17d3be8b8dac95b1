"""`loomverify processes lint PATH…`, files or folders: needs neither a database nor settings."""

from __future__ import annotations

import sys
from pathlib import Path

from processes.definition.lint import lint as lint_definition
from processes.definition.load import load
from processes.definition.model import Level, Problem

EXIT_CLEAN, EXIT_ERRORS = 0, 1
ENDINGS = (".yaml", ".yml")


def lint(paths: list[str]) -> int:
    """Print each problem as `file:line:column: level: message`; 1 when any is an error."""
    files = [file for path in paths for file in _files(Path(path))]
    found = [problem for file in files for problem in _lint_file(file)]
    errors = sum(problem.level is Level.ERROR for problem in found)
    warnings = sum(problem.level is Level.WARNING for problem in found)
    sys.stdout.write(f"{len(files)} file(s), {errors} error(s), {warnings} warning(s)\n")
    return EXIT_ERRORS if errors else EXIT_CLEAN


def _files(path: Path) -> list[Path]:
    """A folder's process files, also of folders in it; one without any is told by its own name."""
    if not path.is_dir():
        return [path]
    found = [one for one in path.rglob("*") if one.suffix in ENDINGS and one.is_file()]
    return sorted(found) or [path]


def _lint_file(path: Path) -> list[Problem]:
    try:
        source = path.read_bytes()
    except IsADirectoryError:
        message = f"No file in this folder ends with {' or '.join(ENDINGS)}."
        problems = [Problem("folder.empty", message)]
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
