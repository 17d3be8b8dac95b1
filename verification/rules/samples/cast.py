"""From a past run to the case that a judge would have seen, had the rule been there."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import lru_cache
from uuid import UUID

from loomverify.errors import FaultError
from processes.definition.load import load
from processes.definition.model import Definition, Rule
from verification.engine import scoping
from verification.engine.case import Case, Ports
from verification.engine.verifier import VerifierSpec
from verification.rules.backtest.running import counting
from verification.runs import casting, statements, worker
from verification.runs.evidence_store import StoredWorkspace
from verification.runs.work import Work


@dataclass(frozen=True, slots=True)
class Candidate:
    """A process with the rule in it that is tried, as it would count."""

    definition: Definition
    rule: Rule

    @classmethod
    def of(cls, source_text: str, index: int) -> Candidate:
        return _candidate(source_text, index)


@dataclass(frozen=True, slots=True)
class Cast:
    case: Case
    ports: Ports
    project_uuid: UUID


@lru_cache(maxsize=8)
def _candidate(source_text: str, index: int) -> Candidate:
    definition = load(source_text).definition
    if definition is None:
        raise FaultError("The process of this sample does not load any more.")
    rules = list(definition.rules)
    rules[index] = counting(rules[index])
    return Candidate(replace(definition, rules=tuple(rules)), rules[index])


def cast(run_id: int, candidate: Candidate, verifier: VerifierSpec, nonce: str) -> Cast | None:
    """None: the run is gone, or the rule does not speak in its phase."""
    row = statements.one(statements.LOAD, run=run_id)
    if row is None:
        return None
    work, files = Work(*row[:-1]), row[-1] or {}
    phase = candidate.definition.phase(work.phase_id)
    if phase is None:
        return None
    case = casting.case_by(candidate.definition, phase, verifier, work, files, 2, nonce)
    if not scoping.case_scope(candidate.rule, case).applies:
        return None
    workspace = StoredWorkspace(work.project_uuid, files)
    ports = Ports(workspace, worker.probe(), time.monotonic)
    return Cast(case, ports, work.project_uuid)
