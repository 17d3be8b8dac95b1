"""A run from submission to verdict, through a real worker's steps."""

from __future__ import annotations

from typing import Any

import pytest

from loomverify.accounts.models import Project
from tests.runs.conftest import Caller, body_of, new_process, problem
from verification.runs.models import Evaluation, OutboxEvent, Review, Run, Task

FAILED_TOOL = [{"tool": "write_file", "success": False, "error": "disk full"}]


def test_good_work_is_accepted(agent: Caller) -> None:
    run = agent.submit(task={"expected_outputs": ["plan.json"]}, files={"plan.json": "{}"})

    assert (run["state"], run["outcome"], run["verdict"], run["passed"]) == (
        "finished",
        "pass",
        "accept",
        True,
    )
    assert run["final_outcome"] == "pass"
    assert (run["tier_requested"], run["tier_achieved"]) == (1, 1)
    assert run["tiers"][0]["status"] == "passed"
    assert run["findings"] == []
    assert run["retry"] == {"strategy": "none", "rerun_execution": False}


@pytest.mark.parametrize(
    ("fields", "reason", "place"),
    [
        ({"return_code": 2}, "nonzero_return_code", (None, None)),
        ({"tool_calls": FAILED_TOOL}, "tool_failed", (None, None)),
        ({"task": {"expected_outputs": ["a.md"]}}, "deliverable_missing", ("a.md", None)),
        (
            {"task": {"expected_outputs": ["a.md"]}, "files": {"a.md": ""}},
            "deliverable_empty",
            ("a.md", None),
        ),
        (
            {"task": {"expected_outputs": ["a.json"]}, "files": {"a.json": '{\n  "a": 1,,\n}'}},
            "syntax_invalid",
            ("a.json", 2),
        ),
        (
            {"task": {"expected_outputs": ["a.py"]}, "files": {"a.py": "x = 1\ndef (:\n"}},
            "syntax_invalid",
            ("a.py", 2),
        ),
    ],
)
def test_every_reject_names_its_rule_and_its_place(
    agent: Caller, fields: dict[str, Any], reason: str, place: tuple[str | None, int | None]
) -> None:
    run = agent.submit(**fields)

    finding = run["findings"][0]
    assert (run["outcome"], run["verdict"], run["passed"]) == ("fail", "reject", False)
    assert (run["reason_code"], run["severity_class"]) == (reason, "hard_invariant")
    assert (finding["enforcement"], finding["verdict"]) == ("hard", "violated")
    assert finding["rule"]
    assert (finding["path"], finding["line"]) == place
    assert run["feedback"]["text"].startswith(f'<verification_rejected code="{reason}"')
    assert run["feedback"]["items"][0]["rule"] == finding["rule"]
    assert run["action"] == "retry"
    assert run["retry"] == {"strategy": "generic", "rerun_execution": True}


def test_a_placeholder_is_a_warning_not_a_reject(agent: Caller) -> None:
    run = agent.submit(output="Revenue: [TODO]")

    assert (run["outcome"], run["verdict"]) == ("pass_with_warnings", "accept")
    assert run["findings"][0]["enforcement"] == "advisory"
    assert run["findings"][0]["quote"]


def test_a_missing_judge_is_never_an_accept(agent: Caller) -> None:
    run = agent.submit(tier=2)

    assert (run["outcome"], run["verdict"], run["passed"]) == (
        "partial_verified",
        "undecided",
        None,
    )
    assert (run["reason_code"], run["severity_class"]) == ("verifier_unavailable", "infra")
    assert (run["tier_requested"], run["tier_achieved"]) == (2, 1)
    assert run["confidence_level"] == "MEDIUM"
    assert run["task"]["attempts_used"] == 0
    assert run["review"]["state"] == "pending"
    assert Review.objects.get().reasons == ["verifier_unavailable"]


def test_a_rule_of_another_phase_is_skipped_and_traced(agent: Caller, project: Project) -> None:
    new_process(
        project,
        """\
name: scoped
phases:
  - {id: first, description: One.}
  - {id: second, description: Two.}
verification:
  rules:
    - {name: no-risk, check: risk, type: regex, enforcement: hard, applies_to_phases: [second]}
""",
    )

    first = agent.submit(process="scoped", phase="first", output="a risk")
    second = agent.submit(process="scoped", phase="second", output="a risk")

    assert first["verdict"] == "accept"
    assert first["rules"]["skipped"] == [
        {"rule": "no-risk", "phase": "first", "reason": "other_phase"}
    ]
    assert (second["verdict"], second["reason_code"]) == ("reject", "rule_violated")
    assert second["rules"]["applied"][0]["rule"] == "no-risk"


