from __future__ import annotations

import subprocess
import threading
from datetime import timedelta
from pathlib import Path

import pytest

from tests.adapters.git.repositories import (
    AT,
    LOOM,
    Repo,
    bare,
    committed,
    contents,
    mirror_of,
    plant_hooks,
    worked_in,
)
from verification.adapters.git import (
    Conflicted,
    GitLost,
    Mirror,
    Moved,
    PushRefused,
    RefUpdate,
)

MAIN, OWN = "refs/heads/main", "refs/heads/loomverify/review/x"
PATCH = b"--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n"
TEXT = "one\ntwo\nthree\n"


def test_a_verified_tree_lands_as_the_commit_that_was_written(repo: Repo, mirror: Mirror) -> None:
    base = repo.commit({"a.txt": TEXT})
    commit = committed(mirror, base, PATCH)

    for _ in range(2):  # a repeated attempt finds its own commit there
        mirror.push([RefUpdate(MAIN, base, commit)])

    assert repo.refs() == {MAIN: commit}
    assert repo.files(commit) == {"a.txt": b"one\n2\nthree\n"}
    assert repo.git("show", "-s", "--format=%P %an %ae %cn %aI %B", commit) == (
        f"{base} Loom loom@example.org Loom 2026-03-01T12:00:00+00:00 Land it"
    )


def test_the_same_words_make_the_same_commit(repo: Repo, mirror: Mirror, tmp_path: Path) -> None:
    base = repo.commit({"a.txt": TEXT})
    tree = mirror.with_patch(base, PATCH)
    other = mirror_of(repo, tmp_path / "other")
    other.with_patch(base, PATCH)

    first = mirror.commit(tree, base, "m", identity=LOOM, at=AT)

    assert other.commit(tree, base, "m", identity=LOOM, at=AT) == first
    assert other.commit(tree, base, "m", identity=LOOM, at=AT + timedelta(seconds=1)) != first
    for wrong in ("", " \n", "a\0b", "x" * 2_000_000):
        with pytest.raises(ValueError, match="message"):
            mirror.commit(tree, base, wrong, identity=LOOM, at=AT)


def test_a_commit_is_signed_the_same_every_time(repo: Repo, mirror: Mirror, tmp_path: Path) -> None:
    base = repo.commit({"a.txt": TEXT})
    tree = mirror.tree_of(mirror.resolve(base))
    for kind in ("ed25519", "ecdsa"):
        made = ["ssh-keygen", "-q", "-t", kind, "-N", "", "-C", "x", "-f", str(tmp_path / kind)]
        subprocess.run(made, check=True)
    key = tmp_path / "ed25519"

    names = {
        mirror.commit(tree, base, "m", identity=LOOM, at=AT, signing_key=key) for _ in range(2)
    }

    (name,) = names
    mirror.push([RefUpdate(MAIN, base, name)])
    allowed = tmp_path / "allowed"
    allowed.write_text(f"loom@example.org {key.with_suffix('.pub').read_text()}")
    repo.git("config", "gpg.ssh.allowedSignersFile", str(allowed))
    repo.git("verify-commit", name)
    for unusable in (tmp_path / "ecdsa", tmp_path / "none"):
        with pytest.raises(GitLost, match="signing") as lost:
            mirror.commit(tree, base, "m", identity=LOOM, at=AT, signing_key=unusable)
        assert str(unusable) not in str(lost.value)


def test_work_is_carried_to_where_the_branch_has_gone(repo: Repo, mirror: Mirror) -> None:
    base = repo.commit({"a.txt": TEXT, "b.txt": "b\n"})
    tree = mirror.with_patch(base, PATCH)
    onto = repo.commit({"b.txt": "B\n", "c.txt": "c\n"})
    both = repo.commit({"a.txt": "one\ntwo!\nthree\n"}, "both")
    mirror.resolve(onto)

    carried = mirror.rebased(base, tree, onto)

    names = {one.path: one.sha for one in mirror.entries(carried)}
    assert list(mirror.read(names[path] for path in sorted(names))) == [
        b"one\n2\nthree\n",
        b"B\n",
        b"c\n",
    ]
    assert mirror.rebased(base, tree, base) == tree
    with pytest.raises(Conflicted) as conflict:
        mirror.rebased(base, tree, mirror.resolve(both))
    assert conflict.value.paths == ("a.txt",)


def test_a_change_is_undone_and_what_came_after_it_stays(repo: Repo, mirror: Mirror) -> None:
    base = repo.commit({"a.txt": TEXT, "b.txt": "b\n"})
    bad = repo.commit({"a.txt": "one\n2\nthree\n", "bad.txt": "x\n"})
    later = repo.commit({"b.txt": "B\n"})
    last = repo.commit({"a.txt": "one\n2!\nthree\n"})
    mirror.resolve("main")

    undone = mirror.reverted(base, bad, later)

    assert undone == repo.tree(
        ("100644", repo.blob(TEXT.encode()), "a.txt"), ("100644", repo.blob(b"B\n"), "b.txt")
    )
    assert mirror.reverted(base, bad, bad) == mirror.tree_of(base)
    with pytest.raises(Conflicted) as conflict:
        mirror.reverted(base, bad, last)
    assert conflict.value.paths == ("a.txt",)


