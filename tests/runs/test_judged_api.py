from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from loomverify.accounts.models import Project, Role
from tests.builders import evaluate, make_project, make_run
from tests.judged import VERDICT, claim, judged_run, live_of, make_call, set_claims
from tests.runs.conftest import Caller, problem
from verification.engine.claims.settlement import ClaimState
from verification.engine.outcome import Outcome, Verdict
from verification.runs.models import Evaluation, Run, RunState

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return make_project()


@pytest.fixture
def caller(project: Project) -> Caller:
    return Caller(project, Role.VIEWER)


def told(caller: Caller, run: Run, path: str = "") -> dict[str, Any]:
    answer = caller.get(f"/runs/{run.uuid}{path}")
    assert answer.status_code == 200, answer.content
    found: dict[str, Any] = answer.json()
    return found


def fetched(caller: Caller, url: str) -> Any:
    return caller.client.get(f"/api/{url.partition('/api/')[2]}")


def test_a_run_tells_its_votes_claims_and_what_was_made_of_it(
    project: Project, caller: Caller
) -> None:
    found = told(caller, judged_run(project))

    assert [(one["passed"], bool(one["why"])) for one in found["votes"]] == [
        (True, True),
        (False, True),
        (None, True),
    ]
    assert found["claims"]["recommendation_unconfirmed"] == 1
    assert found["claim_list"][2] == {
        "text": "Webster is second.",
        "label": "inferred",
        "said": "confirmed",
        "section": "supporting",
        "evidence": [],
        "source": "judge",
        "state": "standing",
        "note": "It names no evidence that was submitted.",
        "quote": "",
    }
    assert [(one["kind"], one["path"]) for one in found["artefacts"]] == [
        ("pruned", ""),
        ("verified_findings", ""),
    ]
    assert [one["state"] for one in found["remediations"]] == ["queued"]
    assert (found["tiers"][1]["recovery"], found["tiers"][1]["prompt_tokens"]) == (
        "embedded_json",
        7_360,
    )
    assert found["undecided"] is None


def test_a_text_that_was_made_is_fetched_by_its_address(project: Project, caller: Caller) -> None:
    [pruned, _] = told(caller, judged_run(project))["artefacts"]

    answer = fetched(caller, pruned["url"])

    assert b"Most customers would switch" not in answer.content
    assert answer.content.startswith(b"# The market for looms")
    assert answer["Content-Disposition"].startswith("attachment")


def test_calls_are_listed_with_what_became_of_them(project: Project, caller: Caller) -> None:
    calls = told(caller, judged_run(project), "/calls")["items"]

    assert [(one["tier"], one["seq"], one["ask"]) for one in calls] == [
        (2, 1, "assess"),
        (2, 2, "assess"),
        (2, 3, "restate"),
        (2, 4, "again"),
        (3, 1, "vote"),
        (3, 2, "vote"),
        (3, 3, "vote"),
    ]
    assert [(one["lost"], one["recovery"]) for one in calls[:3]] == [
        ("rate_limited", None),
        (None, "unreadable"),
        (None, "restated"),
    ]
    assert (calls[0]["reply_url"], calls[3]["cached"], calls[3]["cost_usd"]) == (
        None,
        True,
        "0.000000",
    )


def test_calls_beside_the_run_are_listed_with_their_own_evaluation_alone(
    project: Project, caller: Caller
) -> None:
    run = make_run(project)
    again, beside, twice = (
        evaluate(run, purpose=purpose) for purpose in ("reverify", "shadow", "aa")
    )
    for evaluation, stage in (
        (live_of(run), "strict_json"),
        (again, "restated"),
        (beside, "embedded_json"),
        (twice, "unreadable"),
    ):
        make_call(evaluation, recovery=stage)

    its_own = told(caller, run, "/calls")["items"]
    shadows = told(caller, run, f"/calls?evaluation={beside.uuid}")["items"]
    found = {
        stage: bool(caller.get(f"/runs?recovery={stage}").json()["items"])
        for stage in ("strict_json", "restated", "embedded_json", "unreadable")
    }

    assert [(one["purpose"], one["recovery"]) for one in its_own] == [
        ("live", "strict_json"),
        ("reverify", "restated"),
    ]
    assert [(one["purpose"], one["recovery"]) for one in shadows] == [("shadow", "embedded_json")]
    assert found == {
        "strict_json": True,
        "restated": True,
        "embedded_json": False,
        "unreadable": False,
    }


