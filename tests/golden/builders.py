"""Rows of the golden corpus for tests, as the services would have written them."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from loomverify.accounts.access import Access, Actor
from loomverify.accounts.models import Project, Role
from verification.engine.golden.standing import Change, Standing
from verification.golden.cases.services import create_case
from verification.golden.models import (
    GoldenCase,
    Replay,
    ReplayPurpose,
    ReplayResult,
    ReplayState,
)

_numbers = itertools.count(1)

PASSES: Mapping[str, Any] = {"outcome": "pass", "verdict": "accept"}
OBSERVED: Mapping[str, Any] = {
    "outcome": "pass",
    "verdict": "accept",
    "reason_code": "",
    "severity_class": None,
    "retry_strategy": "none",
    "findings": [],
}


def editor_of(project: Project, name: str = "ed") -> Access:
    return Access(project, Role.EDITOR, Actor(name))


def document(name: str = "", **fields: Any) -> dict[str, Any]:
    """A case of the builders' process `small-work` that tier 1 passes, with fields changed.

    `run` adds to the submission; `expected` replaces what is expected.
    """
    number = next(_numbers)
    run = {
        "task": {"id": f"task-{number}", "description": f"Sum up quarter {number}."},
        "output": f"Revenue of quarter {number} rose by {number} %.",
        **fields.pop("run", {}),
    }
    return {
        "id": name or f"case-{number}",
        "guards": "Plain work passes.",
        "process": "small-work",
        "phase": "build",
        "run": run,
        "expected": dict(PASSES),
        **fields,
    }


def make_case(
    project: Project, name: str = "", *, access: Access | None = None, **fields: Any
) -> GoldenCase:
    """A case with its first version; `fields` as for `document`."""
    return create_case(access=access or editor_of(project), document=document(name, **fields))


def as_another(given: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The same document under another name, for `make_case`."""
    return {**{key: value for key, value in given.items() if key != "id"}, "name": name}


def make_replay(
    project: Project,
    *,
    state: ReplayState = ReplayState.FINISHED,
    created_at: datetime | None = None,
    **columns: Any,
) -> Replay:
    """A replay by the active verifier; on the live line unless another is said."""
    at = created_at or timezone.now()
    is_over = state not in (ReplayState.QUEUED, ReplayState.RUNNING)
    replay = Replay.objects.create(
        project=project,
        state=state,
        **{
            "purpose": ReplayPurpose.MANUAL,
            "verifier_version": project.verifiers.get(is_active=True),
            "is_live_line": True,
            "corpus_sha256": "0" * 64,
            "started_at": at,
            "finished_at": at + timedelta(seconds=3) if is_over else None,
            "created_by": "ed",
            **columns,
        },
    )
    Replay.objects.filter(pk=replay.pk).update(created_at=at)
    replay.created_at = at
    return replay


def make_result(
    replay: Replay,
    case: GoldenCase,
    *,
    standing: Standing | None = Standing.HELD,
    change: Change | None = None,
    observed: Mapping[str, Any] | None = None,
    differences: Sequence[Mapping[str, Any]] = (),
    **columns: Any,
) -> ReplayResult:
    """What one case came to; `standing` None: it was not its turn yet.

    `change` is the usual one of that standing. Counts and totals of the replay are not touched.
    """
    usual = {Standing.HELD: Change.HELD, Standing.NOT_JUDGED: Change.NOT_JUDGED, None: None}
    told = {**OBSERVED, **(observed or {})} if standing else {}
    return ReplayResult.objects.create(
        replay=replay,
        case=case,
        case_version=columns.pop("case_version", case.current),
        standing=standing or "",
        change=change or usual.get(standing, Change.NEW) or "",
        observed=told,
        differences=list(differences),
        **{
            "outcome": told.get("outcome", ""),
            "verdict": told.get("verdict", ""),
            "reason_code": told.get("reason_code", ""),
            "replayed_at": timezone.now() if standing else None,
            **columns,
        },
    )
