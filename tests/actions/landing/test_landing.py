from __future__ import annotations

import pytest

from tests.actions.landing.scene import BASE, Scene
from verification.actions.models import Change
from verification.runs.models import BaseFile, RunFile

pytestmark = pytest.mark.django_db

BETTER = {"app.py": BASE["app.py"] + "\n\ndef sub(a, b):\n    return a - b\n"}


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
