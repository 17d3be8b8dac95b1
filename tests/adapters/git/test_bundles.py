from __future__ import annotations

import pytest

from tests.adapters.git.repositories import Repo
from verification.adapters.git import ChangeRefused, Mirror, bundles


@pytest.fixture
def base(repo: Repo) -> str:
    return repo.commit({"a": "1\n", "b": "b\n" * 500})


def hidden(repo: Repo, tip: str) -> None:
    """Take the submitter's branch from the remote, so that only the bundle has its commits."""
    for ref in repo.refs():
        if ref != "refs/heads/main":
            repo.git("update-ref", "-d", ref)
    assert tip not in repo.reachable("main")


def work(repo: Repo, base: str, commits: int = 1) -> str:
    repo.git("update-ref", "refs/heads/work", base)
    return [
        repo.commit({"a": f"{number}\n", "b": "b\n" * 500 + "c\n"}, "work")
        for number in range(2, 2 + commits)
    ][-1]


def code_of(mirror: Mirror, base: str, bundle: bytes) -> str:
    packs = sorted((mirror._git.repository / "objects" / "pack").glob("*"))
    with pytest.raises(ChangeRefused) as refused:
        mirror.with_bundle(base, bundle)
    assert sorted((mirror._git.repository / "objects" / "pack").glob("*")) == packs
    return refused.value.code


@pytest.mark.parametrize("commits", [1, 3])
def test_a_bundle_s_commits_come_whole(repo: Repo, mirror: Mirror, base: str, commits: int) -> None:
    tip = work(repo, base, commits)
    bundle = repo.bundle("work", f"^{base}")
    tree = repo.git("rev-parse", f"{tip}^{{tree}}")
    hidden(repo, tip)

    for _ in range(2):
        assert mirror.with_bundle(base, bundle) == (tree, tip)

    assert mirror.is_ancestor(base, tip)
    assert [row.path for row in mirror.changed(mirror.tree_of(base), tree, takes_binary=False)] == [
        "a",
        "b",
    ]
    with pytest.raises(ChangeRefused):
        mirror.resolve(tip)  # a submitter's commit is none of the remote's


def test_a_bundle_with_the_whole_history_is_taken(repo: Repo, mirror: Mirror, base: str) -> None:
    tip = work(repo, base)

    assert mirror.with_bundle(base, repo.bundle("work"))[1] == tip


def test_a_bundle_has_one_tip_upon_the_base(repo: Repo, mirror: Mirror, base: str) -> None:
    work(repo, base)
    repo.commit({"x": "unrelated"}, "other")
    mirror.resolve(base)

    assert code_of(mirror, base, repo.bundle("work", "other")) == "change.bundle_invalid"
    assert code_of(mirror, base, repo.bundle("other")) == "change.not_on_base"
    assert code_of(mirror, base, repo.bundle("work", f"^{base}").replace(base.encode(), b"1" * 40)) == (
        "change.base_unknown"
    )  # fmt: skip


def test_a_bundle_that_is_not_whole_is_refused(repo: Repo, mirror: Mirror, base: str) -> None:
    tip = work(repo, base)
    bundle = repo.bundle("work", f"^{base}")
    repo.git("tag", "-am", "x", "v1", base)
    lacking = repo.commit_tree(repo.tree(("100644", "2" * 40, "gone")), base)
    repo.git("tag", "blob", repo.blob(b"no commit"))
    pack = repo.raw("pack-objects", "--stdout", "-q", given=f"{lacking}\n".encode())
    hidden(repo, tip)
    head, body = bundle.split(b"\n\n", 1)
    mirror.resolve(base)

    for broken in (
        b"", b"no bundle", b"# v2 git bundle\n", b"# v2 git bundle\n\n", bundle[:-1], bundle[:-30],
        head + b"\n\n", head + b"\n\n" + b"PACK" + b"\xff" * 200, head + b"\n\n" + body[::-1],
        head + b"\n-x\n\n" + body, head.replace(tip.encode(), b"3" * 40) + b"\n\n" + body,
        head.replace(tip.encode(), b"--all") + b"\n\n" + body,
        b"# v3 git bundle\n@filter=blob:none\n" + head.split(b"\n", 1)[1] + b"\n\n" + body,
        b"# v3 git bundle\n@object-format=sha256\n" + head.split(b"\n", 1)[1] + b"\n\n" + body,
        b"# v2 git bundle\n" + b"-" + base.encode() + b"\n" * 1 + b"x" * 2_000_000,
        b"# v2 git bundle\n" + (b"-" + base.encode() + b"\n") * 1_001 + head.split(b"\n", 1)[1] + b"\n\n" + body,
        b"# v2 git bundle\n" + lacking.encode() + b" refs/heads/x\n\n" + pack,
    ):  # fmt: skip
        assert code_of(mirror, base, broken) == "change.bundle_invalid", broken[:60]


@pytest.mark.extended
@pytest.mark.parametrize("name", [".git", ".GIT", "git~1", "..", "."])
def test_what_git_s_own_examination_refuses_does_not_come_in(
    repo: Repo, mirror: Mirror, base: str, name: str
) -> None:
    folder = repo.tree(("100644", repo.blob(b"#!/bin/sh\n"), "config"))
    repo.git(
        "update-ref", "refs/heads/work", repo.commit_tree(repo.tree(("040000", folder, name)), base)
    )
    bundle = repo.bundle("work", f"^{base}")
    hidden(repo, repo.refs()["refs/heads/work"])
    mirror.resolve(base)

    assert code_of(mirror, base, bundle) == "change.bundle_invalid"


def test_a_bundle_that_is_too_large_is_not_read(
    repo: Repo, mirror: Mirror, base: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    work(repo, base)
    bundle = repo.bundle("work", f"^{base}")
    mirror.resolve(base)
    monkeypatch.setattr(bundles, "MAX_BUNDLE_BYTES", len(bundle) - 1)

    assert code_of(mirror, base, bundle) == "change.too_large"