def test_what_moved_meanwhile_is_never_overwritten(repo: Repo, mirror: Mirror) -> None:
    base = repo.commit({"a.txt": TEXT})
    commit = committed(mirror, base, PATCH)
    theirs = repo.commit({"a.txt": "theirs\n"})

    for expected, branches in ((base, {MAIN: theirs}), (None, {MAIN: theirs})):
        with pytest.raises(Moved) as moved:
            mirror.push([RefUpdate(OWN, None, commit), RefUpdate(MAIN, expected, commit)])
        assert (moved.value.ref, moved.value.expected, moved.value.found) == (
            MAIN,
            expected,
            theirs,
        )
        assert repo.refs() == branches
    repo.git("update-ref", "-d", MAIN)
    with pytest.raises(Moved) as moved:
        mirror.push([RefUpdate(MAIN, base, commit)])
    assert moved.value.found is None


def test_a_push_does_not_lose_what_was_there(repo: Repo, mirror: Mirror) -> None:
    base = repo.commit({"a.txt": TEXT})
    tip = repo.commit({"a.txt": "2\n"})
    commit = committed(mirror, base, PATCH)
    repo.git("tag", "v1", base)
    refs = repo.refs()

    for update in (
        RefUpdate(MAIN, tip, commit),
        RefUpdate(MAIN, tip, base),
        RefUpdate(MAIN, tip, None),
        RefUpdate("refs/tags/v1", base, commit),
        RefUpdate("refs/notes/x", None, commit),
        RefUpdate("HEAD", None, commit),
        RefUpdate("refs/heads/../tags/v2", None, commit),
        RefUpdate("refs/heads/x:refs/heads/main", None, commit),
        RefUpdate("refs/heads/*", None, commit),
        RefUpdate(OWN, None, None),
    ):
        with pytest.raises(PushRefused) as refused:
            mirror.push([update])
        assert refused.value.ref == update.ref
        assert not refused.value.is_checked_out
    with pytest.raises(Moved):
        mirror.push([RefUpdate(MAIN, "1" * 40, commit)])
    for wrong in ([], [RefUpdate(OWN, None, commit)] * 2, [RefUpdate(OWN, None, "HEAD")]):
        with pytest.raises(ValueError, match=r"ref|name"):
            mirror.push(wrong)

    assert repo.refs() == refs


def test_branches_of_our_own_come_and_go_by_exact_expectation(repo: Repo, mirror: Mirror) -> None:
    base = repo.commit({"a.txt": TEXT})
    commit = committed(mirror, base, PATCH)
    mirror.push([RefUpdate(OWN, None, commit)])

    with pytest.raises(Moved):
        mirror.push([RefUpdate(OWN, base, None)])
    assert repo.refs() == {MAIN: base, OWN: commit}
    mirror.push([RefUpdate(OWN, commit, None)])

    assert repo.refs() == {MAIN: base}


def test_of_two_that_push_at_once_one_lands(repo: Repo, tmp_path: Path) -> None:
    base = repo.commit({"a.txt": TEXT})
    mirrors = [mirror_of(repo, tmp_path / f"m{number % 2}") for number in range(4)]
    commits = [
        committed(mirror, base, PATCH.replace(b"+2", b"+%d" % number))
        for number, mirror in enumerate(mirrors)
    ]
    ends: list[object] = [None] * 4
    start = threading.Barrier(4)

    def land(number: int) -> None:
        start.wait()
        try:
            mirrors[number].push([RefUpdate(MAIN, base, commits[number])])
            ends[number] = "landed"
        except (Moved, GitLost) as error:
            ends[number] = error

    threads = [threading.Thread(target=land, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert ends.count("landed") == 1
    winner = commits[ends.index("landed")]
    assert repo.refs() == {MAIN: winner}
    assert all(isinstance(end, Moved) and end.found == winner for end in ends if end != "landed")


def test_a_user_s_own_repository_is_left_as_it_is(tmp_path: Path) -> None:
    marks = tmp_path / "marks"
    user = worked_in(tmp_path / "user", marks)
    base = user.refs()[MAIN]
    mirror = mirror_of(user, tmp_path / "mirror")
    before, refs = contents(user.folder, tmp_path / "linked"), user.refs()
    side = RefUpdate("refs/heads/side", base, committed(mirror, base, PATCH))
    main = RefUpdate(MAIN, base, side.new)

    for update in (main, side):
        with pytest.raises(PushRefused) as refused:
            mirror.push([RefUpdate(OWN, None, base), update])
        assert (refused.value.ref, refused.value.is_checked_out) == (update.ref, True)
    assert user.refs() == refs
    mirror.push([RefUpdate(OWN, None, base)])
    mirror.push([main, side], lands_checked_out=True)

    assert user.refs() == refs | {OWN: base, MAIN: side.new, "refs/heads/side": side.new}
    assert contents(user.folder, tmp_path / "linked") == before
    assert list(marks.iterdir()) == []
    assert user.git("stash", "list").count("stash@") == 1


def test_the_server_s_own_reasons_are_told(repo: Repo, mirror: Mirror) -> None:
    base = repo.commit({"a.txt": TEXT})
    mirror.push([RefUpdate(OWN, None, base)])
    repo.git("config", "receive.denyDeletes", "true")

    with pytest.raises(PushRefused) as refused:
        mirror.push([RefUpdate(OWN, base, None)])

    assert "deletion prohibited" in refused.value.reason


def test_hooks_of_a_local_repository_do_not_run_as_us(tmp_path: Path) -> None:
    repo = bare(tmp_path / "theirs.git")
    base = repo.commit({"a.txt": TEXT})
    plant_hooks(repo.folder, tmp_path / "marks")
    mirror = mirror_of(repo, tmp_path / "mirror")

    mirror.push([RefUpdate(MAIN, base, committed(mirror, base, PATCH))])

    assert list((tmp_path / "marks").iterdir()) == []
