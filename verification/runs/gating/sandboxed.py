"""The gates of one evaluation in a sandbox."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from docker import APIClient

from verification.adapters.sandbox.docker import connect
from verification.engine.case import Case
from verification.engine.evidence import Workspace
from verification.engine.gates import GateReport
from verification.engine.gating.changing import (
    Changed,
    changed_by_diff,
    changed_since,
    covering,
)
from verification.engine.gating.comparing import fails_alike
from verification.engine.gating.planning import plan_of
from verification.engine.gating.running import leading_to
from verification.engine.gating.sandbox import SandboxLost
from verification.engine.gating.stages import COVERAGE, TEST, Part
from verification.engine.gating.unreported import CodeLines
from verification.engine.outcome import Status
from verification.runs.evidence_store import Digest
from verification.runs.gating.base import against_base, base_of
from verification.runs.gating.covered import with_changed
from verification.runs.gating.ports import LostGates
from verification.runs.gating.progress import Progress
from verification.runs.gating.redacting import Redacting
from verification.runs.gating.settings import sandbox_settings
from verification.runs.gating.trial import State, Trial
from verification.runs.gating.vulnerable import lock_file_reports
from verification.runs.holding import Hold
from verification.runs.work import Begun, Work

MAX_TOLD = 200
UNCOUNTED = "It ended otherwise while lines were counted, and was run once more without."
NOTHING_KNOWN = "Nothing here is known to be built or tried: there is no file that says how."


@dataclass(frozen=True, slots=True)
class SandboxGates:
    """The engine's port `Gates`, by the Docker engine that this worker reaches."""

    work: Work
    begun: Begun
    files: dict[str, Digest]
    workspace: Workspace
    hold: Hold
    code_lines: CodeLines

    def run(self, case: Case) -> Sequence[GateReport]:
        try:
            client = connect(sandbox_settings())
        except SandboxLost as lost:
            return LostGates(str(lost)).run(case)
        try:
            return self._run(case, client)
        except SandboxLost as lost:
            return LostGates(str(lost)).run(case)
        finally:
            client.close()

    def _run(self, case: Case, client: APIClient) -> Sequence[GateReport]:
        plan = plan_of(case, self.workspace)
        if not plan.parts:
            return [
                GateReport(gate, Status.ERROR, detail=NOTHING_KNOWN) for gate in case.phase.gates
            ]
        state, base = State(self.files, self.workspace), base_of(self.work)
        progress = Progress(self.begun.evaluation_id)
        redacting = Redacting.of(self.work.project_id)
        trial = Trial(self.work, self.begun, self.hold, state, client, progress, redacting)
        changed = _changed(case, state, base)
        parts = [covering(part, is_wanted=bool(changed)) for part in plan.parts]
        reports = trial.run(parts, lambda _part: case.phase.gates)
        reports = _plainly(trial, plan.parts, case, reports)
        if base:
            reports = against_base(trial, base, case, reports)
        reports = with_changed(trial, plan.parts, reports, changed, self.code_lines)
        locked = lock_file_reports(case, self.workspace, base)
        return bounded([*reports, *_left_out(case, plan.left_out), *locked])


def _changed(case: Case, now: State, base: State | None) -> Changed:
    if base is None:
        return changed_by_diff(case.submission.diff)
    differ = [path for path, digest in now.files.items() if base.files.get(path) != digest]
    return changed_since(differ, now.read, base.read)


def _plainly(
    trial: Trial, parts: Sequence[Part], case: Case, told: Sequence[GateReport]
) -> list[GateReport]:
    """Counting lines takes time, and may be what a test fails by: then what it does without counts.

    What was taken over was compared with that where it was run.
    """
    counted = (one for one in told if one.gate == TEST and COVERAGE in one.command)
    tests = {one.component: one for one in counted if not one.reused_from}
    failed = {
        name for name, one in tests.items() if one.status is not Status.PASSED or one.contradiction
    }
    plain = [covering(one, is_wanted=False) for one in parts if one.component.name in failed]
    if not plain:
        return list(told)
    again = {
        one.component: replace(one, detail=f"{one.detail} {UNCOUNTED}".strip())
        for one in trial.run(plain, lambda part: sorted(leading_to(part, {TEST}, case.phase.gates)))
        if one.gate == TEST and not fails_alike(one, tests[one.component])
    }
    return [again.get(one.component, one) if one.gate == TEST else one for one in told]


def _left_out(case: Case, count: int) -> list[GateReport]:
    """What is not tried is not passed."""
    if not count:
        return []
    why = f"{count} more components than are tried."
    return [GateReport(gate, Status.ERROR, "all others", detail=why) for gate in case.phase.gates]


def bounded(reports: Sequence[GateReport]) -> list[GateReport]:
    """So many failures and problems are told one by one; the rest are counted, and on record.

    One of each report is told in any case, for what it is: they begin with the worst.
    """
    left, found = MAX_TOLD, []
    for report in reports:
        failures = report.failures[: max(left, 1)]
        problems = report.problems[: max(left - len(failures), 1)]
        left = max(0, left - len(failures) - len(problems))
        found.append(replace(report, failures=failures, problems=problems))
    return found