def test_attempts_are_counted_and_end(agent: Caller) -> None:
    task = {"id": "t", "max_attempts": 2}

    first = agent.submit(task=task, output="one", return_code=1)
    same = agent.submit(task=task, output="one", return_code=1)
    second = agent.submit(task=task, output="two", return_code=1)
    refused = agent.post("/runs", body_of(task=task, output="three"))

    assert [run["task"]["attempts_used"] for run in (first, same, second)] == [1, 1, 2]
    assert (first["action"], second["action"]) == ("retry", "revert")
    assert second["task"]["exhausted"] is True
    assert second["retry"]["rerun_execution"] is False
    assert problem(refused)[:2] == (409, "attempts_exhausted")


def test_the_third_identical_reject_ends_the_task(agent: Caller) -> None:
    runs = [agent.submit(task={"id": "t"}, return_code=1) for _ in range(3)]

    assert [run["reason_code"] for run in runs] == [
        "nonzero_return_code",
        "nonzero_return_code",
        "repeated_candidate",
    ]
    assert runs[2]["severity_class"] == "semantic"
    assert runs[2]["retry"] == {"strategy": "none", "rerun_execution": False}
    assert runs[2]["task"]["attempts_used"] == 1
    assert "not counted again" in runs[1]["feedback"]["text"]
    assert 'code="repeated_candidate"' in runs[2]["feedback"]["text"]
    assert runs[2]["review"]["state"] == "pending"


def test_a_second_delivery_changes_nothing(agent: Caller) -> None:
    run = agent.submit(return_code=1)

    again = agent.verified(run["id"])

    assert again == run
    assert Evaluation.objects.count() == 1
    assert OutboxEvent.objects.filter(topic="run.finished").count() == 1


def test_a_cancelled_run_is_not_evaluated(agent: Caller) -> None:
    taken = agent.post("/runs", body_of()).json()

    cancelled = agent.post(f"/runs/{taken['id']}/cancel").json()
    run = agent.verified(taken["id"])

    assert (cancelled["cancelled"], cancelled["state"]) == (True, "cancelled")
    assert (run["state"], run["outcome"]) == ("cancelled", None)
    assert agent.post(f"/runs/{taken['id']}/cancel").json()["cancelled"] is False


def test_verifying_again_makes_a_new_evaluation_and_no_attempt(agent: Caller) -> None:
    run = agent.submit(return_code=1)

    asked = agent.post(f"/runs/{run['id']}/reverify")
    again = agent.verified(run["id"])

    assert (asked.status_code, asked.json()["state"]) == (202, "queued")
    assert (again["purpose"], again["reason_code"]) == ("reverify", "nonzero_return_code")
    assert again["evaluation"] != run["evaluation"]
    assert again["task"]["attempts_used"] == 1
    evaluations = agent.get(f"/runs/{run['id']}/evaluations").json()["items"]
    assert [(one["purpose"], one["is_live"]) for one in evaluations] == [
        ("reverify", True),
        ("live", False),
    ]


def test_nobody_is_told_to_act_on_a_verdict_that_is_in_doubt_again(agent: Caller) -> None:
    run = agent.submit()

    agent.post(f"/runs/{run['id']}/reverify")
    agent.post(f"/runs/{run['id']}/cancel")

    left = agent.get(f"/runs/{run['id']}").json()
    told = ("verdict", "passed", "action", "reason_code", "confidence", "confidence_level")
    assert run["verdict"] == "accept"
    assert left["state"] == "cancelled"
    assert {name: left[name] for name in told} == dict.fromkeys(told)
    assert left["retry"] == {"strategy": "none", "rerun_execution": False}


def test_a_person_is_asked_no_longer_about_what_settled_itself(agent: Caller) -> None:
    run = agent.submit(tier=2)
    Run.objects.update(tier_requested=1)  # as if the judge had come back and said yes

    agent.post(f"/runs/{run['id']}/reverify")
    again = agent.verified(run["id"])

    assert run["review"]["state"] == "pending"
    assert (again["verdict"], again["review"]["state"]) == ("accept", "not_required")
    assert Review.objects.get().state == "withdrawn"


def test_only_a_finished_run_can_be_verified_again(agent: Caller) -> None:
    taken = agent.post("/runs", body_of()).json()

    answer = agent.post(f"/runs/{taken['id']}/reverify")

    assert problem(answer)[:2] == (409, "run.not_finished")


