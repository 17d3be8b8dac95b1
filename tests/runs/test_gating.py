"""Runs that ask for gates: where they are taken, what is kept of them, and what follows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any, cast

import pytest
from django.utils import timezone

from loomverify.accounts.models import Project
from loomverify.celery import LIVE, SANDBOX
from loomverify.env import environment
from processes.definition.model import Enforcement
from tests.runs.conftest import Caller, new_process
from tests.runs.judged import submit, work_on
from verification.engine.case import Case
from verification.engine.gates import GateReport
from verification.engine.gating.components import Component, Language
from verification.engine.gating.findings import findings_of
from verification.engine.gating.stages import Install, Part, Stage
from verification.engine.outcome import Status
from verification.engine.reports.model import (
    CaseStatus,
    Problem,
    ProblemSeverity,
    TestCase,
    TestCounts,
)
from verification.golden.cases import making
from verification.runs import heartbeats, relay, retention, wake, worker
from verification.runs.evidence_store import digest_of, store_contents
from verification.runs.gating import ports
from verification.runs.gating.base import Base
from verification.runs.gating.known import REUSED, REUSED_AGAIN, known_reports
from verification.runs.gating.sandboxed import bounded
from verification.runs.models import Blob, Evaluation, GateProgress, GateResult, Heartbeat, Run

PROCESS = """\
name: coding
phases:
  - id: implement
    description: Write it
    acceptance_criteria: It works
    gates: [build, test]
    score: {threshold: 8.0, max_iterations: 10}
"""
WITHOUT_SANDBOX = """\
name: coding
phases:
  - id: implement
    description: Write it
    acceptance_criteria: It works
    gates: [build, test]
verification:
  policy: {static_checks: {gates_without_sandbox: medium}}
