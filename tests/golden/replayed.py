"""Replays that are worked off where the test is."""

from __future__ import annotations

from typing import Any

from loomverify.accounts.access import SYSTEM
from loomverify.accounts.models import Project
from verification.golden.models import Replay, ReplayResult
from verification.golden.replays import services

FILES = {"report.json": "{}"}
FAILS = {"outcome": "fail"}
ASKS: dict[str, Any] = {"phase": "write", "files": {}, "tier": 2}
"""A case of the phase that a judge is asked in; without `replies` none was recorded."""
PASSED = '{"token": "{{token}}", "passed": true, "confidence": 0.9}'


def queued(project: Project, **wish: Any) -> Replay:
    return services.start(project=project, actor=SYSTEM, **wish)


def replayed(project: Project, **wish: Any) -> Replay:
    replay = queued(project, **wish)
    services.run_now(replay)
    return replay


def results(replay: Replay, column: str = "standing") -> dict[str, Any]:
    """`{name of the case: column}` by name."""
    rows = ReplayResult.objects.filter(replay=replay).order_by("case__name")
    return dict(rows.values_list("case__name", column))


def names(replay: Replay) -> list[str]:
    return list(results(replay))
