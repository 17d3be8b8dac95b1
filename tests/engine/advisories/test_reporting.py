"""What a lock file's report says of the work."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from processes.definition.model import Enforcement
from verification.engine.advisories import comparing
from verification.engine.advisories.comparing import Known
from verification.engine.advisories.model import Ecosystem
from verification.engine.advisories.osv import Advisory
from verification.engine.advisories.reporting import Knowledge, reports_of
from verification.engine.gates import GateReport
from verification.engine.gating.findings import findings_of
from verification.engine.outcome import FindingVerdict, Status
from verification.engine.reports.model import ProblemSeverity

NOW = datetime(2026, 11, 20, tzinfo=UTC)
FRESH, STALE = Knowledge(NOW, NOW, 14), Knowledge(NOW - timedelta(days=15), NOW, 14)
NPM = Ecosystem.NPM
TO_4_17_21 = ((("introduced", "0"), ("fixed", "4.17.21")),)
HIGH = Advisory("GHSA-1", NPM, "lodash", ("CVE-2021-23337",), "Command injection.", 7.2, TO_4_17_21)
MILD = Advisory("GHSA-2", NPM, "lodash", (), "Slow", 5.3, TO_4_17_21)
UNRATED = Advisory("GO-1", NPM, "lodash", (), "", None, ((("introduced", "0"),),))
LOCK = '{"packages": {"node_modules/lodash": {\n"version": "%s"}}}'


def told(
    *advisories: Advisory,
    version: str = "4.17.20",
    knowledge: Knowledge | None = FRESH,
    content: bytes | None = None,
) -> list[GateReport]:
    def look(_ecosystem: Ecosystem, names: Collection[str]) -> Known:
        known: dict[str, list[Advisory]] = {}
        for one in advisories:
            known.setdefault(one.name, []).append(one)
        return {name: told for name, told in known.items() if name in names}

    lock = (LOCK % version).encode() if content is None else content
    return [one.report for one in reports_of("web/package-lock.json", lock, knowledge, look)]


def reported(*advisories: Advisory, **given: Any) -> GateReport:
    (report,) = told(*advisories, **given)
    return report


def test_a_high_vulnerability_is_a_reject_that_names_it_and_what_mends_it() -> None:
    report = reported(MILD, HIGH)

    assert (report.status, report.problem_count) == (Status.FAILED, 2)
    high, mild = findings_of(report)
    assert high.message == (
        "GHSA-1: lodash 4.17.20: Command injection (CVE-2021-23337). Fixed in 4.17.21."
    )
    assert (high.reason_code, high.enforcement) == ("security_failed", Enforcement.HARD)
    assert (high.path, high.rule) == ("web/package-lock.json", "security")
    assert mild.enforcement is Enforcement.ADVISORY


@pytest.mark.parametrize(
    ("score", "severity"),
    [
        (10.0, ProblemSeverity.HIGH), (7.0, ProblemSeverity.HIGH),
        (6.9, ProblemSeverity.MEDIUM), (None, ProblemSeverity.MEDIUM),
        (3.9, ProblemSeverity.LOW),
    ],
)  # fmt: skip
def test_from_seven_on_it_is_high(score: float | None, severity: ProblemSeverity) -> None:
    advisory = Advisory("A", NPM, "lodash", score=score, versions=("4.17.20",))

    assert [one.severity for one in reported(advisory).problems] == [severity]


def test_milder_ones_are_said_and_reject_nothing() -> None:
    report = reported(MILD, UNRATED)

    assert report.status is Status.PASSED
    assert [one.enforcement for one in findings_of(report)] == [Enforcement.ADVISORY] * 2
    assert "its severity is not known). No fixed version is known." in report.problems[1].message


def test_a_version_that_is_fixed_passes_and_says_against_what() -> None:
    report = reported(HIGH, MILD, version="4.17.21")

    assert (report.status, report.problem_count) == (Status.PASSED, 0)
    assert report.detail == "1 package beside the known vulnerabilities of 2026-11-20."
    assert list(findings_of(report)) == []


def test_what_several_advisories_tell_of_one_vulnerability_is_told_once() -> None:
    other = Advisory("PYSEC-1", NPM, "lodash", ("CVE-2021-23337",), "", 9.9, TO_4_17_21)
    linked = Advisory("CVE-2021-23337", NPM, "lodash", (), "", 5.0, TO_4_17_21)

    assert [one.rule for one in reported(HIGH, other, linked).problems] == ["PYSEC-1"]


def test_without_a_snapshot_nothing_is_said_of_the_work() -> None:
    report = reported(HIGH, knowledge=None, content=b"broken")

    assert (report.status, report.problem_count) == (Status.SKIPPED, None)
    assert "loomverify advisories load" in report.detail
    assert list(findings_of(report)) == []


def test_stale_knowledge_convicts_and_does_not_acquit() -> None:
    for reports in (told(HIGH, knowledge=STALE), told(MILD, knowledge=STALE)):
        found, doubt = reports
        assert found.problem_count == 1
        assert [one.reason_code for one in findings_of(doubt)] == ["gate_error"]

    assert told(HIGH, knowledge=STALE)[0].status is Status.FAILED
    (finding,) = findings_of(reported(knowledge=STALE))
    assert (finding.reason_code, finding.verdict) == ("gate_error", FindingVerdict.UNKNOWN)
    assert finding.message.startswith("Known vulnerabilities are 15 days old")


def test_knowledge_is_fresh_up_to_its_last_day() -> None:
    last_day = Knowledge(NOW - timedelta(days=14, hours=23), NOW, 14)

    assert reported(knowledge=last_day).status is Status.PASSED


def test_a_version_that_cannot_be_compared_with_a_high_one_is_doubt() -> None:
    (finding,) = findings_of(reported(HIGH, version="main"))

    assert (finding.reason_code, finding.verdict) == ("gate_error", FindingVerdict.UNKNOWN)
    assert finding.message == "lodash main could not be compared with GHSA-1."


def test_a_version_that_cannot_be_compared_with_a_mild_one_is_said() -> None:
    report = reported(MILD, version="main")

    assert report.status is Status.PASSED
    assert [one.message for one in report.problems] == [
        "lodash main could not be compared with GHSA-2."
    ]


def test_a_broken_lock_file_is_doubt() -> None:
    (finding,) = findings_of(reported(HIGH, content=b"{"))

    assert (finding.reason_code, finding.verdict) == ("gate_error", FindingVerdict.UNKNOWN)
    assert "was not compared" in finding.message


def test_what_is_beyond_our_bounds_is_doubt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparing, "MAX_VERSIONS_OF_ONE", 1)
    two = b'{"packages": {"node_modules/lodash": {"version": "1.0.0"},' \
        b'"node_modules/a/node_modules/lodash": {"version": "2.0.0"}}}'  # fmt: skip

    (large,) = reports_of("go.sum", None, FRESH, lambda *_: {})
    for report in (reported(HIGH, content=two), large.report):
        (finding,) = findings_of(report)
        assert (finding.reason_code, finding.verdict) == ("gate_error", FindingVerdict.UNKNOWN)


def test_a_file_that_locks_nothing_is_skipped() -> None:
    (told,) = reports_of("requirements.txt", b"django>=4\n", STALE, lambda *_: {})

    assert (told.report.status, list(findings_of(told.report))) == (Status.SKIPPED, [])
