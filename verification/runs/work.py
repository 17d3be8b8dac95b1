"""What a worker holds of a run while it evaluates it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID


@dataclass(frozen=True, slots=True)
class Begun:
    """An evaluation that is not finished."""

    evaluation_id: int
    purpose: str
    process_version_id: int
    verifier_version_id: int


@dataclass(frozen=True, slots=True)
class Work:
    """The run's own fields, as they were when it was claimed. `body` is the submission's."""

    run_id: int
    uuid: UUID
    project_id: int
    project_uuid: UUID
    process_slug: str
    task_id: int
    phase_id: str
    tier_requested: int
    candidate_sha256: str
    attempt: int | None
    cost_usd: Decimal
    created_at: datetime
    body: dict[str, Any]
