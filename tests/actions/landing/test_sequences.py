"""Whatever verdicts, people, redeliveries and other committers do, and in whatever order."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from tests.actions.landing.scene import BASE, Scene, git
from tests.adapters.git.repositories import contents
from verification.actions.models import Action, ActionState, Change, Repository
from verification.adapters.git import GitLost, Mirror
from verification.runs import outbox
from verification.runs.models import OutboxEvent, ReviewState

pytestmark = pytest.mark.django_db

SEEDS = range(8)
STEPS = 10
SETTLING = 12
WORK = {"app.py": BASE["app.py"] + "\n\ndef sub(a, b):\n    return a - b\n"}
OTHERS = ("Theirs.\n", "Theirs, too.\n")


class World:
    """One change that landed, was rejected or is doubtful, and everybody who has a word about it."""

    def __init__(self, scene: Scene, draw: random.Random, patch: pytest.MonkeyPatch) -> None:
        self.scene, self.draw, self.patch = scene, draw, patch
        self.folder = scene.origin.clone
        self.change = self._begin()
        (self.folder / "untracked").write_text("Mine.\n")
        (self.folder / "notes.txt").write_text("Mine, unfinished.\n")
        git(self.folder, "stash")
        (self.folder / "app.py").write_text("Dirty.\n")
        git(self.folder, "add", "app.py")
        (self.folder / "app.py").write_text("Dirtier.\n")
        Repository.objects.update(location=str(self.folder), lands_checked_out=True)
        self.files = contents(self.folder)
        self.moved_by_others = 0

    def _begin(self) -> Change:
        scene, kind = self.scene, self.draw.choice(["landed", "doubtful", "failed"])
        if kind == "failed":
            base = scene.origin.tip()
            commit = scene.origin.commit(WORK)
            change = {"base": base, "patch": None, "commit": commit}
            task = {"max_attempts": 1}
            taken = scene.taken(scene.answer("", change=change, return_code=1, task=task))
        else:
            taken = scene.submitted(WORK, tier=1 if kind == "doubtful" else 2)
        git(scene.origin.clone, "checkout", "-q", "-B", "main", "origin/main")
        return scene.verify(taken)

    def refs(self) -> dict[str, str]:
        listed = git(self.folder, "for-each-ref", "--format=%(refname) %(objectname)")
        return dict(line.split(" ") for line in listed.splitlines())

    def reached(self) -> set[str]:
        return set(git(self.folder, "rev-list", "--all").split())

    def others_commit(self) -> None:
        """Somebody else's commit, made beside the work tree."""
        tip = git(self.folder, "rev-parse", "refs/heads/main")
        text = OTHERS[self.moved_by_others % 2]
        self.moved_by_others += 1
        blob = git(self.folder, "hash-object", "-w", "--stdin", given=text)
        rows = [
            row for row in git(self.folder, "ls-tree", tip).splitlines()
            if not row.endswith("\tothers.txt")
        ]  # fmt: skip
        tree = git(
            self.folder,
            "mktree",
            given="\n".join([*rows, f"100644 blob {blob}\tothers.txt"]) + "\n",
        )
        made = git(self.folder, "commit-tree", "-m", "Theirs", "-p", tip, tree)
        git(self.folder, "update-ref", "refs/heads/main", made, tip)

    def decide(self) -> None:
        change = self.draw.choice(list(Change.objects.select_related("run")))
        run = change.run
        if run.state != "finished":
            return
        if run.review_state == "not_required":
            self.scene.ask(run)
        self.scene.decide(run, self.draw.choice(["pass", "fail"]))

    def reverify(self) -> None:
        run = self.change.run
        self.scene.agent.post(f"/runs/{run.uuid}/reverify")
        self.scene.verify(self.change)

    def redeliver(self) -> None:
        OutboxEvent.objects.update(dispatched_at=None)
        outbox.dispatch()

    def approve(self) -> None:
        self._decide_action("approve", {})

    def decline(self) -> None:
        self._decide_action("decline", {"reason": "No."})

    def _decide_action(self, verb: str, body: dict[str, Any]) -> None:
        waiting = Action.objects.filter(state__in=("proposed", "held")).first()
        if waiting is not None:
            self.scene.reviewer.post(f"/actions/{waiting.uuid}/{verb}", body)

    def act(self) -> None:
        for later in Change.objects.filter(follows__isnull=False, run__state="queued"):
            self.scene.verify(later)
        self.scene.act()

    def act_and_die(self) -> None:
        """The push is made, and nobody hears of it."""
        push = Mirror.push

        def lost(mirror: Mirror, *words: Any, **named: Any) -> None:
            push(mirror, *words, **named)
            raise GitLost("killed", "git was killed")

        with self.patch.context() as patched:
            patched.setattr(Mirror, "push", lost)
            self.scene.act()

    def change_modes(self) -> None:
        mode = self.draw.choice(["do", "propose"])
        field = self.draw.choice(["commit_mode", "branch_mode", "revert_mode"])
        Repository.objects.update(**{field: mode})

    def step(self) -> Callable[[], None]:
        return self.draw.choice([
            self.others_commit, self.decide, self.decide, self.reverify, self.redeliver,
            self.approve, self.decline, self.act, self.act, self.act_and_die, self.change_modes,
        ])  # fmt: skip


