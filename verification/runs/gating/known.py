"""What earlier runs of the project found by the same commands over the same work."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from verification.engine.gates import GateReport
from verification.engine.gating.stages import Part, Stage
from verification.engine.outcome import Status
from verification.engine.verifier import ENGINE_BUILD
from verification.runs.evidence_store import Digest
from verification.runs.models import GateResult

REUSED = (Status.PASSED, Status.FAILED)
REUSED_AGAIN = (Status.PASSED,)
"""Whoever verifies a run again doubts what failed: a test that fails now and then is tried anew."""

Known = Mapping[str, Mapping[str, GateReport]]
"""Reports by the component's name and the gate."""


def inputs_sha256(
    scope: str, image: str, part: Part, stage: Stage, files: Mapping[str, Digest]
) -> str:
    """Names all that a gate's result depends on."""
    said = [
        ENGINE_BUILD, scope, image, part.component.name, stage.gate, stage.command,
        sorted(part.environment.items()), sorted(part.linked.items()),
        sorted((path, sha256) for path, (sha256, _) in files.items()),
    ]  # fmt: skip
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()


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
    rows = (
        GateResult.objects.filter(
            inputs_sha256__in=list(keys), evaluation__run__project=project_id, status__in=statuses
        )
        .order_by("inputs_sha256", "-pk")
        .distinct("inputs_sha256")
    )
    found: dict[str, dict[str, GateReport]] = {}
    for sha256, saved, run in rows.values_list("inputs_sha256", "report", "evaluation__run__uuid"):
        component, gate = keys[sha256]
        report = GateReport.from_json(saved)
        origin = report.reused_from or str(run)
        found.setdefault(component, {})[gate] = replace(report, reused_from=origin)
    return found
