"""Lock files of the work beside known vulnerabilities: reports of `security` without a sandbox."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.utils import timezone

from loomverify.env import environment
from verification.advisories.models import Snapshot
from verification.advisories.selectors import known, snapshots
from verification.engine.advisories.locked import adds_nothing, kind_of
from verification.engine.advisories.model import MAX_LOCK_BYTES, Ecosystem
from verification.engine.advisories.reporting import Knowledge, reports_of
from verification.engine.case import Case
from verification.engine.evidence import SubmittedFile, Workspace
from verification.engine.gates import GateReport
from verification.engine.gating.comparing import compared as against_older
from verification.engine.gating.comparing import wants_base
from verification.engine.gating.judging import Judged
from verification.engine.gating.stages import SECURITY
from verification.engine.outcome import Status
from verification.runs.gating.trial import State

MAX_LOCK_FILES = 50
MAX_TOTAL_BYTES = 8_000_000
ADVISORIES = "known vulnerabilities"
NONE_LOADED = (
    "No known vulnerabilities are loaded, so that no lock file is compared with them. "
    "An operator loads them: loomverify advisories load FILE."
)


@dataclass(frozen=True, slots=True)
class Looked:
    """What lock files are compared with: what is known, and how they were before the work."""

    read: Callable[[str], bytes]
    base: State | None
    taken: Mapping[Ecosystem, Snapshot]
    now: datetime

    def reports(self, file: SubmittedFile) -> Iterator[GateReport]:
        for told in self._told(file.path, file.size, self.read, self.now):
            yield (
                against_older(told, self._before(file)) if wants_base(told.report) else told.report
            )

    def _before(self, file: SubmittedFile) -> Judged | None:
        """How old what is known is, leaves nothing open here: the work is held to the same."""
        if self.base is None or file.path not in self.base.files:
            return None
        _, size = self.base.files[file.path]
        return next(iter(self._told(file.path, size, self.base.workspace.read, None)))

    def _told(
        self, path: str, size: int, read: Callable[[str], bytes], now: datetime | None
    ) -> Sequence[Judged]:
        kind = kind_of(path)
        snapshot = self.taken.get(kind.ecosystem) if kind else None
        if snapshot is None:
            return reports_of(path, None, None, known)
        most = environment().advisories_max_age_days
        content = read(path) if size <= MAX_LOCK_BYTES else None
        taken_at = snapshot.taken_at
        return reports_of(path, content, Knowledge(taken_at, now or taken_at, most), known)


def lock_file_reports(
    case: Case, workspace: Workspace, base: State | None = None
) -> list[GateReport]:
    """Report on each lock file, where the phase asks for `security`.

    Where nothing is loaded and no lock file says so, one report does.
    What is known changes by the day: none of them is taken over from another run.
    """
    if SECURITY not in case.phase.gates:
        return []
    taken = snapshots()
    files = _lock_files(case, workspace)
    compared, left_out = _bounded(files)
    looked = Looked(workspace.read, base, taken, timezone.now())
    reports = [report for one in compared for report in looked.reports(one)]
    if any(_ecosystem(one) in taken for one in left_out):
        why = f"{len(left_out)} more lock files than are compared with known vulnerabilities."
        reports.append(GateReport(SECURITY, Status.ERROR, "other lock files", detail=why))
    if not (taken or reports):
        reports.append(GateReport(SECURITY, Status.SKIPPED, ADVISORIES, detail=NONE_LOADED))
    return reports


def _lock_files(case: Case, workspace: Workspace) -> list[SubmittedFile]:
    """The nearest to the root first."""
    by_path = {one.path: one for one in case.submission.files}

    def beside(path: str) -> bytes | None:
        file = by_path.get(path)
        return workspace.read(path) if file and file.size <= MAX_LOCK_BYTES else None

    found = [one for one in by_path.values() if kind_of(one.path)]
    found.sort(key=lambda one: (one.path.count("/"), one.path))
    return [one for one in found if not adds_nothing(one.path, beside)]


def _bounded(
    files: Sequence[SubmittedFile],
) -> tuple[list[SubmittedFile], list[SubmittedFile]]:
    """(those that are compared, those that are too many). One too large is not read anyway."""
    compared: list[SubmittedFile] = []
    size = 0
    for place, one in enumerate(files):
        size += one.size if one.size <= MAX_LOCK_BYTES else 0
        if place >= MAX_LOCK_FILES or size > MAX_TOTAL_BYTES:
            return compared, list(files[place:])
        compared.append(one)
    return compared, []


def _ecosystem(file: SubmittedFile) -> Ecosystem:
    kind = kind_of(file.path)
    assert kind is not None  # noqa: S101 - by `_lock_files`
    return kind.ecosystem
