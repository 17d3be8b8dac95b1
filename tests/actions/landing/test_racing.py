"""Workers that race, die and meet servers that refuse: with real connections, processes and hooks."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from tests.actions.landing.scene import BASE, Origin, Scene
from tests.adapters.git.serving import served
from verification.actions.landing import working
from verification.actions.models import Action, Change, Repository
from verification.adapters.git import Mirror
from verification.adapters.git import calling as git_calling

BETTER = {"app.py": BASE["app.py"] + "\n\ndef sub(a, b):\n    return a - b\n"}
MORE = {"notes.txt": "One.\nTwo.\nThree.\nFour.\n"}
WAIT_SECONDS = 60

Act = Callable[[], Any]


def at_once(*acts: Act) -> None:
    """Each in a thread with a connection of its own; what one raises is raised here."""
    raised: list[BaseException] = []

    def run(act: Act) -> None:
        try:
            act()
        except BaseException as error:
            raised.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=(act,)) for act in acts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(WAIT_SECONDS)
    assert not raised, raised


def attempt(action: Action) -> Act:
    return lambda: working.act(action_id=action.pk, attempt=action.attempts + 1)


@pytest.mark.extended
@pytest.mark.django_db(transaction=True)
def test_of_two_workers_that_push_at_the_same_moment_one_lands_and_the_other_is_verified_again(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes = [scene.verified(BETTER), scene.verified(MORE)]
    before, both = scene.origin.tip(), threading.Barrier(2, timeout=WAIT_SECONDS)
    push = Mirror.push

    def together(mirror: Mirror, *words: Any, **named: Any) -> None:
        both.wait()
        push(mirror, *words, **named)

    monkeypatch.setattr(Mirror, "push", together)
    at_once(*[attempt(Action.objects.get(change=change)) for change in changes])
    monkeypatch.undo()

    ends = sorted(scene.actions_of(change)["commit"] for change in changes)
    assert ends == [("done", ""), ("withdrawn", "base_moved")]
    first = scene.origin.tip()
    assert scene.origin.show("rev-parse", f"{first}^") == before
    again = Change.objects.get(follows__isnull=False)
    scene.verify(again)
    scene.act()
    assert scene.actions_of(again) == {"commit": ("done", "")}
    assert scene.origin.show("rev-parse", "main^") == first
    assert scene.origin.show("show", "main:app.py") == BETTER["app.py"].strip()
    assert scene.origin.show("show", "main:notes.txt") == MORE["notes.txt"].strip()


@pytest.mark.extended
@pytest.mark.django_db(transaction=True)
def test_one_action_that_is_woken_twice_is_done_by_one_worker(scene: Scene) -> None:
    change = scene.verified(BETTER)
    before, action = scene.origin.tip(), Action.objects.get()

    at_once(*[attempt(action)] * 4)

    assert scene.actions_of(change) == {"commit": ("done", "")}
    assert Action.objects.get().attempts == 1
    assert scene.origin.show("rev-list", "--count", f"{before}..main") == "1"


@pytest.mark.extended
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("outcome", ["", "fail"])
def test_a_worker_killed_between_its_push_and_what_it_writes_leaves_one_commit(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, outcome: str
) -> None:
    change = scene.verified(BETTER)
    base = scene.origin.tip()
    monkeypatch.setattr(working, "_settle", lambda *_: os.kill(os.getpid(), signal.SIGKILL))
    assert killed(attempt(Action.objects.get())) == -signal.SIGKILL
    monkeypatch.undo()
    landed, action = scene.origin.tip(), Action.objects.get()
    assert landed != base
    assert (action.state, action.new_sha) == ("pending", landed)
    if outcome:  # meanwhile nobody knows whether it landed: it is found out before it is followed
        scene.ask(change.run)
        scene.decide(change.run, outcome)
        assert scene.actions_of(change) == {"commit": ("pending", "")}

    Action.objects.update(lease_until=None)
    scene.act()
    scene.act()

    assert scene.actions_of(change)["commit"] == ("done", "")
    if outcome:
        assert scene.actions_of(change)["revert"] == ("done", "")
        assert scene.origin.show("rev-parse", "main^") == landed
    else:
        assert scene.origin.tip() == landed


def killed(act: Act) -> int:
    """Do it in another process, and return the signal that ended that one."""
    connection.close()  # a child would end the session that it shares
    child = os.fork()
    if child == 0:
        try:
            act()
        finally:
            os._exit(1)
    _pid, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


@pytest.mark.extended
@pytest.mark.django_db
def test_what_a_server_s_hook_refuses_is_kept_on_a_branch_and_is_a_persons(scene: Scene) -> None:
    refuse_main(scene.origin)
    with served(scene.origin.path.parent) as (url, _):
        Repository.objects.update(location=f"{url}/{scene.origin.path.name}")
        before = scene.origin.tip()
        change = scene.landed(BETTER)
        scene.act()

        held = Action.objects.get(kind="commit")
        assert (held.state, held.reason_code) == ("held", "push_refused")
        assert "hook" in held.detail
        assert scene.origin.tip() == before
        assert scene.actions_of(change)["review_branch"] == ("done", "")
        change.run.refresh_from_db()
        assert change.run.review_state == "pending"

        (scene.origin.path / "hooks" / "update").unlink()
        scene.reviewer.post(f"/actions/{held.uuid}/approve")
        scene.act()
        assert scene.actions_of(change)["commit"] == ("done", "")


@pytest.mark.extended
@pytest.mark.django_db
def test_a_server_that_hangs_is_tried_again_and_holds_nobody_for_ever(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    change = scene.verified(BETTER)
    told = git_calling.Git
    monkeypatch.setattr(
        "verification.adapters.git.mirror.Git",
        lambda *words: replace(told(*words), seconds=0.5),
    )
    with served(scene.origin.path.parent, mode="hangs") as (url, _):
        Repository.objects.update(location=f"{url}/{scene.origin.path.name}")
        scene.act()

    action = Action.objects.get()
    assert (action.state, action.attempts, action.lease_until) == ("pending", 1, None)
    assert action.detail.startswith("timed_out")
    monkeypatch.undo()
    Repository.objects.update(location=str(scene.origin.path))
    scene.act()
    assert scene.actions_of(change) == {"commit": ("done", "")}


def refuse_main(origin: Origin) -> None:
    hook = Path(origin.path, "hooks", "update")
    hook.parent.mkdir(exist_ok=True)
    hook.write_text('#!/bin/sh\n[ "$1" != refs/heads/main ] || { echo Frozen. >&2; exit 1; }\n')
    hook.chmod(0o755)
