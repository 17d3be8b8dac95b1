from __future__ import annotations

import json
from typing import NoReturn

import pytest
from django.utils import timezone

from loomverify.accounts.models import AuditEntry, Project
from tests.actions.landing.scene import BASE, Scene, git
from tests.model_server import ModelServer
from tests.runs.conftest import new_process, problem
from tests.runs.judged import FAILING
from verification.actions.landing import working
from verification.actions.models import Action, Change, Repository
from verification.runs.models import BaseFile, OutboxEvent, Review, RunFile

pytestmark = pytest.mark.django_db

BETTER = {"app.py": BASE["app.py"] + "\n\ndef sub(a, b):\n    return a - b\n"}


class Killed(BaseException):
    """The worker is gone."""


def lost(*_: object) -> NoReturn:
    raise Killed


def test_a_verified_change_lands_as_one_commit_with_the_tree_that_was_verified(
    scene: Scene,
) -> None:
    before = scene.origin.tip()

    change = scene.landed(BETTER, task={"id": "T-1", "description": "Add sub\n\nas asked."})

    assert change.run.confidence_level == "HIGH"
    assert scene.actions_of(change) == {"commit": ("done", "")}
    tip = scene.origin.tip()
    assert scene.origin.show("rev-parse", f"{tip}^", f"{tip}^{{tree}}").split() == [
        before, change.tree_sha,
    ]  # fmt: skip
    message = scene.origin.show("show", "-s", "--format=%an%n%B", tip).splitlines()
    assert message[:2] == ["LoomVerify", "Add sub"]
    assert {
        f"LoomVerify-Run: {change.run.uuid}",
        "LoomVerify-Process: coding v1, phase implement",
        "LoomVerify-Verifier: v3",
        "LoomVerify-Confidence: HIGH",
    } <= set(message)


def test_what_is_verified_is_the_base_with_the_change(scene: Scene) -> None:
    change = scene.submitted({**BETTER, "notes.txt": None, "new/deep.md": "# New\n"})

    files = RunFile.objects.filter(run=change.run_id).values_list("path", flat=True)
    base = BaseFile.objects.filter(run=change.run_id).values_list("path", flat=True)
    assert sorted(files) == ["app.py", "new/deep.md"]
    assert sorted(base) == ["app.py", "notes.txt"]
    assert {(one["path"], one["status"]) for one in change.paths} == {
        ("app.py", "M"), ("new/deep.md", "A"), ("notes.txt", "D"),
    }  # fmt: skip
    body = change.run.submission.body
    assert body["change"]["paths"] == ["app.py", "new/deep.md"]
    assert "+def sub(a, b):" in body["diff"]


@pytest.mark.extended
def test_two_that_were_verified_on_one_base_land_one_after_the_other_each_verified_there(
    scene: Scene,
) -> None:
    first, second = (
        scene.verified(BETTER),
        scene.verified({"notes.txt": "One.\nTwo.\nThree.\nFour.\n"}),
    )
    before = scene.origin.tip()

    scene.act()

    landed = scene.origin.tip()
    assert scene.origin.show("rev-parse", f"{landed}^") == before
    assert scene.actions_of(first) == {"commit": ("done", "")}
    assert scene.actions_of(second) == {"commit": ("withdrawn", "base_moved")}
    again = Change.objects.get(follows=second)
    assert (again.base_sha, again.run.task_id) == (landed, second.run.task_id)

    scene.verify(again)
    scene.act()

    tip = scene.origin.tip()
    assert scene.actions_of(again) == {"commit": ("done", "")}
    assert scene.origin.show("rev-parse", f"{tip}^") == landed
    assert scene.origin.show("show", f"{tip}:app.py") == BETTER["app.py"].strip()
    assert scene.origin.show("show", f"{tip}:notes.txt").endswith("Four.")


def test_a_base_that_moved_into_the_same_lines_keeps_the_work_on_a_branch_and_asks_a_person(
    scene: Scene,
) -> None:
    change = scene.verified({"notes.txt": "One.\nTwo and a half.\nThree.\n"})
    moved = scene.origin.commit({"notes.txt": "One.\n2.\nThree.\n"})

    scene.act()
    scene.act()

    assert scene.actions_of(change) == {
        "commit": ("held", "base_moved"), "review_branch": ("done", ""),
    }  # fmt: skip
    assert change.run.finished_at
    day = change.run.finished_at.date()
    name = f"loomverify/review/{day}/{change.run.uuid}"
    assert scene.origin.refs().keys() == {"refs/heads/main", f"refs/heads/{name}"}
    assert scene.origin.tip() == moved
    assert scene.origin.show("rev-parse", f"{name}^{{tree}}") == change.tree_sha
    change.run.refresh_from_db()
    assert change.run.review_state == "pending"


