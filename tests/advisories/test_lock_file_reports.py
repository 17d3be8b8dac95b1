"""What the gate `security` reports of the lock files of a work."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from loomverify.env import environment
from tests.builders import make_project, make_run
from tests.engine.cases import case
from verification.advisories.models import Advisory, Snapshot
from verification.engine.advisories.locked import KINDS
from verification.engine.advisories.model import MAX_LOCK_BYTES
from verification.engine.fakes import MemoryWorkspace
from verification.engine.gates import GateReport
from verification.engine.gating.findings import findings_of
from verification.engine.outcome import Status
from verification.runs.gating import vulnerable
from verification.runs.gating.keeping import keep_gates
from verification.runs.gating.trial import State
from verification.runs.gating.vulnerable import lock_file_reports
from verification.runs.models import GateResult
from verification.runs.work import Work

pytestmark = pytest.mark.django_db
TOUCHED = b"# by hand\ndjango==4.2.1\n"
TO_4_2_2 = [[["introduced", "0"], ["fixed", "4.2.2"]]]
Files = dict[str, bytes]


def know(*, days_old: int = 0, score: float = 9.8, osv_id: str = "GHSA-1") -> None:
    now = timezone.now()
    snapshot = Snapshot.objects.create(
        ecosystem="PyPI", taken_at=now - timedelta(days=days_old), loaded_at=now, is_current=True
    )
    Advisory.objects.create(
        snapshot=snapshot, ecosystem="PyPI", name="django", osv_id=osv_id, score=score,
        aliases=["CVE-2026-1"], summary="SQL injection", ranges=TO_4_2_2,
    )  # fmt: skip


def reports(
    files: Files, base: Files | None = None, gates: Any = ("security",)
) -> list[GateReport]:
    work = MemoryWorkspace(files)
    return lock_file_reports(case(files=files, gates=gates), work, _state(base) if base else None)


def _state(files: Files) -> State:
    was = MemoryWorkspace(files)
    return State({one.path: (one.sha256, one.size) for one in was.files}, was)


def test_a_lock_file_with_a_known_vulnerability_is_reported_with_its_place() -> None:
    know()

    (report,) = reports({"api/requirements.txt": TOUCHED, "api/main.py": b"django==4.2.1"})

    assert (report.component, report.status) == ("api/requirements.txt", Status.FAILED)
    assert report.inputs_sha256 == ""
    (finding,) = findings_of(report)
    assert (finding.reason_code, finding.path, finding.line) == (
        "security_failed", "api/requirements.txt", 2,
    )  # fmt: skip
    assert finding.message == ("GHSA-1: django 4.2.1: SQL injection (CVE-2026-1). Fixed in 4.2.2.")
    assert GateReport.from_json(report.to_json()) == report


def test_nobody_is_told_who_did_not_ask_for_security() -> None:
    know()

    assert reports({"requirements.txt": TOUCHED}, gates=("build", "test")) == []


def test_a_run_says_that_no_known_vulnerabilities_are_loaded() -> None:
    [without_lock_file] = reports({"main.py": b"x = 1\n"})
    [with_lock_file] = reports({"requirements.txt": TOUCHED})
    know()
    loaded = reports({"main.py": b"x = 1\n"})

    for report in (without_lock_file, with_lock_file):
        assert report.status is Status.SKIPPED
        assert report.detail.startswith("No known vulnerabilities ")
        assert "loomverify advisories load" in report.detail
        assert list(findings_of(report)) == []
    assert loaded == []


def test_what_nothing_is_known_of_is_skipped_and_not_even_read() -> None:
    know()
    broken = {"web/package-lock.json": b"{", "go.mod": b"module a", "go.sum": b"\xff"}

    found = reports(broken)

    assert [(one.component, one.status) for one in found] == [
        ("go.mod", Status.SKIPPED),
        ("go.sum", Status.SKIPPED),
        ("web/package-lock.json", Status.SKIPPED),
    ]
    assert [finding for one in found for finding in findings_of(one)] == []


@pytest.mark.parametrize(("days_old", "most", "statuses"), [
    (13, None, [Status.PASSED]), (15, None, [Status.ERROR]), (15, "20", [Status.PASSED]),
])  # fmt: skip
def test_how_old_knowledge_may_be_is_the_operators_choice(
    days_old: int, most: str | None, statuses: list[Status], monkeypatch: pytest.MonkeyPatch
) -> None:
    know(days_old=days_old)
    if most:
        monkeypatch.setenv("LOOMVERIFY_ADVISORIES_MAX_AGE", most)
    environment.cache_clear()

    try:
        found = reports({"requirements.txt": b"django==4.2.2\n"})
    finally:
        environment.cache_clear()

    assert [one.status for one in found] == statuses


def test_what_is_found_and_what_is_doubted_are_kept_side_by_side() -> None:
    know(days_old=15)
    run = make_run(make_project("ours"), findings=[])
    evaluation = run.evaluations.get()
    found = reports({"requirements.txt": TOUCHED})

    keep_gates(Work.__new__(Work), evaluation.pk, found)

    rows = GateResult.objects.filter(evaluation=evaluation).order_by("position")
    assert list(rows.values_list("gate", "component", "status")) == [
        ("security", "requirements.txt", "failed"),
        ("security", "requirements.txt (in doubt)", "error"),
    ]


def test_what_was_locked_before_the_work_is_not_its_fault() -> None:
    know()
    files = {"requirements.txt": TOUCHED}

    (same,) = reports(files, base={"requirements.txt": b"django==4.2.1\nsix==1.0\n"})
    (new,) = reports(files, base={"requirements.txt": b"django==4.2.2\n"})
    (elsewhere,) = reports(files, base={"other/requirements.txt": TOUCHED})

    assert (same.is_old, same.old_problems, same.problems) == (True, 1, ())
    assert [one.enforcement for one in findings_of(same)] == ["observe"]
    for report in (new, elsewhere):
        assert [one.enforcement for one in findings_of(report)] == ["hard"]


def test_old_knowledge_convicts_whoever_brings_what_it_knows() -> None:
    know(days_old=15)
    files = {"requirements.txt": TOUCHED}

    new = reports(files, base={"requirements.txt": b"django==4.2.2\n"})
    same = reports(files, base=files)

    assert [one.reason_code for one in findings_of(new[0])] == ["security_failed"]
    assert [one.enforcement for one in findings_of(same[0])] == ["observe"]
    for found in (new, same):
        assert [one.reason_code for one in findings_of(found[1])] == ["gate_error"]


def test_another_version_that_is_touched_as_well_is_nothing_new() -> None:
    know()

    (report,) = reports(
        {"requirements.txt": b"six==1.0\ndjango==4.2.1\n"},
        base={"requirements.txt": b"django==4.1.7\n"},
    )

    assert [one.enforcement for one in findings_of(report)] == ["observe"]


def test_lock_files_beyond_our_bounds_are_doubt(monkeypatch: pytest.MonkeyPatch) -> None:
    know()
    monkeypatch.setattr(vulnerable, "MAX_LOCK_FILES", 1)
    files = {
        "requirements.txt": b" " * (MAX_LOCK_BYTES + 1),
        "a/requirements.txt": TOUCHED,
        "b/requirements.txt": TOUCHED,
    }

    large, others = reports(files)

    assert (large.component, large.status) == ("requirements.txt", Status.ERROR)
    assert (others.component, others.status) == ("other lock files", Status.ERROR)
    assert others.detail.startswith("2 more lock files")


def test_many_lock_files_of_which_nothing_is_known_are_no_doubt(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(vulnerable, "MAX_LOCK_FILES", 1)

    found = reports({f"{name}/{kind}": b"" for name in "ab" for kind in KINDS})

    assert [one.status for one in found] == [Status.SKIPPED]