def check_step(world: World, step: Callable[[], None], before: dict[str, str]) -> None:
    """What moved moved forward, and where a row of ours says so; the rest stayed."""
    after = world.refs()
    for ref in before.keys() | after.keys():
        was, now = before.get(ref), after.get(ref)
        if was == now or step == world.others_commit:
            continue
        assert step in (world.act, world.act_and_die), f"{ref} moved by {step.__name__}"
        assert ref == "refs/heads/main" or ref.startswith("refs/heads/loomverify/"), ref
        if now is None:
            assert was in after.values(), f"{ref} is gone, and its commit with it"
        elif was is not None:
            git(world.folder, "merge-base", "--is-ancestor", was, now)


@pytest.mark.extended
@pytest.mark.parametrize("seed", SEEDS)
def test_no_sequence_loses_a_commit_moves_another_ref_or_touches_files(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    world = World(scene, random.Random(seed), monkeypatch)  # noqa: S311 - the same each time
    done: list[str] = []
    for _ in range(STEPS):
        before, reached, step = world.refs(), world.reached(), world.step()
        done.append(step.__name__)
        step()

        check_step(world, step, before)
        assert reached <= world.reached(), done
        assert contents(world.folder) == world.files, done
    settle(world)

    assert contents(world.folder) == world.files, done
    assert_the_last_word_holds(world, done)


def settle(world: World) -> None:
    """Everything is done by itself from here, until nothing is left to do; then twice the same."""
    Repository.objects.update(commit_mode="do", branch_mode="do", revert_mode="do")
    for _ in range(SETTLING):
        world.act()
        if not Action.objects.filter(state=ActionState.PENDING).exists():
            break
    rows, refs = list(Action.objects.order_by("pk").values()), world.refs()
    world.redeliver()
    pending = Action.objects.filter(state=ActionState.PENDING)
    assert not pending.exists(), list(pending.values("kind", "turn", "detail"))
    assert (list(Action.objects.order_by("pk").values()), world.refs()) == (rows, refs)


def assert_the_last_word_holds(world: World, done: list[str]) -> None:
    """Rejected work is on the branch only where a person or a proposal keeps it there."""
    change = world.change
    change.run.refresh_from_db()
    if change.run.review_state != ReviewState.DECIDED:
        return
    waiting = Action.objects.exclude(state__in=("done", "withdrawn")).exists()
    followed = Change.objects.filter(follows=change).exists()
    if waiting or followed:
        return
    has_work = "def sub" in git(world.folder, "show", "main:app.py")
    assert has_work is (change.run.final_outcome != "fail"), done
