"""What a phase asks for and nothing here can run: doubt, never an accept."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from processes.definition.model import Enforcement
from verification.engine.case import Case, Ports
from verification.engine.checks.registry import Observation, check
from verification.engine.finding import SWITCHED_OFF, Finding
from verification.engine.outcome import FindingVerdict, Source

ID = "not-run"


@check(ID)
def not_run(case: Case, ports: Ports) -> Iterator[Observation]:
    if case.phase.gates and ports.gates is None:
        gates = ", ".join(case.phase.gates)
        missing = _missing(
            "sandbox_unavailable",
            f"The phase asks for the gates {gates}, and there is no sandbox to run them in.",
            Source.GATE,
        )
        if case.definition.needs_sandbox(case.phase):
            yield missing
        else:
            yield replace(missing, enforcement=Enforcement.ADVISORY)
    if _is_wanting(case.phase.custom_verifier, ports):
        yield _missing(
            "verifier_unavailable",
            f"The phase asks for the verifier {case.phase.custom_verifier}, which is not there.",
            Source.CUSTOM,
        )


def _is_wanting(custom_verifier: str, ports: Ports) -> bool:
    known = ports.custom.names() if ports.custom else ()
    return bool(custom_verifier) and custom_verifier not in known


def _missing(reason_code: str, message: str, source: Source) -> Finding:
    return Finding(
        rule=ID,
        reason_code=reason_code,
        message=message,
        enforcement=Enforcement.HARD,
        verdict=FindingVerdict.UNKNOWN,
        source=source,
        place={SWITCHED_OFF: True},
    )
