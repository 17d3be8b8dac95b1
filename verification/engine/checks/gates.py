"""The gates that a phase asks for: what their reports say of the work."""

from __future__ import annotations

from collections.abc import Iterator

from verification.engine.case import Case, Ports
from verification.engine.checks.registry import Observation, check
from verification.engine.gates import GateReport, findings_of
from verification.engine.outcome import Status

ID = "gates"


@check(ID)
def gates(case: Case, ports: Ports) -> Iterator[Observation]:
    if not case.phase.gates or ports.gates is None:
        return
    reports = ports.gates.run(case)
    told = {report.gate for report in reports}
    wanting = [GateReport(gate, Status.ERROR) for gate in case.phase.gates if gate not in told]
    told_of = (finding for report in (*reports, *wanting) for finding in findings_of(report))
    yield from dict.fromkeys(told_of)