"""
LOG = b"1 failed, 3 passed\n"
FAILURE = TestCase("test_add", CaseStatus.FAILED, "tests", "assert 3 == 4", "tests/a.py", 7)
BUILD = GateReport("build", Status.PASSED, ". (python)", 0, command="compile", duration_ms=10)
TEST = GateReport(
    "test", Status.FAILED, ". (python)", 1, TestCounts(passed=3, failed=1),
    failures=(FAILURE,), log=digest_of(LOG), command="pytest", duration_ms=90,
)  # fmt: skip


class Scripted:
    """The port `Gates`: what it is to report, and which work it was shown."""

    def __init__(self, *reports: GateReport) -> None:
        self.reports = reports

    def __call__(self, work: Any, *_rest: Any) -> Scripted:
        store_contents(work.project, [LOG])
        return self

    def run(self, case: Case) -> Sequence[GateReport]:
        return self.reports


@pytest.fixture
def coding(agent: Caller) -> Caller:
    new_process(agent.project, PROCESS)
    return agent


@pytest.fixture
def woken(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, str]]:
    found: list[tuple[int, str]] = []

    def note(run_id: int, *, queue: str = LIVE) -> bool:
        found.append((run_id, queue))
        return True

    monkeypatch.setattr(relay, "wake", note)
    monkeypatch.setattr(relay, "waiting", lambda queue=LIVE: 0)
    return found


def taken(coding: Caller, monkeypatch: pytest.MonkeyPatch, *reports: GateReport) -> dict[str, Any]:
    """Submit, and evaluate it where a sandbox is, which reports this."""
    monkeypatch.setattr(worker, "SandboxGates", Scripted(*reports))
    run = submit(coding, process="coding", tier=1)
    worker.work_on(run.pk, in_sandbox=True)
    return told(coding, run)


def told(coding: Caller, run: Run) -> dict[str, Any]:
    found: dict[str, Any] = coding.get(f"/runs/{run.uuid}").json()
    return found


def beat(age: timedelta = timedelta(0)) -> None:
    Heartbeat.objects.create(
        role=heartbeats.WORKER_SANDBOX, name="sandbox@here:1", at=timezone.now() - age
    )


@pytest.mark.parametrize(
    ("asks_gates", "age", "queue"),
    [
        (True, timedelta(seconds=1), SANDBOX),
        (True, timedelta(minutes=5), LIVE),
        (True, None, LIVE),
        (False, timedelta(seconds=1), LIVE),
    ],
)
def test_gates_are_taken_where_a_docker_engine_answers(
    project: Project, asks_gates: bool, age: timedelta | None, queue: str
) -> None:
    if age is not None:
        beat(age)

    assert wake.queue_of(asks_gates=asks_gates) == queue


@pytest.mark.parametrize("has_sandbox", [True, False])
def test_the_sweep_parts_runs_with_gates_from_others_while_there_is_a_sandbox(
    coding: Caller, woken: list[tuple[int, str]], has_sandbox: bool
) -> None:
    with_gates = submit(coding, process="coding", tier=1)
    without = submit(coding, process="general", tier=1)
    Run.objects.update(next_at=timezone.now() - timedelta(seconds=1))
    if has_sandbox:
        beat()

    relay.sweep_runs()

    assert dict(woken) == {with_gates.pk: SANDBOX if has_sandbox else LIVE, without.pk: LIVE}


def test_each_gate_and_each_failure_is_kept_and_shown(
    coding: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = taken(coding, monkeypatch, BUILD, TEST)

    [finding] = run["findings"]
    assert (run["verdict"], run["reason_code"]) == ("reject", "tests_failed")
    assert (finding["rule"], finding["path"], finding["line"]) == ("test", "tests/a.py", 7)
    assert [(one["gate"], one["status"], one["tests"]) for one in run["gates"]] == [
        ("build", "passed", None),
        ("test", "failed", {"passed": 3, "failed": 1, "errors": 0, "skipped": 0, "flaky": 0}),
    ]
    assert GateResult.objects.get(gate="test").log == Blob.objects.get(sha256=digest_of(LOG)[0])


def test_a_score_is_told_with_its_parts_and_what_follows_from_it(
    coding: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = taken(coding, monkeypatch, BUILD, TEST)

    parts = {one["name"]: one["points"] for one in run["score"]["parts"]}
    assert run["score"]["source"] == "automated"
    assert (parts["build"], parts["tests"], parts["no critical errors"]) == (3, 3, 1)
    assert run["score"]["total"] == 7.0
    assert run["loop"]["decision"] == "iterate"


def test_the_loop_stops_where_judging_the_task_has_cost_its_budget(
    agent: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    new_process(agent.project, PROCESS.replace("{threshold", "{budget_usd: 2.5, threshold"))
    monkeypatch.setattr(worker, "SandboxGates", Scripted(BUILD, TEST))
    for cost, decision in [("1.5", "iterate"), ("1.0", "stop")]:
        run = submit(agent, process="coding", tier=1, task={"id": "t", "description": cost})
        Run.objects.filter(pk=run.pk).update(cost_usd=cost)
        worker.work_on(run.pk, in_sandbox=True)

        assert told(agent, run)["loop"]["decision"] == decision


def test_a_loop_without_a_score_is_undecided(agent: Caller) -> None:
    process = PROCESS.replace("    gates: [build, test]\n", "")
    new_process(agent.project, process)

    run = agent.submit(process="coding", tier=1)

    assert (run["verdict"], run["score"]["source"]) == ("undecided", "neither")
    assert run["reason_code"] == "score_missing"
    assert run["review"]["reasons"] == ["score_missing"]


def test_what_failed_before_the_work_is_told_and_does_not_count(
    coding: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = replace(TEST, failures=(), old_failures=1, is_old=True)

    run = taken(coding, monkeypatch, BUILD, old)

    [finding] = run["findings"]
    assert (run["verdict"], run["confidence_level"]) == ("accept", "MEDIUM")
    assert (finding["enforcement"], finding["reason_code"]) == ("observe", "tests_failed")
    assert {one["name"]: one["points"] for one in run["score"]["parts"]}["tests"] == 4


def test_one_of_each_report_is_told_however_many_others_tell() -> None:
    many = replace(TEST, failures=(FAILURE,) * 150)
    mild = Problem("weak", "a.py", 1, severity=ProblemSeverity.LOW)
    last = GateReport("security", Status.FAILED, "b", 1, problems=(mild,) * 3, problem_count=3)

    told = bounded([many, replace(many, component="a"), last])

    assert [len(one.failures) + len(one.problems) for one in told] == [150, 50, 1]
    assert {one.enforcement for one in findings_of(told[-1])} == {Enforcement.ADVISORY}


@pytest.mark.parametrize("lost", ["install", "test"])
def test_where_a_gate_of_the_base_was_lost_nothing_is_known_of_it(lost: str) -> None:
    reports = [replace(BUILD, gate=gate, is_lost=gate == lost) for gate in ("install", "test")]
    told = {(one.component, one.gate): one for one in reports}

    before = Base(cast(Any, None), told).before(TEST)

    assert before is not None
    assert (before.report.is_lost, before.report.status) == (True, Status.ERROR)


def test_what_was_shown_while_gates_ran_is_gone_when_they_have_ended(
    coding: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    def shown_meanwhile(scripted: Scripted, case: Case) -> Sequence[GateReport]:
        evaluation = Evaluation.objects.get()
        GateProgress.objects.create(evaluation=evaluation, gate="test", started_at=timezone.now())
        return scripted.reports

    monkeypatch.setattr(Scripted, "run", shown_meanwhile)

    taken(
        coding,
        monkeypatch,
        BUILD,
        replace(TEST, status=Status.PASSED, exit_code=0, tests=TestCounts(passed=4), failures=()),
    )

    assert not GateProgress.objects.exists()
    assert Run.objects.get().confidence_level == "HIGH"


def test_a_run_that_reports_the_same_gate_says_which_run_ran_it(
    coding: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = taken(coding, monkeypatch, BUILD, TEST)

    again = taken(coding, monkeypatch, BUILD, replace(TEST, reused_from=first["id"]))

    assert [one["reused_from"] for one in again["gates"]] == [None, first["id"]]


def test_whose_word_its_tests_went_by_is_told(
    coding: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    passed = replace(
        TEST, status=Status.PASSED, exit_code=0, tests=TestCounts(passed=4), failures=()
    )

    found = taken(coding, monkeypatch, BUILD, replace(passed, is_word=True))

    assert [(one["is_guess"], one["is_word"]) for one in found["gates"]] == [
        (False, False), (False, True),
    ]  # fmt: skip
    assert Run.objects.get().confidence_level == "MEDIUM"


def test_without_a_sandbox_the_run_is_undecided_and_verifies_itself_again(coding: Caller) -> None:
    run = submit(coding, process="coding", tier=1)

    work_on(run)

    found = told(coding, run)
    assert found["state"] == "queued"
    assert {one["status"] for one in found["gates"]} == {"error"}
    assert {one["reason_code"] for one in found["findings"]} == {"sandbox_unavailable"}


def test_where_the_operator_wants_no_sandbox_a_person_is_asked_at_once(
    coding: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    off = replace(environment(), sandbox="off")
    monkeypatch.setattr(ports, "environment", lambda: off)
    run = submit(coding, process="coding", tier=1)

    work_on(run)

    found = told(coding, run)
    assert (found["state"], found["outcome"]) == ("finished", "partial_verified")
    assert (found["verdict"], found["review"]["state"]) == ("undecided", "pending")


@pytest.mark.parametrize("is_off", [True, False])
def test_a_phase_that_needs_no_sandbox_is_decided_where_there_never_was_one(
    agent: Caller, monkeypatch: pytest.MonkeyPatch, is_off: bool
) -> None:
    new_process(agent.project, WITHOUT_SANDBOX)
    setting = replace(environment(), sandbox="off" if is_off else "docker")
    monkeypatch.setattr(ports, "environment", lambda: setting)

    run = agent.submit(process="coding")

    [finding] = run["findings"]
    assert (run["state"], run["outcome"], run["verdict"]) == ("finished", "pass", "accept")
    assert (run["confidence_level"], run["review"]["state"]) == ("MEDIUM", "not_required")
    assert (finding["reason_code"], finding["enforcement"]) == ("sandbox_unavailable", "advisory")
    assert "there is no sandbox" in run["feedback"]["text"]


def test_a_sandbox_that_was_seen_and_is_gone_is_an_outage(agent: Caller) -> None:
    new_process(agent.project, WITHOUT_SANDBOX)
    beat(timedelta(days=40))
    retention.forget_spent()

    run = agent.submit(process="coding")

    assert run["state"] == "queued", "it waits for the sandbox"
    assert run["undecided"]["reason_code"] == "sandbox_unavailable"
    assert {one["enforcement"] for one in run["findings"]} == {"hard"}


def test_a_sandbox_that_is_switched_off_is_no_outage(
    agent: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    new_process(agent.project, WITHOUT_SANDBOX)
    beat()
    off = replace(environment(), sandbox="off")
    monkeypatch.setattr(ports, "environment", lambda: off)

    run = agent.submit(process="coding")

    assert (run["verdict"], run["confidence_level"]) == ("accept", "MEDIUM")


def test_a_case_made_of_a_run_holds_what_its_gates_said(
    coding: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken(coding, monkeypatch, BUILD, TEST)

    [_, recorded] = making._gates(Evaluation.objects.get())

    assert recorded["failures"] == [
        {"name": "test_add", "status": "failed", "message": "assert 3 == 4",
         "path": "tests/a.py", "line": 7}
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("statuses", "known"), [(REUSED, {"build", "test"}), (REUSED_AGAIN, {"build"})]
)
def test_what_failed_is_tried_anew_where_a_run_is_verified_again(
    coding: Caller, monkeypatch: pytest.MonkeyPatch, statuses: Sequence[Status], known: set[str]
) -> None:
    stages = (Stage("build", "compile"), Stage("test", "pytest"))
    part = Part(Component("", Language.PYTHON), Install(), stages)
    keyed = [replace(one, inputs_sha256=one.gate) for one in (BUILD, TEST)]
    first = taken(coding, monkeypatch, *keyed)

    found = known_reports(coding.project.pk, [part], lambda _part, stage: stage.gate, statuses)[
        ". (python)"
    ]

    assert set(found) == known
    assert {one.reused_from for one in found.values()} == {first["id"]}


def test_nothing_is_known_from_another_project(
    coding: Caller, outsider: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    part = Part(Component("", Language.PYTHON), Install(), (Stage("build", "compile"),))
    taken(coding, monkeypatch, replace(BUILD, inputs_sha256="build"))

    assert not known_reports(outsider.project.pk, [part], lambda _part, stage: stage.gate)
