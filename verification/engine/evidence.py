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
    """One call of a tool by the agent. Any JSON may stand in `args`, `result`, `files_changed`.

    `success` is None where nothing states how the call ended. `oddities` say what is unusual about
    the shape in which the call was submitted.
    """

    tool: str
    success: bool | None = None
    error: str = ""
    args: Json = None
    result: Json = None
    files_changed: Json = None
    oddities: tuple[str, ...] = ()


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
    changed: frozenset[str] | None = None
    """Paths that the work added or changed; None: nobody told. The other files were there before."""

    def may_be_the_works(self, path: str) -> bool:
        return self.changed is None or path in self.changed


class Workspace(Protocol):
    """The submitted files' contents."""

    def read(self, path: str) -> bytes:
        """Return the whole file.

        Raises:
            KeyError: no file was submitted under this path.
        """


class Base(Workspace, Protocol):
    """The workspace as it was before the work."""

    def holds(self, sha256: str) -> bool:
        """Return whether some file had this content, under whatever path."""


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
    since: str = ""
    """The version of the language from which on this is no problem, as in 3.12; "": it always is."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """Matches are counted up to `limit`; a search may take so many `seconds`.

    `in_visible_text`: it is searched for in the text as a person reads it, too.
    """

    text: str
    limit: int
    seconds: float = 2.0
    in_visible_text: bool = False


@dataclass(frozen=True, slots=True)
class PatternMatch:
    """A place in one of the searched texts: its number from 0, line and column from 1."""

    text: int
    line: int
    column: int
    quote: str


@dataclass(frozen=True, slots=True)
class Matches:
    """`count` of matches over all texts, and where the first of them are."""

    count: int
    places: tuple[PatternMatch, ...] = ()
    seconds: float = 0.0


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


Answer = Matches | UnsupportedPattern | NotInspected


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

    def start(self) -> None:
        """Get ready, so that the start is no part of an answer's time.

        Raises:
            CouldNotInspect: there is no child to be had.
        """

    def search(
        self, patterns: Sequence[Pattern], texts: Sequence[bytes], *, seconds: float
    ) -> Sequence[Answer]:
        """Search all texts for each pattern; matches do not overlap.

        Patterns are answered in their order. What takes too long is not inspected, and no
        answers may come after it: ask again for the rest.

        Raises:
            CouldNotInspect: the child died.
        """
