"""Lock files of the work beside known vulnerabilities: reports of `security` without a sandbox."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from django.utils import timezone

from loomverify.env import environment
from verification.advisories.models import Snapshot
from verification.advisories.selectors import known, snapshots
from verification.engine.advisories.locked import adds_nothing, kind_of
from verification.engine.advisories.model import MAX_LOCK_BYTES, Ecosystem
from verification.engine.advisories.reporting import Knowledge, report_of
from verification.engine.case import Case
from verification.engine.evidence import SubmittedFile, Workspace
from verification.engine.gates import SECURITY, GateReport
from verification.engine.outcome import Status

MAX_LOCK_FILES = 20
MAX_TOTAL_BYTES = 8_000_000


def lock_file_reports(case: Case, workspace: Workspace) -> list[GateReport]:
    """One for each lock file, where the phase asks for `security`.

    What is known changes by the day: none of them is taken over from another run.
    """
    if SECURITY not in case.phase.gates:
        return []
    taken = snapshots()
    files = _lock_files(case, workspace)
    compared, left_out = _bounded(files)
    now = timezone.now()
    reports = [_report(one, workspace, taken, now) for one in compared]
    if any(_ecosystem(one) in taken for one in left_out):
        why = f"{len(left_out)} more lock files than are compared with known vulnerabilities."
        reports.append(GateReport(SECURITY, Status.ERROR, "other lock files", detail=why))
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


def _report(
    file: SubmittedFile, workspace: Workspace, taken: dict[Ecosystem, Snapshot], now: datetime
) -> GateReport:
    snapshot = taken.get(_ecosystem(file))
    if snapshot is None:
        return report_of(file.path, None, None, known)
    content = workspace.read(file.path) if file.size <= MAX_LOCK_BYTES else None
    most = environment().advisories_max_age_days
    return report_of(file.path, content, Knowledge(snapshot.taken_at, now, most), known)


def _ecosystem(file: SubmittedFile) -> Ecosystem:
    kind = kind_of(file.path)
    assert kind is not None  # noqa: S101 - by `_lock_files`
    return kind.ecosystem
