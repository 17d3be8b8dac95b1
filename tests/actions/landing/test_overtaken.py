from __future__ import annotations

from typing import Any

import pytest

from tests.actions.landing.scene import BASE, Scene
from tests.runs.conftest import problem
from verification.actions.landing import working
from verification.actions.models import Action, Change, Repository
from verification.runs import outbox
from verification.runs.models import OutboxEvent

pytestmark = pytest.mark.django_db

BETTER = {"app.py": BASE["app.py"] + "\n\ndef sub(a, b):\n    return a - b\n"}


def again(scene: Scene, change: Change) -> None:
    scene.agent.post(f"/runs/{change.run.uuid}/reverify")
    scene.verify(change)
    change.run.refresh_from_db()


def test_a_last_attempt_that_was_lost_is_a_persons(scene: Scene) -> None:
    change = scene.verified(BETTER)
    Action.objects.update(attempts=working.MAX_ATTEMPTS)

    scene.act()

    assert scene.actions_of(change)["commit"] == ("held", "repository_unreachable")
    change.run.refresh_from_db()
    assert change.run.review_state == "pending"


@pytest.mark.extended
def test_what_fails_by_itself_is_tried_again(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> None:
        raise ValueError("hidden")

    change = scene.verified(BETTER)
    monkeypatch.setattr(working, "plan", broken)
    scene.act()

    [action] = Action.objects.all()
    assert (action.state, action.detail) == ("pending", "It failed by itself: ValueError.")
    monkeypatch.undo()
    scene.act()
    assert scene.actions_of(change) == {"commit": ("done", "")}


@pytest.mark.extended
def test_a_verdict_that_is_found_again_lands_by_the_newer_evaluation(scene: Scene) -> None:
    change = scene.verified(BETTER)
    [before] = Action.objects.all()

    again(scene, change)
    scene.act()

    [after] = Action.objects.all()
    assert after.evidence["evaluation"] != before.evidence["evaluation"]
    assert scene.actions_of(change) == {"commit": ("done", "")}


@pytest.mark.extended
def test_a_wait_for_another_verification_uses_up_no_attempt(scene: Scene) -> None:
    change = scene.verified(BETTER)
    scene.agent.post(f"/runs/{change.run.uuid}/reverify")

    for _ in range(working.MAX_ATTEMPTS + 2):
        scene.act()

    assert scene.actions_of(change) == {"commit": ("pending", "")}
    scene.verify(change)
    scene.act()
    assert scene.actions_of(change) == {"commit": ("done", "")}


@pytest.mark.extended
def test_what_was_declined_after_an_approval_stays_so_when_it_is_verified_again(
    scene: Scene,
) -> None:
    change = scene.landed(BETTER, tier=1)
    Repository.objects.update(is_removed=True)
    scene.decide(change.run, "pass")
    scene.act()
    Repository.objects.update(is_removed=False)
    before = scene.origin.refs()
    held = Action.objects.get(kind="commit")
    scene.reviewer.post(f"/actions/{held.uuid}/decline", {"reason": "No more."})

    again(scene, change)
    scene.act()

    assert scene.actions_of(change)["commit"] == ("declined", "declined")
    assert scene.origin.refs() == before


def test_a_revert_that_a_person_does_not_want_is_taken_back(scene: Scene) -> None:
    base = scene.origin.tip()
    commit = scene.origin.commit({"app.py": "def add(a, b):\n    return 0\n"})
    Repository.objects.update(revert_mode="propose")
    change = scene.landed_commit(base, commit, return_code=1, task={"max_attempts": 1})
    assert scene.actions_of(change) == {"revert": ("proposed", "")}

    scene.decide(change.run, "pass")
    scene.act()

    assert scene.actions_of(change) == {"revert": ("withdrawn", "overtaken")}
    assert scene.origin.tip() == commit


@pytest.mark.extended
def test_more_than_one_commit_is_taken_back_by_a_persons_word_alone(scene: Scene) -> None:
    base = scene.origin.tip()
    scene.origin.commit({"notes.txt": "Somebody else's.\n"})
    tip = scene.origin.commit({"app.py": "def add(a, b):\n    return 0\n"})

    change = scene.landed_commit(base, tip, return_code=1, task={"max_attempts": 1})

    assert scene.actions_of(change) == {"revert": ("held", "many_commits")}
    assert scene.origin.tip() == tip
    scene.reviewer.post(f"/actions/{Action.objects.get().uuid}/approve")
    scene.act()
    assert (
        scene.origin.show("rev-parse", "main^{tree}", f"{base}^{{tree}}").split()
        == [scene.origin.show("rev-parse", f"{base}^{{tree}}")] * 2
    )


def test_a_commit_that_is_not_on_the_target_branch_is_none_that_landed(scene: Scene) -> None:
    base = scene.origin.tip()
    aside = scene.origin.commit({"app.py": None}, branch="topic")

    answer = scene.answer("", change={"base": base, "patch": None, "commit": aside})

    assert problem(answer) == (422, "change.not_landed", ["body", "change", "commit"])


@pytest.mark.extended
def test_work_that_a_person_rejected_lands_upon_no_other_base(scene: Scene) -> None:
    first, second = scene.verified({"notes.txt": None}), scene.verified(BETTER)
    scene.act()
    carried = Change.objects.get(follows=second)
    tip = scene.origin.tip()
    scene.ask(second.run)

    scene.decide(second.run, "fail")
    scene.verify(carried)
    scene.act()

    assert scene.actions_of(first) == {"commit": ("done", "")}
    assert scene.actions_of(carried) == {}
    assert scene.origin.tip() == tip


@pytest.mark.extended
def test_a_rejection_that_comes_while_a_worker_pushes_takes_the_work_back(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    change = scene.verified(BETTER)
    base = scene.origin.tip()
    scene.ask(change.run)
    settle = working._settle

    def rejected_meanwhile(action: Action, ended: dict[str, Any]) -> Any:
        monkeypatch.undo()
        scene.decide(change.run, "fail")
        return settle(action, ended)

    monkeypatch.setattr(working, "_settle", rejected_meanwhile)
    scene.act()
    scene.act()

    assert scene.actions_of(change) == {"commit": ("done", ""), "revert": ("done", "")}
    assert scene.origin.show("rev-parse", "main^{tree}") == scene.origin.show(
        "rev-parse", f"{base}^{{tree}}"
    )


@pytest.mark.extended
def test_events_that_come_twice_change_nothing(scene: Scene) -> None:
    change = scene.landed(BETTER, tier=1)
    scene.decide(change.run, "pass")
    scene.act()
    before, refs = scene.actions_of(change), scene.origin.refs()

    OutboxEvent.objects.update(dispatched_at=None)
    outbox.dispatch()
    scene.act()

    assert (scene.actions_of(change), scene.origin.refs()) == (before, refs)


def test_what_a_person_rejected_is_not_let_be_done_though_the_relay_has_not_turned(
    scene: Scene,
) -> None:
    Repository.objects.update(commit_mode="propose")
    change = scene.verified(BETTER)
    before, action = scene.origin.tip(), Action.objects.get()
    scene.ask(change.run)
    scene.reviewer.post(f"/runs/{change.run.uuid}/review", {"outcome": "fail"})

    answer = scene.reviewer.post(f"/actions/{action.uuid}/approve")
    scene.act()

    assert problem(answer)[:2] == (409, "action.overtaken")
    assert scene.origin.tip() == before
    assert scene.actions_of(change) == {"commit": ("withdrawn", "overtaken")}
