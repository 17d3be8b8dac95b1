"""What the work says of its own gates, as far as it cannot be followed."""

from __future__ import annotations

from collections.abc import Iterator

from verification.engine.case import Case, Ports
from verification.engine.checks.drafts import violated
from verification.engine.checks.registry import Observation, check
from verification.engine.gating.overrides import own_file
from verification.engine.gating.planning import found_of

ID = "loomverify-yaml"
MAX_PROBLEMS = 10
_SUGGESTION = "docs/gates.md says what loomverify.yaml may hold."


@check(ID)
def own_settings(case: Case, ports: Ports) -> Iterator[Observation]:
    """Where no gate is asked for, nobody reads it."""
    if not case.phase.gates:
        return
    path = own_file([one.path for one in case.submission.files])
    if not path:
        return
    problems = found_of(case, ports.workspace).own.problems
    for problem in problems[:MAX_PROBLEMS]:
        yield violated(
            ID,
            "file_type_mismatch",
            problem.message,
            path=path,
            line=problem.line,
            column=problem.column,
            suggestion=_SUGGESTION,
        )
    more = len(problems) - MAX_PROBLEMS
    if more > 0:
        yield violated(ID, "file_type_mismatch", f"{more} more problems.", path=path)
