from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db.models import F
from django.utils import timezone

from loomverify.accounts.models import AuditEntry, Project, Role
from tests.runs.conftest import Caller, body_of, new_process, problem
from verification.runs.models import Event, OutboxEvent, Remediation, Run
from verification.runs.relay import PARTS
from verification.runs.remediations import services
from verification.runs.remediations.claims import LEASE
from verification.runs.remediations.services import TIME_TO_LIVE

UNCONFIRMED = [{"text": "It grew by 4 %.", "label": "inferred", "section": "supporting"}]
CONFIRMED = [{**UNCONFIRMED[0], "label": "confirmed", "evidence": ["e1"]}]
PROVEN = {"claims": CONFIRMED, "evidence": [{"id": "e1", "text": "It grew by 4 %."}]}
REJECTED = {"return_code": 1}


@pytest.fixture
def other(project: Project) -> Caller:
    return Caller(project, Role.AGENT)


@pytest.fixture
def reviewer(project: Project) -> Caller:
    return Caller(project, Role.REVIEWER)


@pytest.fixture
def asked(agent: Caller) -> dict[str, Any]:
    """The remediation that a partly verified run left behind."""
    run = agent.submit(output="It grew by 4 %.", claims=UNCONFIRMED)
    assert (run["outcome"], len(run["remediations"])) == ("partial_verified", 1)
    return found(agent, run["remediations"][0]["id"])


def found(caller: Caller, remediation: str) -> dict[str, Any]:
    answer = caller.get(f"/remediations/{remediation}")
    assert answer.status_code == 200, answer.content
    whole: dict[str, Any] = answer.json()
    return whole


def act(caller: Caller, asked: dict[str, Any], verb: str, body: Any = None) -> Any:
    return caller.post(f"/remediations/{asked['id']}/{verb}", body)


def kinds(run: str) -> list[str]:
    return list(Event.objects.filter(run__uuid=run).order_by("seq").values_list("kind", flat=True))


def answered(caller: Caller, asked: dict[str, Any], **submitted: Any) -> dict[str, Any]:
    """A run of the same task, which does not say what it answers."""
    return caller.submit(task={"id": asked["task"]}, **submitted)


def move(asked: dict[str, Any], **columns: Any) -> None:
    Remediation.objects.filter(uuid=asked["id"]).update(**columns)


def an_hour_old(run: str) -> str:
    Run.objects.filter(uuid=run).update(created_at=F("created_at") - timedelta(hours=1))
    return run


def test_partly_verified_work_leaves_all_that_an_agent_works_from(
    agent: Caller, asked: dict[str, Any]
) -> None:
    listed = agent.get("/remediations?state=queued").json()

    run = agent.get(f"/runs/{asked['run']}").json()
    assert listed == {"items": [asked], "next": None}
    assert asked["request"]["reason_code"] == "unconfirmed_above_threshold"
    assert [one["text"] for one in asked["request"]["claims"]] == ["It grew by 4 %."]
    assert (asked["process"], asked["task"]) == ("general", run["task"]["id"])
    assert asked["run_url"].endswith(f"/p/ours/runs/{asked['run']}/")
    assert (asked["attempts"], asked["max_attempts"]) == (0, 2)
    assert (asked["owner"], asked["lease_until"], asked["resolved_by"]) == (None, None, None)


def test_it_is_told_in_the_runs_history_and_to_the_outside(asked: dict[str, Any]) -> None:
    told = OutboxEvent.objects.get(topic="remediation.queued")

    assert kinds(asked["run"])[-1] == "remediation_queued"
    assert told.payload["remediation"] == asked["id"]
    assert told.payload["run"] == asked["run"]
    row = Remediation.objects.get(uuid=asked["id"])
    assert row.expires_at - row.created_at == TIME_TO_LIVE


def test_the_same_is_not_queued_twice(agent: Caller, asked: dict[str, Any]) -> None:
    assert agent.post(f"/runs/{asked['run']}/reverify").status_code == 202
    agent.verified(asked["run"])

    assert Remediation.objects.count() == 1


