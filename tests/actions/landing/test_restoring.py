"""What was taken back and is approved after all is put back, as often as people change their minds."""

from __future__ import annotations

from typing import Any

import pytest

from tests.actions.landing.scene import BASE, Scene
from verification.actions.landing import following, steps, working
from verification.actions.models import Action, Change, Repository
from verification.adapters.git import GitLost, Mirror
from verification.runs import outbox
from verification.runs.models import OutboxEvent

pytestmark = pytest.mark.django_db

BETTER = {"app.py": BASE["app.py"] + "\n\ndef sub(a, b):\n    return a - b\n"}
WORSE = {"app.py": "def add(a, b):\n    return 0\n"}


def failed(scene: Scene) -> Change:
    """Work that was committed before verification rejected it."""
    base = scene.origin.tip()
    commit = scene.origin.commit(WORSE)
    return scene.landed_commit(base, commit, return_code=1, task={"max_attempts": 1})


def changed_mind(scene: Scene, change: Change, outcome: str) -> None:
    """Decide, or decide again."""
    change.run.refresh_from_db()
    if change.run.review_state == "not_required":
        scene.ask(change.run)
    scene.decide(change.run, outcome)
    scene.act()


def test_work_that_was_taken_back_and_is_approved_is_put_back_by_a_commit_of_its_own(
    scene: Scene,
) -> None:
    change = failed(scene)
    taken_back = scene.origin.tip()
    assert scene.actions_of(change) == {"revert": ("done", "")}

    changed_mind(scene, change, "pass")

    assert scene.actions_of(change) == {"revert": ("done", ""), "restore": ("done", "")}
    tip = scene.origin.tip()
    assert scene.origin.show("rev-parse", f"{tip}^", f"{tip}^{{tree}}").split() == [
        taken_back, change.tree_sha,
    ]  # fmt: skip
    message = scene.origin.show("show", "-s", "--format=%B", tip)
    assert message.startswith("Restore: ")
    assert f"This puts back {change.commit_sha}" in message
    assert "LoomVerify-Approved-By: key reviewer" in message
    restored = Action.objects.get(kind="restore")
    assert (restored.expected_sha, restored.new_sha) == (taken_back, tip)


@pytest.mark.extended
def test_events_that_come_again_put_nothing_back_twice(scene: Scene) -> None:
    change = failed(scene)
    changed_mind(scene, change, "pass")
    rows, refs = list(Action.objects.order_by("pk").values()), scene.origin.refs()

    for _ in range(2):
        OutboxEvent.objects.update(dispatched_at=None)
        outbox.dispatch()
        scene.act()

    assert (list(Action.objects.order_by("pk").values()), scene.origin.refs()) == (rows, refs)


@pytest.mark.extended
def test_people_may_change_their_minds_as_often_as_they_like(scene: Scene) -> None:
    change = failed(scene)
    base_tree = scene.origin.show("rev-parse", f"{change.base_sha}^{{tree}}")
    reached: set[str] = set()

    for outcome in ("pass", "fail", "pass", "fail", "fail", "pass_with_warnings"):
        changed_mind(scene, change, outcome)
        tree = scene.origin.show("rev-parse", "main^{tree}")
        assert tree == (base_tree if outcome == "fail" else change.tree_sha)
        seen = set(scene.origin.show("rev-list", "main").split())
        assert reached <= seen, "no commit is lost"
        reached = seen

    turns = Action.objects.order_by("pk").values_list("kind", "turn", "state")
    assert list(turns) == [
        ("revert", 1, "done"), ("restore", 1, "done"), ("revert", 2, "done"),
        ("restore", 2, "done"), ("revert", 3, "done"), ("restore", 3, "done"),
    ]  # fmt: skip


def test_a_person_who_rejects_what_landed_has_it_taken_back_or_proposed_to_be(
    scene: Scene,
) -> None:
    change = scene.landed(BETTER)
    landed = scene.origin.tip()
    Repository.objects.update(revert_mode="propose")

    changed_mind(scene, change, "fail")

    assert scene.actions_of(change) == {"commit": ("done", ""), "revert": ("proposed", "")}
    assert scene.origin.tip() == landed
    [proposed] = scene.reviewer.get("/actions?state=proposed").json()["items"]
    scene.reviewer.post(f"/actions/{proposed['id']}/approve")
    scene.act()
    assert scene.actions_of(change)["revert"] == ("done", "")
    assert scene.origin.show("rev-parse", "main^{tree}") == scene.origin.show(
        "rev-parse", f"{change.base_sha}^{{tree}}"
    )


@pytest.mark.extended
def test_a_proposal_to_take_it_back_stays_when_a_person_confirms_the_verdict(scene: Scene) -> None:
    Repository.objects.update(revert_mode="propose")
    change = failed(scene)
    before = scene.origin.refs()

    changed_mind(scene, change, "fail")
    assert scene.actions_of(change) == {"revert": ("proposed", "")}

    changed_mind(scene, change, "pass")
    assert scene.actions_of(change) == {"revert": ("withdrawn", "overtaken")}
    changed_mind(scene, change, "fail")

    assert scene.actions_of(change) == {"revert": ("proposed", "")}
    assert scene.origin.refs() == before


