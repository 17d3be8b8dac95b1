"""What holds whatever has happened to a repository, and whoever else writes to it."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st

from tests.adapters.git.repositories import AT, LOOM, Repo, contents, mirror_of, worked_in
from verification.adapters.git import (
    ChangeRefused,
    Conflicted,
    Mirror,
    Moved,
    PushRefused,
    RefUpdate,
)

BRANCHES = ("main", "side", "free")
OWN = "refs/heads/loomverify/review/x"
NUMBERS = st.integers(0, 3)
BRANCH = st.sampled_from(BRANCHES)

Step = tuple[str, str, int]
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["land", "land", "review", "close", "revert", "rebase", "stale", "rewind"]),
        BRANCH,
        NUMBERS,
    ),
    min_size=3,
    max_size=6,
)


class World:
    """A user's dirty repository, others who commit to it, and our mirror of it."""

    def __init__(self, home: Path) -> None:
        self.marks = home / "marks"
        self.repo: Repo = worked_in(home / "user", self.marks)
        self.first = self.repo.refs()["refs/heads/main"]
        self.repo.git("update-ref", "refs/heads/free", self.first)
        self.mirror: Mirror = mirror_of(self.repo, home / "mirror")
        self.folders = (self.repo.folder, home / "linked")
        self.before = contents(*self.folders)
        self.seen: dict[str, str] = self.repo.refs()

    def change(self, base: str, number: int) -> str:
        patch = f"--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,4 @@\n one\n two\n three\n+{number}\n"
        with suppress(ChangeRefused):
            return self.mirror.with_patch(base, patch.encode())
        return self.mirror.tree_of(base)

    def made(self, tree: str, parent: str) -> str:
        return self.mirror.commit(tree, parent, "m", identity=LOOM, at=AT)

    def push(self, ref: str, expected: str | None, new: str | None) -> bool:
        """Push with what was seen; say whether it landed. Only this ref may have moved then."""
        before = self.repo.refs()
        with suppress(Moved, PushRefused):
            self.mirror.push([RefUpdate(ref, expected, new)], lands_checked_out=True)
            after = {name: at for name, at in {**before, ref: new}.items() if at}
            assert self.repo.refs() == after
            assert before.get(ref) in (expected, new)
            return True
        assert self.repo.refs() == before
        return False


def land(world: World, branch: str, number: int) -> None:
    tip = world.mirror.resolve(branch)
    world.push(f"refs/heads/{branch}", tip, world.made(world.change(tip, number), tip))


def review(world: World, branch: str, number: int) -> None:
    tip = world.mirror.resolve(branch)
    world.push(OWN, None, world.made(world.change(tip, number), tip))


def close(world: World, _branch: str, number: int) -> None:
    found = world.mirror.tip(OWN.removeprefix("refs/heads/"))
    if found and number:
        assert not world.push(OWN, world.first, None) or found == world.first
    if found:
        assert world.push(OWN, found, None) or found == world.first


def revert(world: World, branch: str, _number: int) -> None:
    tip = world.mirror.resolve(branch)
    parent = world.mirror.parent(tip)
    if parent:
        with suppress(Conflicted):
            undone = world.mirror.reverted(parent, tip, tip)
            assert undone == world.mirror.tree_of(parent)
            world.push(f"refs/heads/{branch}", tip, world.made(undone, tip))


def rebase(world: World, branch: str, number: int) -> None:
    tip = world.mirror.resolve(branch)
    with suppress(Conflicted):
        carried = world.mirror.rebased(world.first, world.change(world.first, number), tip)
        world.push(f"refs/heads/{branch}", tip, world.made(carried, tip))