def test_a_claim_lasts_half_an_hour_and_is_lengthened_by_its_owner(
    agent: Caller, asked: dict[str, Any]
) -> None:
    first = act(agent, asked, "claim")
    move(asked, lease_until=timezone.now() + timedelta(minutes=1))
    again = act(agent, asked, "claim")

    assert (first.status_code, first.json()["state"]) == (200, "claimed")
    assert (first.json()["owner"], again.status_code) == ("agent", 200)
    lease = Remediation.objects.get(uuid=asked["id"]).lease_until
    assert lease is not None
    assert lease - timezone.now() > LEASE - timedelta(minutes=1)


def test_a_claim_never_outlives_the_remediation(agent: Caller, asked: dict[str, Any]) -> None:
    move(asked, expires_at=timezone.now() + timedelta(minutes=5))

    claimed = act(agent, asked, "claim").json()

    assert claimed["lease_until"] == claimed["expires_at"]


@pytest.mark.parametrize("verb", ["claim", "resolve"])
def test_what_somebody_else_holds_is_refused(
    agent: Caller, other: Caller, asked: dict[str, Any], verb: str
) -> None:
    run = answered(agent, asked, **PROVEN)
    act(agent, asked, "claim")

    refused = act(other, asked, verb, {"run": run["id"]})

    assert problem(refused)[:2] == (409, "remediation.held")


def test_a_claim_that_lapsed_is_anybodys(
    agent: Caller, other: Caller, asked: dict[str, Any]
) -> None:
    act(agent, asked, "claim")
    move(asked, lease_until=timezone.now() - timedelta(seconds=1))

    assert act(other, asked, "claim").status_code == 200
    assert problem(act(agent, asked, "claim"))[:2] == (409, "remediation.held")


def test_an_accepted_run_resolves_it_and_the_same_answer_again_changes_nothing(
    agent: Caller, asked: dict[str, Any]
) -> None:
    act(agent, asked, "claim")
    run = answered(agent, asked, **PROVEN)

    resolved = act(agent, asked, "resolve", {"run": run["id"]})
    again = act(agent, asked, "resolve", {"run": run["id"]})

    assert (resolved.status_code, again.status_code) == (200, 200)
    assert (resolved.json()["state"], resolved.json()["resolved_by"]) == ("resolved", run["id"])
    assert again.json() == resolved.json()
    assert kinds(asked["run"]).count("remediation_resolved") == 1


def test_a_rejected_answer_counts_one_attempt_once_and_frees_it_for_others(
    agent: Caller, other: Caller, asked: dict[str, Any]
) -> None:
    act(agent, asked, "claim")
    run = answered(agent, asked, **REJECTED)

    for _ in range(2):
        assert problem(act(agent, asked, "resolve", {"run": run["id"]}))[:2] == (
            409,
            "run.rejected",
        )

    after = found(agent, asked["id"])
    assert (after["state"], after["attempts"], after["owner"]) == ("queued", 1, None)
    assert act(other, asked, "claim").status_code == 200


def test_when_its_attempts_are_used_it_has_failed(agent: Caller, asked: dict[str, Any]) -> None:
    for code in (1, 2):
        run = answered(agent, asked, output=f"Try {code}.", return_code=code)
        act(agent, asked, "resolve", {"run": run["id"]})

    after = found(agent, asked["id"])
    assert (after["state"], after["attempts"]) == ("failed", 2)
    assert after["ended_at"]
    assert problem(act(agent, asked, "claim"))[:2] == (409, "remediation.over")
    assert kinds(asked["run"])[-2:] == ["remediation_answered", "remediation_resolved"]


@pytest.mark.parametrize(
    ("submitted", "state", "attempts"),
    [
        (PROVEN, "resolved", 0),
        (REJECTED, "queued", 1),
        # Partly verified again is no answer to what was not verified.
        ({"output": "Once more: it grew by 4 %.", "claims": UNCONFIRMED}, "queued", 1),
        ({**PROVEN, "tier": 2}, "claimed", 0),  # nobody was there to judge: undecided
    ],
)
def test_a_run_that_names_it_answers_by_itself(
    agent: Caller, asked: dict[str, Any], submitted: dict[str, Any], state: str, attempts: int
) -> None:
    act(agent, asked, "claim")

    agent.submit(remediation=asked["id"], **submitted)

    after = found(agent, asked["id"])
    assert (after["state"], after["attempts"]) == (state, attempts)
    assert Remediation.objects.count() == 1