@pytest.mark.extended
def test_where_the_base_moved_after_an_approval_the_person_is_asked_again(scene: Scene) -> None:
    change = scene.verified({"notes.txt": "One.\nTwo and a half.\nThree.\n"}, tier=1)
    scene.decide(change.run, "pass")
    scene.origin.commit({"notes.txt": "One.\n2.\nThree.\n"})
    scene.act()

    asked = Review.objects.get()
    assert scene.actions_of(change)["commit"] == ("held", "base_moved")
    assert (asked.state, asked.round, asked.reasons) == ("pending", 2, ["change_held"])
    noted = AuditEntry.objects.get(verb="review.opened_again")
    assert noted.reason == "The target branch moved, and it conflicts in notes.txt."
    assert OutboxEvent.objects.filter(topic="review.requested").count() == 2
    change.run.refresh_from_db()
    assert (change.run.review_state, change.run.final_outcome) == ("decided", "pass")

    scene.decide(change.run, "fail")
    scene.act()

    asked.refresh_from_db()
    change.run.refresh_from_db()
    assert (asked.state, change.run.final_outcome) == ("decided", "fail")
    assert scene.actions_of(change)["commit"] == ("withdrawn", "overtaken")


@pytest.mark.extended
def test_an_approval_stands_while_the_person_is_asked_again_and_the_work_is_verified_anew(
    scene: Scene,
) -> None:
    change = scene.verified({"notes.txt": "One.\nTwo and a half.\nThree.\n"}, tier=1)
    scene.decide(change.run, "pass")
    scene.origin.commit({"notes.txt": "One.\n2.\nThree.\n"})
    scene.act()

    scene.agent.post(f"/runs/{change.run.uuid}/reverify")
    scene.verify(change)

    change.run.refresh_from_db()
    assert (change.run.review_state, change.run.final_outcome) == ("decided", "pass")
    assert Review.objects.get().state == "pending"


def test_what_is_proposed_only_waits_for_a_persons_word(scene: Scene) -> None:
    Repository.objects.update(commit_mode="propose")
    before = scene.origin.refs()
    change = scene.landed(BETTER)

    assert scene.actions_of(change) == {"commit": ("proposed", "")}
    assert scene.origin.refs() == before
    [told] = OutboxEvent.objects.filter(topic="action.proposed")
    assert (told.payload["run"], told.payload["kind"]) == (str(change.run.uuid), "commit")

    [action] = scene.reviewer.get("/actions?state=proposed").json()["items"]
    refused = scene.agent.post(f"/actions/{action['id']}/approve")
    approved = scene.reviewer.post(f"/actions/{action['id']}/approve")
    scene.act()

    assert (refused.status_code, approved.status_code) == (403, 200)
    assert scene.actions_of(change) == {"commit": ("done", "")}
    message = scene.origin.show("show", "-s", "--format=%B", "main")
    assert "LoomVerify-Approved-By: key reviewer" in message
    again = scene.reviewer.post(f"/actions/{action['id']}/approve")
    assert problem(again)[:2] == (409, "action.over")


def test_what_was_declined_stays_undone_however_often_its_event_comes(scene: Scene) -> None:
    Repository.objects.update(commit_mode="propose")
    before = scene.origin.refs()
    change = scene.landed(BETTER)
    [action] = Action.objects.all()

    answer = scene.reviewer.post(f"/actions/{action.uuid}/decline", {"reason": "Not now."})
    OutboxEvent.objects.update(dispatched_at=None)
    scene.act()

    assert answer.json()["state"] == "declined"
    assert scene.actions_of(change) == {"commit": ("declined", "declined")}
    assert scene.origin.refs() == before


def test_what_the_project_redacts_is_in_no_reason_to_decline(scene: Scene) -> None:
    Repository.objects.update(commit_mode="propose")
    scene.landed(BETTER)
    Project.objects.update(redaction_patterns=["sk-[a-z]+"])

    scene.reviewer.post(f"/actions/{Action.objects.get().uuid}/decline", {"reason": "See sk-abc."})

    assert Action.objects.get().detail == "See [redacted]."
    assert AuditEntry.objects.get(verb="action.declined").reason == "See [redacted]."


def test_doubtful_work_is_kept_on_a_branch_until_a_person_approves_it(scene: Scene) -> None:
    before = scene.origin.tip()
    change = scene.landed(BETTER, tier=1)

    assert (change.run.confidence_level, change.run.action) == ("MEDIUM", "review_branch")
    assert scene.actions_of(change) == {"review_branch": ("done", "")}
    change.run.refresh_from_db()
    assert change.run.review_state == "pending"
    assert scene.origin.tip() == before

    scene.decide(change.run, "pass")
    scene.act()

    assert scene.actions_of(change)["commit"] == ("done", "")
    assert scene.origin.show("rev-parse", "main^{tree}") == change.tree_sha
    assert "LoomVerify-Approved-By: key reviewer" in scene.origin.show(
        "show", "-s", "--format=%B", "main"
    )