def test_the_events_tell_the_story_in_order(agent: Caller) -> None:
    run = agent.submit(return_code=1)

    events = agent.get(f"/runs/{run['id']}/events").json()["items"]
    kinds = [event["kind"] for event in events if not event["kind"].startswith("rule_")]

    assert kinds == [
        "run_submitted",
        "evaluation_started",
        "tier_finished",
        "verification_rejected",
    ]
    assert {"rule_applied"} <= {event["kind"] for event in events}


def test_a_rejection_names_its_enforcement_and_rules_in_its_event(agent: Caller) -> None:
    rejected = agent.submit(return_code=1)
    accepted = agent.submit()

    def end_of(run: dict[str, Any]) -> dict[str, Any]:
        events = agent.get(f"/runs/{run['id']}/events").json()["items"]
        return next(one["data"] for one in events if one["kind"].startswith("verification_"))

    told = end_of(rejected)
    assert (told["reason_code"], told["enforcement"], told["rules"]) == (
        "nonzero_return_code", "hard", ["return-code"],
    )  # fmt: skip
    assert "enforcement" not in end_of(accepted)
    payloads = {
        event.payload["verdict"]: event.payload
        for event in OutboxEvent.objects.filter(topic="run.finished")
    }
    assert (payloads["reject"]["enforcement"], payloads["reject"]["rules"]) == (
        "hard", ["return-code"],
    )  # fmt: skip
    assert (payloads["accept"]["enforcement"], payloads["accept"]["rules"]) == (None, [])


@pytest.mark.extended
@pytest.mark.parametrize("path", ["", "/evaluations", "/events", "/files/a.txt"])
def test_another_projects_run_is_not_found(agent: Caller, outsider: Caller, path: str) -> None:
    run = agent.submit(files={"a.txt": "x"})

    assert outsider.get(f"/runs/{run['id']}{path}").status_code == 404


@pytest.mark.parametrize("verb", ["cancel", "reverify"])
def test_another_projects_run_cannot_be_touched(
    agent: Caller, outsider: Caller, viewer: Caller, verb: str
) -> None:
    run = agent.post("/runs", body_of()).json()

    assert outsider.post(f"/runs/{run['id']}/{verb}").status_code == 404
    assert viewer.post(f"/runs/{run['id']}/{verb}").status_code == 403


def test_the_list_is_filtered_and_paged(agent: Caller, outsider: Caller) -> None:
    good = [agent.submit()["id"] for _ in range(3)]
    bad = agent.submit(return_code=1)["id"]

    fails = agent.get("/runs?outcome=fail").json()
    first = agent.get("/runs?limit=2").json()
    rest = agent.get(f"/runs?limit=2&cursor={first['next']}").json()

    assert [run["id"] for run in fails["items"]] == [bad]
    assert [run["id"] for run in first["items"] + rest["items"]] == [bad, *reversed(good)]
    assert rest["next"] is None
    assert outsider.get("/runs").json()["items"] == []


@pytest.mark.parametrize(
    "query", ["cursor=nonsense", "cursor=%00", "outcome=great", "limit=0", "since=yesterday"]
)
def test_a_bad_filter_is_the_callers_mistake(agent: Caller, query: str) -> None:
    assert agent.get(f"/runs?{query}").status_code in {400, 422}


def test_a_download_is_always_an_attachment(agent: Caller) -> None:
    run = agent.submit(files={"dir/page.html": "<script>alert(1)</script>"})

    answer = agent.get(f"/runs/{run['id']}/files/dir/page.html")

    assert answer.content == b"<script>alert(1)</script>"
    assert answer["Content-Disposition"] == 'attachment; filename="page.html"'
    assert answer["Content-Type"] == "application/octet-stream"
    assert answer["X-Content-Type-Options"] == "nosniff"


def test_a_fault_of_ours_blames_nobody(agent: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    from verification.runs import worker

    taken = agent.post("/runs", body_of()).json()
    with monkeypatch.context() as patch:
        patch.setattr(worker, "climb", _fail)
        run = agent.verified(taken["id"])

    stored = Run.objects.get(uuid=taken["id"])
    assert (run["state"], run["verdict"]) == ("running", None)
    assert stored.next_at is not None
    assert stored.lease_until is None
    assert Task.objects.get().attempts_used == 0


def _fail(*_: object) -> None:
    raise RuntimeError("a bug of ours")


def test_a_review_branch_without_a_change_asks_nobody(agent: Caller) -> None:
    run = agent.submit()

    review = agent.get(f"/runs/{run['id']}").json()["review"]

    assert run["action"] == "review_branch"
    assert (review["state"], review["closed"]) == ("not_required", "no_change")
