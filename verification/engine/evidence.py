"""What was submitted, as frozen values. All of it is hostile text: nothing here is trusted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

Json = dict[str, Any] | list[Any] | str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class TaskSpec:
    id: str
    description: str
    plan: str = ""
    acceptance_criteria: str = ""
    expected_outputs: tuple[str, ...] = ()
    is_critical_path: bool | None = None
    max_attempts: int | None = None


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call of a tool by the agent. Any JSON may stand in `args`, `result`, `files_changed`."""

    tool: str
    success: bool
    error: str = ""
    args: Json = None
    result: Json = None
    files_changed: Json = None


@dataclass(frozen=True, slots=True)
class SubmittedFile:
    path: str
    sha256: str
    size: int


@dataclass(frozen=True, slots=True)
class Claim:
    text: str
    label: str
    section: str
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EvidenceItem:
    id: str
    tool: str = ""
    source_url: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class Submission:
    """One submission of a task's work."""

    task: TaskSpec
    output: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    files: tuple[SubmittedFile, ...] = ()
    claims: tuple[Claim, ...] = ()
    evidence: tuple[EvidenceItem, ...] = ()
    alternatives: tuple[str, ...] = ()
    diff: str = ""
    executor_model: str = ""
    executor_context: str = ""
    return_code: int | None = None

    def file(self, path: str) -> SubmittedFile | None:
        return next((file for file in self.files if file.path == path), None)


class Workspace(Protocol):
    """The submitted files' contents."""

    def read(self, path: str) -> bytes:
        """Return the whole file.

        Raises:
            KeyError: no file was submitted under this path.
        """


@dataclass(frozen=True, slots=True)
class SyntaxProblem:
    """Why a file does not parse. `line` and `column` count from 1; 0 is unknown."""

    message: str
    line: int = 0
    column: int = 0
    certain: bool = True
    """False: worth saying, never worth failing for (ragged CSV, a duplicate key)."""
    note: bool = False
    """True: worth a remark that counts for nothing (a byte order mark)."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """At most `limit` matches are asked for."""

    text: str
    limit: int


@dataclass(frozen=True, slots=True)
class PatternMatch:
    """`start` and `end` count characters of the searched text."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class UnsupportedPattern:
    """The linear-time matcher cannot run this pattern."""

    why: str


@dataclass(frozen=True, slots=True)
class NotInspected:
    """This one material could not be looked into: nothing is known about it."""

    why: str


class CouldNotInspect(Exception):
    """The probe died, ran out of time or of memory: nothing is known about what it was given."""


Matches = Sequence[PatternMatch]


class Probe(Protocol):
    """Looks into hostile material within bounds of time and memory."""

    def syntax(
        self, sources: Sequence[tuple[str, bytes]]
    ) -> Sequence[Sequence[SyntaxProblem] | NotInspected]:
        """Parse files (path, content) by their suffixes, answered in their order.

        A suffix without a grammar has no problems.

        Raises:
            CouldNotInspect: bounds were exceeded or the child died.
        """

    def matches(
        self, patterns: Sequence[Pattern], texts: Sequence[str]
    ) -> Sequence[Sequence[Matches | UnsupportedPattern]]:
        """Search each text for each pattern: one row per text, one answer per pattern.

        Matches are leftmost first and do not overlap.

        Raises:
            CouldNotInspect: bounds were exceeded or the child died.
        """
