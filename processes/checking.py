"""What is to be said about a process text that nobody stored yet."""

from __future__ import annotations

from dataclasses import dataclass

from processes.definition.lint import lint
from processes.definition.load import Loaded, load
from processes.definition.model import Definition, Problem
from processes.linting import linted
from processes.models import Process

MAX_SHOWN = 100


@dataclass(frozen=True, slots=True)
class Checked:
    """`definition` is None exactly when there are errors."""

    definition: Definition | None
    errors: tuple[Problem, ...]
    warnings: tuple[Problem, ...]
    notes: tuple[Problem, ...]

    @property
    def shown(self) -> tuple[Problem, ...]:
        """The first of all, errors first."""
        return (*self.errors, *self.warnings, *self.notes)[:MAX_SHOWN]

    @property
    def more(self) -> int:
        return max(0, len(self.errors) + len(self.warnings) + len(self.notes) - MAX_SHOWN)


def check(
    source: str | bytes, process: Process | None = None, *, is_stored: bool = False
) -> Checked:
    """With the process that the text belongs to, rooms above are asked, too."""
    loaded = load(source, is_stored=is_stored)
    warnings = warnings_of(loaded, process)
    return Checked(loaded.definition, loaded.errors, warnings, loaded.notes)


def warnings_of(loaded: Loaded, process: Process | None) -> tuple[Problem, ...]:
    """What the reader, the lint and the rooms above warn of, in this order."""
    found = lint(loaded.definition) if loaded.definition else ()
    return (*loaded.warnings, *found, *linted(process, loaded.definition))