def stale(world: World, branch: str, number: int) -> None:
    """Land upon what was there before another pushed, or made a merge."""
    ref, tip = f"refs/heads/{branch}", world.mirror.resolve(branch)
    tree = world.repo.git("rev-parse", f"{tip}^{{tree}}")
    others = world.repo.commit_tree(tree, tip, *([world.first] if number > 1 else []))
    commit = world.made(world.change(tip, number), tip)
    world.repo.git("update-ref", ref, others)
    world.seen[ref] = others

    assert not world.push(ref, tip, commit)


def rewind(world: World, branch: str, number: int) -> None:
    """What a push would lose is refused, whatever it expects."""
    ref, tip = f"refs/heads/{branch}", world.mirror.resolve(branch)
    aside = world.made(world.mirror.tree_of(world.first), world.first)
    landed = world.push(ref, tip, aside if number else world.first)

    assert not landed or tip == world.first


STEPS_BY_NAME: dict[str, Callable[[World, str, int], None]] = {
    step.__name__: step for step in (land, review, close, revert, rebase, stale, rewind)
}


@pytest.mark.extended
@settings(
    max_examples=3,
    deadline=None,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=[HealthCheck.too_slow],
)
@given(STEPS)
@example([("land", "free", 1), ("revert", "free", 0), ("review", "side", 2), ("close", "main", 1)])
def test_no_history_of_actions_loses_a_commit_or_touches_what_is_the_user_s(
    steps: list[Step],
) -> None:
    home = Path(tempfile.mkdtemp())
    try:
        world = World(home)
        for name, branch, number in steps:
            reached = world.repo.reachable(*(f"refs/heads/{one}" for one in BRANCHES), "refs/stash")

            STEPS_BY_NAME[name](world, branch, number)

            kept = world.repo.reachable(*(f"refs/heads/{one}" for one in BRANCHES), "refs/stash")
            assert reached <= kept
            assert world.repo.refs()["refs/stash"] == world.seen["refs/stash"]
        assert contents(*world.folders) == world.before
        assert not list(world.marks.iterdir())
        world.repo.git("fsck", "--strict", "--no-dangling")
    finally:
        shutil.rmtree(home)


TREES = st.dictionaries(
    st.sampled_from(["a", "b", "d/a", "d/e/f", "x y", "ü"]),
    st.sampled_from(
        [b"", b"x", b"x\n", b"1\n2\n3\n", b"1\n2\n3\n4\n5\r\n", b"\0\1", b"diff --git a/a b/a\n"]
    ),
    min_size=1,
)


@pytest.mark.extended
@settings(
    max_examples=5,
    deadline=None,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=[HealthCheck.too_slow],
)
@given(TREES, TREES)
def test_every_change_comes_the_same_by_patch_by_bundle_and_by_commit(
    before: dict[str, bytes], after: dict[str, bytes]
) -> None:
    home = Path(tempfile.mkdtemp())
    try:
        repo = Repo(home / "theirs.git")
        repo.folder.mkdir()
        repo.git("init", "-q", "--bare", "--template=", "-b", "main")
        base = repo.commit(before)
        repo.git("update-ref", "refs/heads/work", base)
        tip = repo.commit({**dict.fromkeys(before.keys() - after.keys()), **after}, "work")
        tree = repo.git("rev-parse", f"{tip}^{{tree}}")
        patch, bundle = repo.patch(base, tip), repo.bundle("work", f"^{base}")
        mirror = mirror_of(repo, home / "mirror")

        assert mirror.with_commit(tip, base) == tree
        assert mirror.with_bundle(base, bundle) == (tree, tip)
        assert mirror.rebased(base, tree, base) == tree
        assert mirror.reverted(base, tip, tip) == mirror.tree_of(base)
        if before == after:
            assert not patch
        else:
            assert mirror.with_patch(base, patch) == tree
            rows = mirror.changed(mirror.tree_of(base), tree, takes_binary=True)
            expected = {path for path in {*before, *after} if before.get(path) != after.get(path)}
            assert {row.path for row in rows} | {row.old_path for row in rows} - {""} == expected
    finally:
        shutil.rmtree(home)
