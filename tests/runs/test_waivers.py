"""Waivers by services and over the API, and what the engine makes of them."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from loomverify.accounts.access import Access, person
from loomverify.accounts.models import AuditEntry, Project, Role
from loomverify.errors import Conflict, InputError, NotFound
from tests.builders import make_process, make_project, make_user
from tests.runs.conftest import Caller, new_process, new_project
from tests.runs.judged import submit
from tests.runs.test_gating import Scripted
from tests.waivers import REASON, SHELL, finding_of, in_days, make_waiver, problem, rejected
from verification.engine.gates import GateReport
from verification.engine.gating.comparing import restored
from verification.engine.gating.judging import Judged
from verification.engine.outcome import COUNTING, Purpose, Status
from verification.engine.reports.model import Problem, ProblemSeverity
from verification.golden.cases import making
from verification.golden.documents.reading import read_case
from verification.runs import casting, reverifying, statements, worker
from verification.runs.models import Event, Finding, Run, Waiver
from verification.runs.waivers import selectors, services
from verification.runs.waivers.selectors import WaiverState
from verification.runs.work import Begun, Work

pytestmark = pytest.mark.django_db

PROCESS = """\
name: guarded
phases:
  - id: implement
    description: Write it
    acceptance_criteria: It works
    gates: [security]
    score: {threshold: 1.0, max_iterations: 10}
