"""What a worker holds of a run while it evaluates it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from loomverify.accounts.models import Project


@dataclass(frozen=True, slots=True)
class Begun:
    """An evaluation that is not finished."""

    evaluation_id: int
    uuid: UUID
    purpose: str
    process_version_id: int
    verifier_version_id: int


@dataclass(frozen=True, slots=True)
class Work:
    """The run's own fields, as they were when it was claimed. `body` is the submission's.

    `attempt` is the run's number among its task's attempts, once it has one; `attempts_used` is
    the task's count. `base` are the files before the work with digest and size; None: there is none.
    """

    run_id: int
    uuid: UUID
    project_id: int
    project_uuid: UUID
    process_slug: str
    task_id: int
    process_id: int
    phase_id: str
    tier_requested: int
    candidate_sha256: str
    attempt: int | None
    attempts_used: int
    undecided_since: datetime | None
    reverifications: int
    created_at: datetime
    body: dict[str, Any]
    base: dict[str, tuple[str, int]] | None

    @property
    def project(self) -> Project:
        """A name for it, nothing loaded."""
        return Project(pk=self.project_id, uuid=self.project_uuid)