@pytest.mark.extended
def test_a_declined_revert_is_proposed_anew_by_a_later_rejection_alone(scene: Scene) -> None:
    Repository.objects.update(revert_mode="propose")
    change = failed(scene)
    scene.reviewer.post(f"/actions/{Action.objects.get().uuid}/decline", {"reason": "It stays."})
    OutboxEvent.objects.update(dispatched_at=None)
    scene.act()
    assert scene.actions_of(change) == {"revert": ("declined", "declined")}

    changed_mind(scene, change, "fail")

    assert scene.actions_of(change) == {"revert": ("proposed", "")}
    assert Action.objects.get().decided_by == "", "nobody let it be done yet"


@pytest.mark.extended
def test_what_others_committed_meanwhile_has_it_verified_upon_theirs(scene: Scene) -> None:
    change = failed(scene)
    theirs = scene.origin.commit({"notes.txt": "Theirs.\n"})

    changed_mind(scene, change, "pass")

    assert scene.actions_of(change)["restore"] == ("withdrawn", "base_moved")
    assert scene.origin.tip() == theirs
    again = Change.objects.get(follows=change)
    assert again.base_sha == theirs
    scene.verify(again)
    scene.act()
    # The verdict is the same upon theirs: who approved it before is asked, and decides.
    again.run.refresh_from_db()
    assert (again.run.verdict, again.run.review_state) == ("reject", "pending")
    scene.decide(again.run, "pass")
    scene.act()
    assert scene.actions_of(again) == {"commit": ("done", "")}
    tip = scene.origin.tip()
    assert scene.origin.show("rev-parse", f"{tip}^") == theirs
    assert scene.origin.show("show", f"{tip}:app.py") + "\n" == WORSE["app.py"]
    assert scene.origin.show("show", f"{tip}:notes.txt") == "Theirs."


@pytest.mark.extended
def test_what_somebody_put_back_by_hand_is_left_as_it_is(scene: Scene) -> None:
    change = failed(scene)
    by_hand = scene.origin.commit(WORSE)

    changed_mind(scene, change, "pass")

    assert scene.actions_of(change)["restore"] == ("done", "")
    assert scene.origin.tip() == by_hand
    changed_mind(scene, change, "fail")
    tip = scene.origin.tip()
    assert scene.origin.show("rev-parse", f"{tip}^") == by_hand
    assert scene.origin.show("show", f"{tip}:app.py") + "\n" == BASE["app.py"]


@pytest.mark.extended
def test_a_decision_that_comes_while_a_worker_looks_is_followed_at_once(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    change = scene.verified(BETTER)
    before = scene.origin.refs()
    scene.ask(change.run)
    plan = steps.plan

    def rejected_meanwhile(action: Action, mirror: Mirror) -> Any:
        monkeypatch.undo()
        planned = plan(action, mirror)
        scene.decide(change.run, "fail")
        return planned

    monkeypatch.setattr(working, "plan", rejected_meanwhile)
    scene.act()

    assert scene.actions_of(change) == {"commit": ("withdrawn", "overtaken")}
    assert scene.origin.refs() == before


@pytest.mark.extended
def test_work_whose_base_moved_is_not_verified_again_once_a_person_rejected_it(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    change = scene.verified(BETTER)
    scene.ask(change.run)
    plan = steps.plan

    def rejected_meanwhile(action: Action, mirror: Mirror) -> Any:
        monkeypatch.undo()
        scene.origin.commit({"notes.txt": "Theirs.\n"})
        scene.decide(change.run, "fail")
        return plan(action, mirror)

    monkeypatch.setattr(working, "plan", rejected_meanwhile)
    scene.act()

    assert scene.actions_of(change) == {"commit": ("withdrawn", "overtaken")}
    assert not Change.objects.filter(follows=change).exists()


@pytest.mark.extended
@pytest.mark.parametrize("was_heard", [True, False])
def test_a_push_whose_answer_was_lost_is_looked_for_before_anything_else_follows(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, was_heard: bool
) -> None:
    change = scene.verified(BETTER)
    base_tree = scene.origin.show("rev-parse", "main^{tree}")
    scene.ask(change.run)
    push = Mirror.push

    def lost(self: Mirror, *words: Any, **named: Any) -> None:
        if was_heard:
            push(self, *words, **named)
        raise GitLost("timed_out", "git took too long")

    monkeypatch.setattr(Mirror, "push", lost)
    scene.act()
    monkeypatch.undo()
    assert scene.actions_of(change) == {"commit": ("pending", "")}

    scene.decide(change.run, "fail")
    for _ in range(3):
        scene.act()

    expected = {"commit": ("withdrawn", "overtaken")}
    if was_heard:
        expected = {"commit": ("done", ""), "revert": ("done", "")}
    assert scene.actions_of(change) == expected
    assert scene.origin.show("rev-parse", "main^{tree}") == base_tree


@pytest.mark.extended
def test_an_approval_that_is_told_again_submits_nothing_anew(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    change = scene.landed(BETTER, tier=1)
    scene.origin.commit({"notes.txt": "Theirs.\n"})
    scene.decide(change.run, "pass")
    scene.act()
    assert scene.actions_of(change)["commit"] == ("withdrawn", "base_moved")
    scene.origin.commit({"notes.txt": "Theirs, again.\n"})

    monkeypatch.setattr(following, "submit", None)
    OutboxEvent.objects.filter(run=change.run).update(dispatched_at=None)
    scene.act()
    scene.act()

    assert scene.actions_of(change)["commit"] == ("withdrawn", "base_moved")
    assert Change.objects.filter(follows=change).count() == 1
