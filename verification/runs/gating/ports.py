"""Which gates an evaluation is given: a sandbox, what was reported before, or nobody."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from loomverify.env import environment
from verification.engine.case import Case
from verification.engine.gates import GateReport, Gates
from verification.engine.golden.given import RecordedGates
from verification.engine.outcome import COUNTING, Status
from verification.runs import heartbeats
from verification.runs.models import GateResult

NO_WORKER = "No worker was there that a Docker engine answers."


@dataclass(frozen=True, slots=True)
class LostGates:
    """Where a sandbox is meant to be, and is not."""

    why: str = NO_WORKER

    def run(self, case: Case) -> Sequence[GateReport]:
        return [
            GateReport(gate, Status.ERROR, detail=self.why, is_lost=True)
            for gate in case.phase.gates
        ]


def unreached(case: Case) -> Gates | None:
    """Return the port where no sandbox can be reached. None: this installation has none.

    A sandbox that reported before is lost, and so is one that a phase cannot do without: it may
    still be starting.
    """
    if environment().sandbox == "off":
        return None
    has_sandbox = heartbeats.last_seen(heartbeats.WORKER_SANDBOX) is not None
    needs_sandbox = case.definition.needs_sandbox(case.phase)
    return LostGates() if has_sandbox or needs_sandbox else None


def reported(run_id: int, case: Case) -> Gates | None:
    """What the gates reported when the run counted: beside it, nothing is run again."""
    counted = GateResult.objects.filter(
        evaluation__run=run_id, evaluation__purpose__in=COUNTING
    ).order_by("-evaluation", "position")
    rows = list(counted.values_list("evaluation", "report"))
    reports = [
        GateReport.from_json(report) for evaluation, report in rows if evaluation == rows[0][0]
    ]
    return RecordedGates(reports) if reports else unreached(case)
