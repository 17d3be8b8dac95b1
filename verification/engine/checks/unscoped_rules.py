"""Rules that the run could not apply, because the process does not say where they belong."""

from __future__ import annotations

from collections.abc import Iterator

from processes.definition.model import Enforcement
from verification.engine import scoping
from verification.engine.case import Case, Ports
from verification.engine.checks.drafts import violated
from verification.engine.checks.registry import Observation, check
from verification.engine.finding import TraceReason

ID = "unscoped-rules"


@check(ID)
def unscoped_rules(case: Case, ports: Ports) -> Iterator[Observation]:
    """Report each rule that names no phase in a process of several phases.

    A hard one is a warning, so that its absence does not look like a pass. The others are only
    recorded.
    """
    for rule in case.definition.rules:
        if scoping.case_scope(rule, case).reason is not TraceReason.NO_PHASE:
            continue
        is_hard = scoping.rule_enforcement(rule, case.verifier.flags) is Enforcement.HARD
        yield violated(
            ID,
            "legacy_unscoped",
            f"The rule {rule.name} names no phase, and the process has several. "
            "It was not applied.",
            enforcement=Enforcement.ADVISORY if is_hard else Enforcement.OBSERVE,
            suggestion="Name the phases of the rule in the process file.",
        )
