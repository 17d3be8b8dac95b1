"""What authors of custom verifiers import. Source: docs/custom-verifiers.md.

It needs neither Django nor a database: a verifier can be tried where only its own tests run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from processes.definition.model import Definition as Process
from processes.definition.model import Phase
from verification.engine.evidence import (
    Claim,
    EvidenceItem,
    Submission,
    SubmittedFile,
    ToolCall,
)
from verification.engine.evidence import TaskSpec as Task

__all__ = [
    "Claim",
    "EvidenceItem",
    "FatalVerificationError",
    "Phase",
    "Process",
    "Submission",
    "SubmittedFile",
    "Task",
    "ToolCall",
    "VerificationRejected",
    "Workspace",
]


class _Fault(Exception):
    def __init__(
        self, message: str, code: str = "", metadata: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.metadata = dict(metadata or {})


class VerificationRejected(_Fault):
    """The work is at fault: it counts an attempt, and the submitter is told `message`, whole.

    `code` is the verifier's own word for it. In `metadata`, `path`, `line`, `column` and
    `suggestion` tell where the fault lies and what to do; all else is kept beside it.
    """


class FatalVerificationError(_Fault):
    """The work is at fault, and no further attempt can put it right: the task ends."""


@dataclass(frozen=True, slots=True)
class Workspace:
    """The submitted files, in a folder of their own that is gone after the call.

    The folder is also the current one. A path that was not submitted is not read, wherever it
    leads: names that come out of a submission can be handed in as they are.
    """

    folder: Path
    paths: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[str]:
        return iter(self.paths)

    def __contains__(self, path: object) -> bool:
        return path in self.paths

    def read_bytes(self, path: str) -> bytes:
        """Return the whole file.

        Raises:
            FileNotFoundError: no file was submitted under this path.
        """
        if path not in self.paths:
            raise FileNotFoundError(f"No file was submitted as {path!r}.")
        return self.folder.joinpath(path).read_bytes()

    def read_text(self, path: str) -> str:
        """Return the whole file as UTF-8, a byte order mark left out; what is not UTF-8 becomes U+FFFD."""
        return self.read_bytes(path).decode("utf-8-sig", errors="replace")
