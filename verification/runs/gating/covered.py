"""Which of the new lines the tests ran, told by each report of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from verification.engine.gates import GateReport
from verification.engine.gating.changing import Changed, weighed
from verification.engine.gating.components import Component
from verification.engine.gating.stages import Part
from verification.engine.gating.unreported import CodeLines, Silent, silent, unreported
from verification.engine.reports.model import Coverage
from verification.runs.gating.trial import State, Trial


@dataclass(frozen=True, slots=True)
class Covered:
    """`told` is by component which lines its tests ran; `silent` the new code that nobody tells of."""

    told: Mapping[str, Coverage]
    silent: Mapping[str, Silent]

    def weigh(self, report: GateReport, changed: Changed) -> GateReport:
        coverage = None if report.coverage is None else self.told.get(report.component)
        if coverage is None:
            return report
        return weighed(report, coverage, changed, self.silent.get(report.component, {}))


def with_changed(
    trial: Trial,
    parts: Sequence[Part],
    reports: Sequence[GateReport],
    changed: Changed,
    code_lines: CodeLines,
) -> list[GateReport]:
    if not changed:
        return list(reports)
    told = {
        one.component: coverage
        for one in reports
        if one.coverage is not None and (coverage := trial.judged(one).coverage) is not None
    }
    components = [part.component for part in parts]
    found = Covered(told, _silent(trial.state, components, told, changed, code_lines))
    return [found.weigh(one, changed) for one in reports]


def _silent(
    state: State,
    components: Sequence[Component],
    told: Mapping[str, Coverage],
    changed: Changed,
    code_lines: CodeLines,
) -> Mapping[str, Silent]:
    measured = {one: told[one.name] for one in components if one.name in told}
    new = [path for path, lines in changed.items() if lines]
    files = unreported(measured, components, new, state.files)
    return {
        one.name: silent(one, measured[one], paths, state.files, state.read, code_lines)
        for one, paths in files.items()
    }