def test_the_review_of_a_held_change_opens_with_the_end_of_its_run(scene: Scene) -> None:
    run = scene.verified(BETTER, tier=1).run

    run.refresh_from_db()
    assert (run.state, run.action, run.review_state) == ("finished", "review_branch", "pending")
    review = scene.reviewer.get(f"/runs/{run.uuid}").json()["review"]
    assert (review["state"], review["closed"]) == ("pending", "")
    assert review["reasons"] == ["change_held"]


@pytest.mark.extended
def test_a_review_branch_is_made_by_itself_where_commits_are_only_proposed(scene: Scene) -> None:
    Repository.objects.update(commit_mode="propose", revert_mode="propose")
    main = scene.origin.tip()

    change = scene.landed(BETTER, tier=1)

    assert scene.actions_of(change) == {"review_branch": ("done", "")}
    refs = scene.origin.refs()
    [branch] = set(refs) - {"refs/heads/main"}
    assert branch.startswith("refs/heads/loomverify/review/")
    assert refs["refs/heads/main"] == main
    assert scene.origin.show("rev-parse", f"{branch}^{{tree}}") == change.tree_sha
    assert Review.objects.get(run=change.run).state == "pending"


SCORED = """\
name: scored
phases:
  - id: implement
    description: Write it
    acceptance_criteria: It works
    verification_tier: 2
    score: {threshold: 8.0, max_iterations: 3}
verification:
  policy:
    auto_commit: judge_is_enough
"""
POOR = {"correctness": 1, "completeness": 1, "testing": 0.5, "quality": 0.5, "practice": 0}


def test_a_change_below_its_threshold_is_never_committed(scene: Scene, judge: ModelServer) -> None:
    new_process(scene.project, SCORED)
    judge.script[:] = [json.dumps({"passed": True, "confidence": 0.9, "score": POOR})]
    before = scene.origin.tip()

    run = scene.landed(BETTER, process="scored").run

    assert (run.verdict, run.reason_code, run.action) == ("reject", "below_threshold", "retry")
    assert (Action.objects.count(), scene.origin.tip()) == (0, before)


@pytest.mark.parametrize("policy", ["", "auto_commit: judge_is_enough, "])
def test_a_judge_alone_commits_no_code_that_does_not_parse(scene: Scene, policy: str) -> None:
    warned = f"{policy}static_checks: {{syntax_advisory_paths: app.py}}"
    source = SCORED.partition("    score")[0]
    new_process(scene.project, f"{source}verification: {{policy: {{{warned}}}}}\n")
    before = scene.origin.tip()

    run = scene.landed({"app.py": "def f(:\n"}, process="scored").run

    assert (run.verdict, run.confidence_level, run.action) == (
        "accept", "MEDIUM", "review_branch",
    )  # fmt: skip
    assert scene.origin.tip() == before


def test_a_judge_alone_commits_code_only_where_the_process_says_so(scene: Scene) -> None:
    new_process(scene.project, SCORED.partition("    score")[0])

    run = scene.landed(BETTER, process="scored").run

    assert (run.verdict, run.action) == ("accept", "review_branch")


def test_a_rejected_review_branch_is_closed_and_its_commit_stays_within_reach(
    scene: Scene,
) -> None:
    before = scene.origin.tip()
    change = scene.landed(BETTER, tier=1)
    kept = Action.objects.get(kind="review_branch")

    scene.decide(change.run, "fail")
    scene.act()

    assert scene.actions_of(change) == {"review_branch": ("done", ""), "close": ("done", "")}
    closed = kept.ref.replace("/review/", "/closed/")
    assert scene.origin.refs() == {"refs/heads/main": before, closed: kept.new_sha}


def test_work_that_was_committed_before_and_fails_is_taken_back_by_an_inverse_commit(
    scene: Scene,
) -> None:
    base = scene.origin.tip()
    commit = scene.origin.commit({"app.py": "def add(a, b):\n    return 0\n"})
    later = scene.origin.commit({"notes.txt": BASE["notes.txt"] + "Four.\n"})

    change = scene.landed_commit(base, commit, return_code=1, task={"max_attempts": 1})

    assert (change.run.verdict, change.run.action) == ("reject", "revert")
    assert scene.actions_of(change) == {"revert": ("done", "")}
    tip = scene.origin.tip()
    assert scene.origin.show("rev-parse", f"{tip}^") == later
    assert scene.origin.show("show", f"{tip}:app.py") + "\n" == BASE["app.py"]
    assert scene.origin.show("show", f"{tip}:notes.txt").endswith("Four.")
    assert f"takes back {commit}" in scene.origin.show("show", "-s", "--format=%B", tip)