@pytest.mark.extended
@pytest.mark.parametrize(
    ("named", "code"),
    [
        ("seven", "remediation.unknown"),
        ("5d1d1a58-6cd4-4651-819b-4794450b7f3e", "remediation.unknown"),
        ("of another project", "remediation.unknown"),
        ("of other work", "remediation.unrelated"),
    ],
)
def test_a_run_that_names_what_it_cannot_answer_is_refused(
    agent: Caller, outsider: Caller, asked: dict[str, Any], named: str, code: str
) -> None:
    new_process(agent.project, "name: other\nphases: [{id: work, description: Work.}]\n")
    made: dict[str, Callable[[], Any]] = {
        "of another project": lambda: outsider.submit(claims=UNCONFIRMED),
        "of other work": lambda: agent.submit(process="other", claims=UNCONFIRMED),
    }
    if named in made:
        named = made[named]()["remediations"][0]["id"]

    refused = agent.post("/runs", body_of(remediation=named))

    assert problem(refused) == (422, code, ["body", "remediation"])


def test_a_rejected_run_of_others_counts_nothing_against_a_claim(
    agent: Caller, other: Caller, asked: dict[str, Any]
) -> None:
    act(agent, asked, "claim")

    other.submit(remediation=asked["id"], **REJECTED)
    assert found(agent, asked["id"])["attempts"] == 0

    other.submit(remediation=asked["id"], **PROVEN)
    assert found(agent, asked["id"])["state"] == "resolved"


@pytest.mark.extended
@pytest.mark.parametrize(
    ("run", "status", "code"),
    [
        ("own", 422, "run.unrelated"),
        ("earlier", 422, "run.unrelated"),
        ("of another process", 422, "run.unrelated"),
        ("of another project", 422, "run.unknown"),
        ("nowhere", 422, "run.unknown"),
        ("queued", 409, "run.not_finished"),
        ("undecided", 409, "run.undecided"),
    ],
)
def test_a_run_that_is_no_answer_is_refused_and_counts_nothing(
    agent: Caller, outsider: Caller, asked: dict[str, Any], run: str, status: int, code: str
) -> None:
    runs: dict[str, Callable[[], str]] = {
        "own": lambda: str(asked["run"]),
        "earlier": lambda: an_hour_old(answered(agent, asked, **PROVEN)["id"]),
        "of another process": lambda: agent.submit(process="other")["id"],
        "of another project": lambda: outsider.submit(**PROVEN)["id"],
        "nowhere": lambda: str(uuid4()),
        "queued": lambda: agent.post("/runs", body_of()).json()["id"],
        "undecided": lambda: agent.submit(tier=2, **PROVEN)["id"],
    }
    new_process(agent.project, "name: other\nphases: [{id: work, description: Work.}]\n")

    refused = act(agent, asked, "resolve", {"run": runs[run]()})

    assert problem(refused) == (status, code, ["body", "run"])
    assert found(agent, asked["id"])["attempts"] == 0


def test_a_claim_is_given_back_by_its_owner_or_by_a_reviewer(
    agent: Caller, other: Caller, reviewer: Caller, asked: dict[str, Any]
) -> None:
    act(agent, asked, "claim")
    assert problem(act(other, asked, "release"))[:2] == (403, "remediation.not_yours")
    assert act(agent, asked, "release").json()["state"] == "queued"
    assert problem(act(agent, asked, "release"))[0] in (403, 409)

    act(other, asked, "claim")
    assert act(reviewer, asked, "release").json()["owner"] is None