def test_what_was_said_is_fetched_by_its_address(project: Project, caller: Caller) -> None:
    run = make_run(project)
    make_call(live_of(run))
    [call] = told(caller, run, "/calls")["items"]

    request, reply = (fetched(caller, call[name]) for name in ("request_url", "reply_url"))

    assert "Every figure names its source" in json.loads(request.content)["prompt"]
    assert reply.content.decode() == VERDICT
    assert reply["Content-Type"] == "application/octet-stream"


def test_another_project_has_no_such_calls_and_texts(project: Project, caller: Caller) -> None:
    run = judged_run(project)
    artefact = told(caller, run)["artefacts"][0]["url"]
    reply = told(caller, run, "/calls")["items"][1]["reply_url"]
    stranger = Caller(make_project(), Role.ADMIN)

    answers = [
        stranger.get(f"/runs/{run.uuid}/calls"),
        fetched(stranger, artefact),
        fetched(stranger, reply),
    ]

    assert [problem(one)[:2] for one in answers] == [(404, "run.unknown")] * 3


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("artefacts/00000000-0000-0000-0000-000000000000", 404),
        ("calls/00000000-0000-0000-0000-000000000000/2/1/reply", 404),
        ("calls/{evaluation}/2/99999999999999/reply", 404),
        ("calls/{evaluation}/2/1/reply", 404),
        ("calls/{evaluation}/2/1/secret", 422),
    ],
)
def test_what_was_never_said_or_made_is_not_found(
    project: Project, caller: Caller, path: str, status: int
) -> None:
    run = make_run(project)
    make_call(live_of(run), reply=None)

    answer = caller.get(f"/runs/{run.uuid}/{path.format(evaluation=live_of(run).uuid)}")

    assert problem(answer)[0] == status


@pytest.mark.parametrize(
    ("state", "has_next"), [(RunState.QUEUED, True), (RunState.RUNNING, False)]
)
def test_a_run_in_doubt_tells_when_it_tries_again(
    project: Project, caller: Caller, state: RunState, has_next: bool
) -> None:
    now = timezone.now()
    doubt = {"outcome": Outcome.FAIL, "verdict": Verdict.UNDECIDED, "reason_code": "rate_limited"}
    run = make_run(project, **doubt)  # type: ignore[arg-type]
    evaluate(run, purpose="reverify", reason_code="parse_inconclusive")
    Evaluation.objects.filter(run=run).update(finished_at=now)
    next_at = now + timedelta(seconds=300)
    Run.objects.filter(pk=run.pk).update(
        state=state, outcome=None, verdict="", undecided_since=now, next_at=next_at
    )

    undecided = told(caller, run)["undecided"]

    assert (undecided["reason_code"], undecided["tries"]) == ("parse_inconclusive", 2)
    assert (undecided["next_at"] is not None) is has_next
    assert undecided["until"] > next_at.isoformat()


@pytest.mark.parametrize(
    "columns",
    [
        {"state": RunState.QUEUED},
        {"state": RunState.CANCELLED, "undecided_since": timezone.now()},
        {"undecided_since": timezone.now(), "outcome": Outcome.FAIL},
    ],
)
def test_a_run_that_is_over_or_not_begun_is_not_waiting(
    project: Project, caller: Caller, columns: dict[str, Any]
) -> None:
    assert told(caller, make_run(project, **columns))["undecided"] is None


def test_a_run_that_no_judge_saw_costs_no_more_queries(project: Project, caller: Caller) -> None:
    plain, judged = make_run(project), make_run(project)
    set_claims(live_of(judged), [claim("So.", state=ClaimState.PRUNED)])
    caller.get(f"/runs/{plain.uuid}")

    def queries(run: Run) -> int:
        with CaptureQueriesContext(connection) as captured:
            told(caller, run)
        return len(captured)

    assert queries(judged) == queries(plain) + 1
