"""What was declared is there, and is not empty."""

from __future__ import annotations

from collections.abc import Iterator

from processes.definition.model import Target
from verification.engine.case import Case, Ports
from verification.engine.checks.drafts import violated
from verification.engine.checks.registry import Observation, check
from verification.engine.evidence import SubmittedFile
from verification.engine.paths import declared_paths, files_under, is_empty

ID = "deliverables-exist"


def declared(case: Case) -> tuple[str, ...]:
    """Paths that the phase or the task declares."""
    return declared_paths(
        (one.path for one in case.phase.deliverables), case.submission.task.expected_outputs
    )


def declared_files(case: Case) -> dict[str, SubmittedFile]:
    """Submitted files that a declaration means, by path."""
    files = case.submission.files
    return {file.path: file for path in declared(case) for file in files_under(path, files)}


@check(ID)
def deliverables_exist(case: Case, _ports: Ports) -> Iterator[Observation]:
    for path in declared(case):
        files = files_under(path, case.submission.files)
        if not files:
            yield violated(
                ID,
                "deliverable_missing",
                "Declared as a deliverable, and missing.",
                target=Target.DELIVERABLES,
                path=path,
                suggestion=f"Write {path} and submit it.",
            )
        elif all(is_empty(file) for file in files):
            yield violated(
                ID,
                "deliverable_empty",
                "Declared as a deliverable, and empty.",
                target=Target.DELIVERABLES,
                path=path,
                suggestion=f"Fill {path} with what it is declared to hold.",
            )
