"""What the work says of its own gates, as far as it cannot be followed."""

from __future__ import annotations

from collections.abc import Iterator

from verification.engine.case import Case, Ports
from verification.engine.checks.drafts import violated
from verification.engine.checks.registry import Observation, check
from verification.engine.gating.planning import found_of
from verification.engine.gating.stages import OWN_FILE
from verification.engine.shared import shared_folder

ID = "loomverify-yaml"
MAX_PROBLEMS = 10
_SUGGESTION = "docs/gates.md says what loomverify.yaml may hold."


@check(ID)
def own_settings(case: Case, ports: Ports) -> Iterator[Observation]:
    """Where no gate is asked for, nobody reads it."""
    if not case.phase.gates:
        return
    paths = {one.path for one in case.submission.files}
    if OWN_FILE not in paths:
        below = f"{shared_folder(sorted(paths))}/{OWN_FILE}"
        if below in paths:
            yield violated(
                ID,
                "file_type_mismatch",
                "It was not read: it counts at the root of the work alone.",
                path=below,
                suggestion="Submit all paths without the folder before them.",
            )
        return
    problems = found_of(case, ports.workspace).own.problems
    for problem in problems[:MAX_PROBLEMS]:
        yield violated(
            ID,
            "file_type_mismatch",
            problem.message,
            path=OWN_FILE,
            line=problem.line,
            column=problem.column,
            suggestion=_SUGGESTION,
        )
    more = len(problems) - MAX_PROBLEMS
    if more > 0:
        yield violated(ID, "file_type_mismatch", f"{more} more problems.", path=OWN_FILE)
