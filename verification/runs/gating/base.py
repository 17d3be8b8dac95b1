"""The workspace as it was before the work, tried where the work failed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from verification.engine.case import Case
from verification.engine.evidence import SubmittedFile
from verification.engine.gates import GateReport
from verification.engine.gating.changing import covering
from verification.engine.gating.comparing import anchored, compared, joined, wants_base
from verification.engine.gating.judging import Judged
from verification.engine.gating.planning import plan_of
from verification.engine.gating.running import leading_to
from verification.engine.gating.sandbox import SandboxLost
from verification.engine.gating.stages import SECURITY, Part
from verification.engine.outcome import Status
from verification.runs.evidence_store import Digest, StoredBase, StoredWorkspace
from verification.runs.gating.keeping import keep_base
from verification.runs.gating.trial import State, Trial
from verification.runs.work import Work

LABEL = "before the work: "


@dataclass(frozen=True, slots=True)
class Base:
    """`told` are the reports that were asked of it, by component and gate."""

    trial: Trial
    told: Mapping[tuple[str, str], GateReport] = field(default_factory=dict)
    lost: str = ""

    def before(self, report: GateReport) -> Judged | None:
        if self.lost:
            return Judged(replace(report, status=Status.ERROR, is_lost=True, detail=self.lost))
        same = [one for one in self.told.values() if one.component == report.component]
        lost = next((one for one in same if one.is_lost), None)
        if lost is not None:
            return Judged(replace(report, status=Status.ERROR, is_lost=True, detail=lost.detail))
        if report.gate == SECURITY:
            looked = [one for one in self.told.values() if one.gate == SECURITY]
            return joined(_named(self.trial, one) for one in looked)
        found = self.told.get((report.component, report.gate))
        return _named(self.trial, found) if found else None


def base_of(work: Work) -> State | None:
    """None, where no base was submitted."""
    files: dict[str, Digest] = {
        path: (name, size) for path, (name, size) in (work.base or {}).items()
    }
    return State(files, StoredWorkspace(work.project_uuid, files)) if files else None


def stored_base(work: Work) -> StoredBase | None:
    """None, where no base was submitted."""
    return StoredBase(work.project_uuid, work.base) if work.base else None


def against_base(
    trial: Trial, base: State, case: Case, told: Sequence[GateReport]
) -> list[GateReport]:
    """What the work is told, with only what is new; the base is tried for what it may excuse."""
    asked = [one for one in told if wants_base(one)]
    if not asked:
        return list(told)
    known = _tried(replace(trial, state=base, label=LABEL), case, asked)
    return [
        compared(_named(trial, one), known.before(one)) if wants_base(one) else one for one in told
    ]


def _named(trial: Trial, report: GateReport) -> Judged:
    return anchored(trial.judged(report), trial.state.workspace.read)


def _tried(trial: Trial, case: Case, asked: Sequence[GateReport]) -> Base:
    wanted = _wanted(asked)
    files = sorted(trial.state.files.items())
    submitted = tuple(SubmittedFile(path, *digest) for path, digest in files)
    was = replace(case, submission=replace(case.submission, files=submitted))
    parts = [
        covering(part, is_wanted=False)
        for part in plan_of(was, trial.state.workspace).parts
        if wanted[part.component.name]
    ]
    try:
        told = trial.run(parts, lambda part: _gates(part, wanted, case))
    except SandboxLost as lost:
        return Base(trial, lost=str(lost))
    trial.hold.check()
    keep_base(trial.work, trial.begun.evaluation_id, told)
    return Base(trial, {(one.component, one.gate): one for one in told})


def _wanted(asked: Sequence[GateReport]) -> Mapping[str, set[str]]:
    """By component. Security is asked of all: another one may have been before what is one now."""
    of_all = {SECURITY}.intersection(one.gate for one in asked)
    wanted: defaultdict[str, set[str]] = defaultdict(of_all.copy)
    for one in asked:
        wanted[one.component].add(one.gate)
    return wanted


def _gates(part: Part, wanted: Mapping[str, set[str]], case: Case) -> list[str]:
    """What ran before a gate of the work runs before the same one of the base, too."""
    return sorted(leading_to(part, wanted[part.component.name], case.phase.gates))
