"""The operator's own verifiers: which there are, and how one is called."""

from __future__ import annotations

import logging
import time
from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from importlib.metadata import entry_points
from pathlib import Path
from typing import Final

from verification.adapters.custom_process import Ended, lay_out, run_child, scratch_folder
from verification.adapters.custom_wire import Given, lost, read_answer
from verification.engine.case import Case
from verification.engine.evidence import Workspace
from verification.engine.finding import cleaned
from verification.engine.judges.asking import CustomAnswer

logger = logging.getLogger(__name__)

GROUP: Final = "loomverify.verifiers"
SECONDS: Final = 60.0


@dataclass(frozen=True, slots=True)
class InstalledVerifiers:
    """`listed` (`{name: package.module:callable}`) stands above what packages bring.

    A verifier has so many `seconds` for one call.
    """

    listed: Mapping[str, str] = field(default_factory=dict)
    seconds: float = SECONDS
    brought: Mapping[str, frozenset[str]] = field(default_factory=lambda: brought_by_packages())

    def names(self) -> Collection[str]:
        return {*self.brought, *self.listed}

    def call(self, name: str, case: Case, workspace: Workspace) -> CustomAnswer:
        started = time.monotonic()
        answer = self._call(name, case, workspace)
        duration_ms = round((time.monotonic() - started) * 1000)
        logger.info(
            "custom_verifier_ended name=%s status=%s ms=%s", name, answer.status, duration_ms
        )
        return replace(answer, duration_ms=duration_ms)

    def _call(self, name: str, case: Case, workspace: Workspace) -> CustomAnswer:
        targets = {self.listed[name]} if name in self.listed else self.brought.get(name, set())
        if len(targets) != 1:
            told = ", ".join(sorted(targets)) or "nothing"
            return lost(f"The verifier {name} means {told}: name one in LOOMVERIFY_VERIFIERS.")
        [target] = targets
        try:
            with scratch_folder() as scratch:
                given = _given(name, target, case, scratch / "workspace")
                lay_out(workspace, given.paths, Path(given.folder))
                return _read(run_child(given, scratch, seconds=self.seconds), name)
        except (OSError, ValueError) as error:
            return lost(f"The verifier {name} could not be started: {error}")


def brought_by_packages() -> dict[str, frozenset[str]]:
    """What installed packages bring, by name; more than one for a name is one too many."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for point in entry_points(group=GROUP):
        found[point.name].add(f"{point.module}:{point.attr}")
    return {name: frozenset(targets) for name, targets in found.items()}


def _given(name: str, target: str, case: Case, folder: Path) -> Given:
    return Given(
        name=name,
        target=target,
        submission=case.submission,
        phase=case.phase,
        process=case.definition,
        attempt=case.attempt,
        folder=str(folder),
        paths=tuple(file.path for file in case.submission.files),
    )


def _read(ended: Ended, name: str) -> CustomAnswer:
    if ended.answer is None:
        answer = lost(f"The verifier {name} {ended.why}.")
    else:
        answer = read_answer(ended.answer, name)
    told = [answer.detail, f"It printed:\n{ended.printed}" if ended.printed.strip() else ""]
    return replace(answer, detail=cleaned("\n".join(filter(None, told))))