"""
HIGH = Problem(
    "`subprocess` call with `shell=True` identified", "tools/release.py", 12, 4, "S602",
    ProblemSeverity.HIGH,
)  # fmt: skip
LOOKED = GateReport(
    "security", Status.FAILED, exit_code=1, problems=(HIGH,), problem_count=1, duration_ms=9
)


def reviewer(project: Project, role: Role = Role.REVIEWER) -> Access:
    return Access(project, role, person(make_user(project, role)))


def wish(run: Run, **fields: Any) -> dict[str, Any]:
    usual = {"run": run.uuid, "fingerprint": finding_of(run).fingerprint, "reason": REASON}
    return {**usual, "until": in_days(30), **fields}


def waive(run: Run, access: Access | None = None, **fields: Any) -> Waiver:
    return services.waive(access=access or reviewer(run.project), **wish(run, **fields))


def test_a_waiver_says_who_accepts_what_until_when_and_why_and_all_of_it_is_on_record() -> None:
    run = rejected(make_project())
    access = reviewer(run.project)

    made = waive(run, access)

    found = finding_of(run)
    assert (made.fingerprint, made.path, made.message) == (found.fingerprint, found.path, SHELL)
    assert (made.created_name, made.until) == (access.actor.name, in_days(30))
    words = f"Waived by {access.actor.name} until {in_days(30)}: {REASON}"
    force = selectors.words_of_waivers(run.process_id, timezone.now())
    assert force == {found.fingerprint: words}
    event = Event.objects.get(run=run, kind="finding_waived")
    assert (event.data["waiver"], event.data["by"]) == (str(made.uuid), access.actor.name)
    entry = AuditEntry.objects.get(verb="waiver.made")
    assert (entry.object_id, entry.reason) == (str(made.uuid), REASON)


def test_what_the_project_redacts_is_in_no_reason() -> None:
    project = make_project()
    project.redaction_patterns = ["sk-[a-z]+"]

    waive(rejected(project), reviewer(project), reason="The key sk-abc is a sample.")

    assert Waiver.objects.get().reason == "The key [redacted] is a sample."
    assert "sk-abc" not in AuditEntry.objects.get(verb="waiver.made").reason


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"reason": "too short"}, "waiver.reason"),
        ({"reason": "\x00 \x01" + " " * 30}, "waiver.reason"),
        ({"reason": "x" * 1001}, "waiver.reason"),
        ({"days": 0}, "waiver.until"),
        ({"days": 366}, "waiver.until"),
        ({"fingerprint": "0" * 64}, "finding.unknown"),
        ({"fingerprint": "\x00"}, "finding.unknown"),
    ],
)
def test_what_says_too_little_or_holds_too_long_is_refused_at_its_place(
    fields: dict[str, Any], code: str
) -> None:
    run = rejected(make_project())
    if "days" in fields:  # counted when the test runs, not when it is collected
        fields = {"until": in_days(fields["days"])}

    with pytest.raises(InputError) as refused:
        waive(run, **fields)

    assert refused.value.code == code
    assert refused.value.issues[0].loc == ("body", next(iter(fields)))
    assert not Waiver.objects.exists()


@pytest.mark.parametrize(
    "fields",
    [
        {"verdict": "unknown", "reason_code": "gate_error"},
        {"verdict": "unknown"},
        {"rule": "test", "reason_code": "tests_failed"},
        {"rule": "build", "reason_code": "build_failed"},
        {"source": "llm"},
        {"path": ""},
    ],
)
def test_only_a_certain_problem_of_the_security_gate_can_be_waived(fields: dict[str, Any]) -> None:
    run = rejected(make_project(), problem(**fields))

    with pytest.raises(InputError) as refused:
        waive(run)

    assert refused.value.code == "finding.not_waivable"


def test_what_is_waived_is_not_waived_twice_and_anew_once_it_expired() -> None:
    run = rejected(make_project())
    first = waive(run)

    with pytest.raises(Conflict) as refused:
        waive(run)
    assert refused.value.code == "waiver.in_force"

    past = timezone.now() - timedelta(hours=1)
    Waiver.objects.filter(pk=first.pk).update(expires_at=past)
    second = waive(run)

    first.refresh_from_db()
    now = timezone.now()
    assert (first.ended_at, first.ended_name) == (past, "")
    states = [selectors.state_of(one, now) for one in (first, second)]
    assert states == [WaiverState.EXPIRED, WaiverState.ACTIVE]


def test_there_are_only_so_many_in_force_in_a_process(monkeypatch: pytest.MonkeyPatch) -> None:
    project = make_project()
    waive(rejected(project))
    monkeypatch.setattr(services, "MAX_IN_FORCE", 1)

    with pytest.raises(Conflict) as refused:
        waive(rejected(project))

    assert refused.value.code == "waiver.too_many"


def test_it_holds_for_its_process_alone_and_no_longer_than_its_last_day() -> None:
    project = make_project()
    run = rejected(project)
    made = make_waiver(run)
    other = make_process(project, slug="other-work")
    last = made.expires_at - timedelta(seconds=1)

    assert selectors.words_of_waivers(run.process_id, last).keys() == {made.fingerprint}
    assert selectors.words_of_waivers(run.process_id, made.expires_at) == {}
    assert selectors.words_of_waivers(other.pk, last) == {}


def test_one_that_is_ended_counts_no_more_and_an_ending_is_taken_back_within_minutes() -> None:
    run = rejected(make_project())
    made, access = waive(run), reviewer(run.project)

    ended = services.end(access=access, waiver=made.uuid)

    assert ended.ended_name == access.actor.name
    assert selectors.words_of_waivers(run.process_id, timezone.now()) == {}
    with pytest.raises(Conflict) as over:
        services.end(access=access, waiver=made.uuid)
    assert over.value.code == "waiver.over"

    resumed = services.undo_end(access=access, waiver=made.uuid)

    assert (resumed.ended_at, resumed.ended_name) == (None, "")
    assert len(selectors.words_of_waivers(run.process_id, timezone.now())) == 1
    kinds = Event.objects.filter(run=run).order_by("seq").values_list("kind", flat=True)
    assert list(kinds)[-3:] == ["finding_waived", "waiver_ended", "waiver_resumed"]


def test_an_ending_that_is_old_or_was_followed_by_another_waiver_stays() -> None:
    run = rejected(make_project())
    access = reviewer(run.project)
    long_ago = timezone.now() - services.UNDO - timedelta(seconds=1)
    old, young = make_waiver(run, ended_at=long_ago), waive(run)
    services.end(access=access, waiver=young.uuid)
    waive(run)

    with pytest.raises(Conflict) as late:
        services.undo_end(access=access, waiver=old.uuid)
    with pytest.raises(Conflict) as again:
        services.undo_end(access=access, waiver=young.uuid)

    assert (late.value.code, again.value.code) == ("waiver.not_undoable", "waiver.in_force")


def test_another_project_finds_neither_the_finding_nor_the_waiver() -> None:
    run = rejected(make_project())
    made, outsider = waive(run), reviewer(make_project(), Role.ADMIN)

    with pytest.raises(NotFound):
        waive(run, outsider)
    for act in (services.end, services.undo_end):
        with pytest.raises(NotFound):
            act(access=outsider, waiver=made.uuid)


def test_a_waiver_outlives_the_run_it_was_seen_in() -> None:
    run = rejected(make_project())
    made = waive(run)
    run.delete()

    ended = services.end(access=reviewer(made.project), waiver=made.uuid)

    assert (ended.run, ended.message) == (None, SHELL)


# ------------------------------------------------------------------ over the API


@pytest.fixture
def guarded(agent: Caller, monkeypatch: pytest.MonkeyPatch) -> Caller:
    new_process(agent.project, PROCESS)
    monkeypatch.setattr(worker, "SandboxGates", Scripted(LOOKED))
    return agent


def loaded(run: Run) -> Any:
    row = statements.one(statements.LOAD, run=run.pk)
    assert row is not None
    fields = Run.objects.values_list(
        "live_evaluation_id", "live_evaluation__uuid", "process_version_id", "verifier_version_id"
    ).get(pk=run.pk)
    return Work(*row[:-1]), row[-1] or {}, Begun(*fields[:2], Purpose.LIVE, *fields[2:])


def told(caller: Caller, run: Run) -> dict[str, Any]:
    worker.work_on(run.pk, in_sandbox=True)
    found: dict[str, Any] = caller.get(f"/runs/{run.uuid}").json()
    return found


def again(caller: Caller, run: Run) -> dict[str, Any]:
    reverifying.reverify_run(run=Run.objects.get(pk=run.pk), actor=reviewer(run.project).actor)
    return told(caller, run)


def test_a_run_is_accepted_while_its_finding_is_waived_and_rejected_when_it_no_longer_is(
    guarded: Caller,
) -> None:
    run = submit(guarded, process="guarded", tier=1)
    before = told(guarded, run)
    by = Caller(guarded.project, Role.REVIEWER)
    (found,) = before["findings"]
    body = {"run": str(run.uuid), "fingerprint": found["fingerprint"], "reason": REASON}

    made = by.post("/waivers", {**body, "until": str(in_days(7))})
    after = again(guarded, run)

    assert made.status_code == 201
    assert before["verdict"] == "reject"
    assert (after["verdict"], after["outcome"]) == ("accept", "pass")
    assert after["score"]["total"] == before["score"]["total"] + 0.91  # of eleven points
    (waived,) = after["findings"]
    assert (waived["enforcement"], waived["fingerprint"]) == ("observe", found["fingerprint"])
    assert waived["message"].endswith(f"until {in_days(7)}: {REASON}")

    case = read_case(making.document_of_run(Run.objects.get(pk=run.pk)))
    assert case.given.gates
    assert case.given.gates[0].problems[0].waived.endswith(REASON)

    ended = by.post(f"/waivers/{made.json()['id']}/end")
    later = again(guarded, run)

    assert (ended.status_code, ended.json()["state"]) == (200, "ended")
    assert ended.json()["ended_by"] == "key reviewer"
    assert (later["verdict"], later["reason_code"]) == ("reject", "security_failed")
    assert later["findings"][0]["fingerprint"] == found["fingerprint"]


def test_beside_a_run_nothing_is_waived_anew_and_what_is_reused_is_no_longer_waived(
    guarded: Caller,
) -> None:
    run = submit(guarded, process="guarded", tier=1)
    told(guarded, run)
    make_waiver(Run.objects.get(pk=run.pk))
    work, files, live = loaded(run)

    waived = {
        purpose: bool(casting.case_of(work, files, replace(live, purpose=purpose)).waivers)
        for purpose in Purpose
    }

    assert waived == {purpose: purpose in COUNTING for purpose in Purpose}
    kept = replace(LOOKED, problems=(replace(HIGH, waived="Waived by Ann"),))
    assert restored(Judged(kept)) == LOOKED


@pytest.mark.parametrize(("role", "status"), [(Role.AGENT, 403), (Role.EDITOR, 201)])
def test_reviewers_and_those_above_them_waive_and_everybody_reads(role: Role, status: int) -> None:
    project = new_project("ours")
    run = rejected(project, process=make_process(project, slug="checked"))
    made, caller = make_waiver(rejected(project, process=run.process)), Caller(project, role)
    body = {**wish(run), "run": str(run.uuid), "until": str(in_days(1))}

    assert caller.get("/waivers").json()["items"][0]["id"] == str(made.uuid)
    assert caller.post("/waivers", body).status_code == status
    ended = caller.post(f"/waivers/{made.uuid}/end").status_code
    assert ended == (200 if status == 201 else 403)


def test_a_list_is_filtered_and_turned_over(viewer: Caller, outsider: Caller) -> None:
    process = make_process(viewer.project, slug="checked")
    runs = [rejected(viewer.project, problem(path=f"{name}.py"), process=process) for name in "abc"]
    now = timezone.now()
    active = make_waiver(runs[0], reason="A harmless 100 % constant")
    expired = make_waiver(runs[1], expires_at=now - timedelta(seconds=1))
    ended = make_waiver(runs[2], ended_at=now, ended_name="Bob")

    def found(query: str, caller: Caller = viewer) -> list[str]:
        return [one["id"] for one in caller.get(f"/waivers?{query}").json()["items"]]

    assert found("") == [str(one.uuid) for one in (ended, expired, active)]
    assert found("state=active") == [str(active.uuid)]
    assert found("state=expired") == [str(expired.uuid)]
    assert found("state=ended") == [str(ended.uuid)]
    assert found(f"finding={expired.fingerprint}") == [str(expired.uuid)]
    assert found("q=100 %25") == [str(active.uuid)]
    assert found("q=C.PY&process=checked") == [str(ended.uuid)]
    assert found("process=other") == []
    assert found("", outsider) == []
    page = viewer.get("/waivers?limit=2").json()
    assert found(f"limit=2&cursor={page['next']}") == [str(active.uuid)]


@pytest.mark.parametrize(
    ("query", "status"),
    [("state=open", 422), ("finding=x", 422), ("status=active", 400), ("q=%00", 422)],
)
def test_a_filter_that_means_nothing_is_refused(viewer: Caller, query: str, status: int) -> None:
    answer = viewer.get(f"/waivers?{query}")

    assert answer.status_code in (status, 422)
    assert answer["Content-Type"] == "application/problem+json"


def test_a_refused_wish_names_its_place(project: Project) -> None:
    run = rejected(project, process=make_process(project, slug="checked"))
    by = Caller(project, Role.REVIEWER)
    body = {**wish(run), "run": str(run.uuid), "until": str(in_days(400))}

    late = by.post("/waivers", body)
    typing_error = by.post("/waivers", {**body, "untill": "x"})

    assert (late.status_code, late.json()["errors"][0]["loc"]) == (422, ["body", "until"])
    assert late.json()["errors"][0]["code"] == "waiver.until"
    assert typing_error.status_code == 422
    assert Finding.objects.count() == 1
