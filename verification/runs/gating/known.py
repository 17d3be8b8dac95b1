"""What earlier runs of the project found by the same commands over the same work."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, astuple, replace
from typing import Any
from uuid import UUID

from verification.engine.gates import GateReport
from verification.engine.gating.stages import Part, Stage
from verification.engine.outcome import Status
from verification.engine.verifier import ENGINE_BUILD
from verification.runs.evidence_store import Digest
from verification.runs.models import BaseGateResult, GateResult

REUSED = (Status.PASSED, Status.FAILED)
REUSED_AGAIN = (Status.PASSED,)
"""Whoever verifies a run again doubts what failed: a test that fails now and then is tried anew."""

Known = Mapping[str, Mapping[str, GateReport]]
"""Reports by the component's name and the gate."""


def files_sha256(files: Mapping[str, Digest]) -> str:
    """Names a whole workspace."""
    named = sorted((path, sha256) for path, (sha256, _) in files.items())
    return hashlib.sha256(json.dumps(named).encode()).hexdigest()


def inputs_sha256(
    scope: str, image: str, part: Part, stage: Stage, files: str, before: Sequence[Stage] = ()
) -> str:
    """Names all that a gate's result depends on.

    `files` is the name of the workspace; `before` is what ran before it in its container.
    """
    said = [
        ENGINE_BUILD, scope, image, part.component.name, part.before,
        [_named(part, one) for one in (*before, stage)],
        sorted(part.environment.items()), sorted(part.linked.items()), files,
    ]  # fmt: skip
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()


def _named(part: Part, stage: Stage) -> list[Any]:
    starts = [asdict(start) for start in stage.starts]
    seconds = stage.seconds or part.seconds[stage.gate]
    owed = [*map(str, astuple(stage.expected))] if stage.expected else []
    return [stage.gate, stage.command, owed, seconds, stage.is_own, stage.input, starts]


def known_reports(
    project_id: int,
    parts: Sequence[Part],
    key: Callable[[Part, Stage], str],
    statuses: Sequence[Status] = REUSED,
) -> Known:
    """The newest of each; one that stands in for another names the run that ran it."""
    keys = {
        key(part, stage): (part.component.name, stage.gate)
        for part in parts
        for stage in part.stages
        if stage.command
    }
    keys.pop("", None)
    found: dict[str, dict[str, GateReport]] = {}
    for sha256, saved, run in _rows(project_id, list(keys), statuses):
        component, gate = keys[sha256]
        report = GateReport.from_json(saved)
        if report.is_lost:
            continue
        origin = report.reused_from or str(run)
        found.setdefault(component, {})[gate] = replace(report, reused_from=origin)
    return found


def _rows(
    project_id: int, keys: Sequence[str], statuses: Sequence[Status]
) -> Iterator[tuple[str, dict[str, Any], UUID]]:
    """What was told of a base first, so that what was told of a run's own work wins."""
    for rows in (BaseGateResult, GateResult):
        known = rows._default_manager.filter(
            inputs_sha256__in=keys, evaluation__run__project=project_id, status__in=statuses
        )
        newest = known.order_by("inputs_sha256", "-pk").distinct("inputs_sha256")
        yield from newest.values_list("inputs_sha256", "report", "evaluation__run__uuid")