@pytest.mark.extended
def test_an_inverse_commit_that_conflicts_is_a_persons(scene: Scene) -> None:
    base = scene.origin.tip()
    commit = scene.origin.commit({"app.py": "def add(a, b):\n    return 0\n"})
    tip = scene.origin.commit({"app.py": "def add(a, b):\n    return 1\n"})

    change = scene.landed_commit(base, commit, return_code=1, task={"max_attempts": 1})

    assert scene.actions_of(change) == {"revert": ("held", "conflict")}
    assert scene.origin.refs() == {"refs/heads/main": tip}
    assert Action.objects.get().detail == "It conflicts in app.py."
    change.run.refresh_from_db()
    assert change.run.review_state == "pending"


def test_work_with_attempts_left_moves_nothing(scene: Scene, judge: ModelServer) -> None:
    before = scene.origin.refs()
    judge.script = [lambda _: FAILING]

    change = scene.landed(BETTER)

    assert (change.run.verdict, change.run.action) == ("reject", "retry")
    assert scene.actions_of(change) == {}
    assert scene.origin.refs() == before


def test_a_worker_lost_after_its_push_is_no_second_commit(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    change = scene.verified(BETTER)
    monkeypatch.setattr(working, "_settle", lost)
    with pytest.raises(Killed):
        scene.act()
    landed = scene.origin.tip()
    monkeypatch.undo()
    Action.objects.update(lease_until=None)

    scene.act()

    assert scene.actions_of(change) == {"commit": ("done", "")}
    assert scene.origin.tip() == landed
    assert Action.objects.get().new_sha == landed


@pytest.mark.extended
def test_a_repository_that_is_away_is_tried_again_and_then_a_persons(scene: Scene) -> None:
    change = scene.verified(BETTER)
    away = scene.origin.path.rename(scene.origin.path.with_name("away"))

    scene.act()

    action = Action.objects.get()
    assert (action.state, action.attempts, action.lease_until) == ("pending", 1, None)
    assert action.next_at > timezone.now()
    Action.objects.update(attempts=working.MAX_ATTEMPTS - 1)
    scene.act()
    assert scene.actions_of(change) == {
        "commit": ("held", "repository_unreachable"), "review_branch": ("pending", ""),
    }  # fmt: skip

    away.rename(scene.origin.path)
    scene.reviewer.post(f"/actions/{action.uuid}/approve")
    scene.act()
    assert scene.actions_of(change)["commit"] == ("done", "")


def test_nothing_lands_while_its_run_is_verified_again(scene: Scene) -> None:
    before = scene.origin.refs()
    change = scene.verified(BETTER)
    scene.agent.post(f"/runs/{change.run.uuid}/reverify")

    scene.act()

    assert scene.actions_of(change) == {"commit": ("pending", "")}
    assert scene.origin.refs() == before


@pytest.mark.extended
def test_a_checked_out_target_branch_is_left_to_its_owner_unless_they_said_otherwise(
    scene: Scene,
) -> None:
    Repository.objects.update(location=str(scene.origin.clone))
    (scene.origin.clone / "notes.txt").write_text("Mine, unfinished.\n")
    (scene.origin.clone / "untracked").write_text("Mine, too.\n")
    head = git(scene.origin.clone, "rev-parse", "HEAD")
    status = git(scene.origin.clone, "status", "--porcelain")
    patch = scene.patch_of_text("app.py", BASE["app.py"], BETTER["app.py"])
    change = scene.verify(scene.taken(scene.answer(patch)))

    scene.act()
    scene.act()

    assert scene.actions_of(change) == {
        "commit": ("held", "checked_out"), "review_branch": ("done", ""),
    }  # fmt: skip
    assert git(scene.origin.clone, "rev-parse", "HEAD") == head
    assert git(scene.origin.clone, "status", "--porcelain") == status

    Repository.objects.update(lands_checked_out=True)
    scene.reviewer.post(f"/actions/{Action.objects.get(kind='commit').uuid}/approve")
    scene.act()

    assert scene.actions_of(change)["commit"] == ("done", "")
    assert git(scene.origin.clone, "rev-parse", "main^") == head
    assert (scene.origin.clone / "app.py").read_text() == BASE["app.py"]
    assert (scene.origin.clone / "notes.txt").read_text() == "Mine, unfinished.\n"
