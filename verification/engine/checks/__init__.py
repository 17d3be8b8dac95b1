"""The deterministic checks of tier 1. A new family is a module, imported here in its order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from verification.engine.case import Case, Ports

from verification.engine.checks import (  # isort: skip
    empty_submission as empty_submission,
    return_code as return_code,
)
from verification.engine.checks.tools import calls as calls  # isort: skip
from verification.engine.checks import (  # isort: skip
    deliverables as deliverables,
    changed_files as changed_files,
    file_types as file_types,
    syntax as syntax,
    patterns as patterns,
    unscoped_rules as unscoped_rules,
    claimed as claimed,
    not_run as not_run,
    own_settings as own_settings,
)
from verification.engine.checks.read_once import ReadOnce
from verification.engine.checks.registry import CHECKS, Check, Observation

__all__ = ["CHECKS", "IDS", "Check", "Observation", "look"]

IDS = tuple(CHECKS)


def look(case: Case, ports: Ports) -> Iterator[Observation]:
    """Let every check look: one failure does not hide another."""
    ports = replace(ports, workspace=ReadOnce(ports.workspace))
    for check in CHECKS.values():
        yield from check.look(case, ports)