def test_it_is_given_up_with_a_reason_by_who_holds_it_or_by_a_reviewer(
    agent: Caller, other: Caller, reviewer: Caller, asked: dict[str, Any]
) -> None:
    Project.objects.update(redaction_patterns=["sk-[a-z]+"])
    reason = {"reason": "The source is gone, see sk-abc."}
    assert problem(act(other, asked, "give-up", reason))[:2] == (403, "remediation.not_yours")
    assert problem(act(reviewer, asked, "give-up", {"reason": ""}))[0] == 422

    act(agent, asked, "claim")
    given_up = act(agent, asked, "give-up", reason).json()

    assert (given_up["state"], given_up["note"]) == (
        "failed", "The source is gone, see [redacted].",
    )  # fmt: skip
    assert kinds(asked["run"])[-1] == "remediation_resolved"
    assert problem(act(reviewer, asked, "give-up", reason))[:2] == (409, "remediation.over")
    verbs = AuditEntry.objects.filter(object_id=asked["id"]).values_list("verb", flat=True)
    assert set(verbs) == {"remediation.claimed", "remediation.given_up"}


def test_the_relay_returns_lapsed_claims_and_ends_what_outlived_its_time(
    agent: Caller, asked: dict[str, Any]
) -> None:
    gone = agent.submit(claims=UNCONFIRMED)["remediations"][0]
    act(agent, asked, "claim")
    past = timezone.now() - timedelta(seconds=1)
    move(asked, lease_until=past)
    move(gone, expires_at=past)

    swept = [services.sweep(), services.sweep()]

    assert swept == [2, 0]
    assert found(agent, asked["id"])["state"] == "queued"
    ended = found(agent, gone["id"])
    assert (ended["state"], ended["note"]) == ("expired", "Nobody answered it in time.")
    assert kinds(ended["run"])[-1] == "remediation_resolved"
    assert "sweep_remediations" in [part.__name__ for part in PARTS]


def test_what_outlived_its_time_is_not_claimed_before_it_is_swept(
    agent: Caller, asked: dict[str, Any]
) -> None:
    move(asked, expires_at=timezone.now())

    assert problem(act(agent, asked, "claim"))[:2] == (409, "remediation.over")


VERBS = {
    "claim": None,
    "release": None,
    "resolve": {"run": str(uuid4())},
    "give-up": {"reason": "x"},
}


@pytest.mark.extended
@pytest.mark.parametrize("verb", VERBS)
def test_roles_and_projects_bound_who_may_act(
    viewer: Caller, outsider: Caller, agent: Caller, asked: dict[str, Any], verb: str
) -> None:
    assert problem(act(viewer, asked, verb, VERBS[verb]))[:2] == (403, "role.insufficient")
    assert problem(act(outsider, asked, verb, VERBS[verb]))[:2] == (404, "remediation.unknown")
    assert problem(act(agent, {"id": uuid4()}, verb, VERBS[verb]))[0] == 404
    assert outsider.get("/remediations").json()["items"] == []
    assert outsider.get(f"/remediations/{asked['id']}").status_code == 404
    assert viewer.get(f"/remediations/{asked['id']}").status_code == 200


def test_lists_are_filtered_and_paged(agent: Caller, asked: dict[str, Any]) -> None:
    more = [agent.submit(claims=UNCONFIRMED)["remediations"][0]["id"] for _ in range(2)]
    act(agent, asked, "claim")

    def ids(query: str) -> list[str]:
        return [one["id"] for one in agent.get(f"/remediations?{query}").json()["items"]]

    assert ids("state=queued") == more[::-1]
    assert ids("state=claimed") == ids(f"run={asked['run']}") == [asked["id"]]
    assert ids(f"task={asked['task']}") == [asked["id"]]
    assert ids("process=coding") == ids("state=expired") == []
    first = agent.get("/remediations?limit=2").json()
    rest = agent.get(f"/remediations?limit=2&cursor={first['next']}").json()
    assert [one["id"] for one in first["items"] + rest["items"]] == [*more[::-1], asked["id"]]
    for wrong in ("state=open", "run=1", "limit=0", "states=queued", "cursor=x", "task=%00"):
        assert agent.get(f"/remediations?{wrong}").status_code in (400, 422)
