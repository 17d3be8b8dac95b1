from __future__ import annotations

from pathlib import Path

import pytest

from tests.adapters.git.repositories import Repo, mirror_of
from verification.adapters.git import ChangedPath, ChangeRefused, Entry, Mirror, trees

EMPTY = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"


def refused(
    mirror: Mirror, repo: Repo, tree: str, *, takes_binary: bool = False
) -> tuple[str, str]:
    """Have a tree, which the remote has, refused upon main; return code and path."""
    base = repo.refs()["refs/heads/main"]
    repo.git("update-ref", "refs/heads/work", repo.commit_tree(tree, base))
    held = mirror.with_commit(mirror.resolve("work"), base)
    with pytest.raises(ChangeRefused) as why:
        mirror.changed(mirror.tree_of(base), held, takes_binary=takes_binary)
    return why.value.code, why.value.path


def test_a_tree_is_listed_and_read_in_order(repo: Repo, mirror: Mirror) -> None:
    base = repo.commit({"b": "bb\n", "a/c": b"\0\n\n", "empty": ""})
    tree = mirror.tree_of(mirror.resolve(base))

    entries = mirror.entries(tree)

    assert [(one.path, one.mode, one.size) for one in entries] == [
        ("a/c", "100644", 3), ("b", "100644", 3), ("empty", "100644", 0),
    ]  # fmt: skip
    assert list(mirror.read([one.sha for one in entries])) == [b"\0\n\n", b"bb\n", b""]
    assert isinstance(entries[0], Entry)


def test_what_names_a_commit_of_a_branch_is_resolved(repo: Repo, mirror: Mirror) -> None:
    first = repo.commit({"a": "1"})
    second = repo.commit({"a": "2"})
    repo.commit({"a": "3"}, "team/topic")

    assert mirror.resolve("main") == second
    assert mirror.resolve(first) == mirror.resolve(first[:7]) == first
    assert mirror.resolve("team/topic") == repo.refs()["refs/heads/team/topic"]
    assert (mirror.parent(second), mirror.parent(first)) == (first, None)
    assert mirror.is_ancestor(first, second)
    assert not mirror.is_ancestor(second, first)
    assert (mirror.tip("main"), mirror.tip("none"), mirror.tip("-x")) == (second, None, None)
    assert mirror.has(second)
    assert not mirror.has("1" * 40)


@pytest.mark.quick_rows(4)
@pytest.mark.parametrize(
    "name", ["none", "", "-x", "--all", "HEAD", "main~1", "a b", ":/x", "@{-1}", "abcdef"]
)
def test_what_names_none_is_refused(repo: Repo, mirror: Mirror, name: str) -> None:
    repo.commit({"a": "1"})

    with pytest.raises(ChangeRefused) as why:
        mirror.resolve(name)

    assert why.value.code == "change.base_unknown"


def test_an_empty_repository_has_no_base(mirror: Mirror) -> None:
    with pytest.raises(ChangeRefused) as why:
        mirror.resolve("main")

    assert why.value.code == "change.base_unknown"
    assert mirror.tip("main") is None


def test_objects_that_are_no_commits_are_no_base(repo: Repo, mirror: Mirror) -> None:
    base = repo.commit({"a": "1"})
    repo.git("tag", "-a", "-m", "x", "v1", base)
    mirror.resolve("main")

    for name in (
        repo.git("rev-parse", "v1"),
        repo.git("rev-parse", f"{base}^{{tree}}"),
        repo.blob(b"1"),
    ):
        with pytest.raises(ChangeRefused):
            mirror.resolve(name)


@pytest.mark.quick_rows(3)
@pytest.mark.parametrize(
    ("mode", "name"),
    [
        ("100644", ".GIT"), ("040000", ".git"), ("100644", "a\nb"), ("100644", b"\xff"),
        ("100644", "git~1"), ("100644", ".."), ("040000", "."), ("100644", "b\\c"), ("100644", "\u202ex"),
    ],
)  # fmt: skip
def test_a_tree_that_holds_an_unsafe_path_is_refused(
    repo: Repo, mirror: Mirror, mode: str, name: bytes | str
) -> None:
    repo.commit({"a": "1"})
    blob = repo.blob(b"x")
    inner = repo.tree(("100644", blob, "x")) if mode == "040000" else blob

    code, _ = refused(mirror, repo, repo.tree((mode, inner, name)))

    assert code == "change.path_unsafe"


def test_a_tree_that_holds_a_name_twice_is_refused(repo: Repo, mirror: Mirror) -> None:
    repo.commit({"z": "1"})
    one, two = bytes.fromhex(repo.blob(b"1")), bytes.fromhex(repo.blob(b"2"))
    folder = bytes.fromhex(repo.tree(("100644", repo.blob(b"1"), "x")))
    twice = b"100644 a\0" + one + b"100644 a\0" + two
    both = b"100644 a\0" + one + b"40000 a\0" + folder

    for content, path in ((twice, "a"), (both, "a/x")):
        tree = repo.git("hash-object", "-t", "tree", "--literally", "-w", "--stdin", given=content)
        assert refused(mirror, repo, tree) == ("change.path_unsafe", path)


def test_a_tree_out_of_order_hides_nothing(repo: Repo, mirror: Mirror) -> None:
    base = repo.commit({"a": "1", "b": "2", "c": "3"})
    rows = [("c", repo.blob(b"4")), ("a", repo.blob(b"\0")), ("b", repo.blob(b"2"))]
    content = b"".join(
        b"100644 %s\0%s" % (name.encode(), bytes.fromhex(blob)) for name, blob in rows
    )
    tree = repo.git("hash-object", "-t", "tree", "--literally", "-w", "--stdin", given=content)

    assert refused(mirror, repo, tree) == ("change.binary", "a")
    changed = mirror.changed(mirror.tree_of(base), tree, takes_binary=True)
    assert changed == [ChangedPath("a", "M"), ChangedPath("c", "M")]


def test_links_and_submodules_that_were_there_may_stay_and_go(repo: Repo, mirror: Mirror) -> None:
    link, commit, blob = repo.blob(b"/etc"), "1" * 40, repo.blob(b"x")
    rows = [("100644", blob, "a"), ("120000", link, "link"), ("160000", commit, "sub")]
    repo.git("update-ref", "refs/heads/main", repo.commit_tree(repo.tree(*rows)))
    base = mirror.resolve("main")
    new = ("100644", repo.blob(b"y"), "a")
    for kept, expected in (
        ([new, *rows[1:]], [ChangedPath("a", "M")]),
        ([rows[0]], [ChangedPath("link", "D"), ChangedPath("sub", "D")]),
        ([rows[0], ("100644", blob, "link"), rows[2]], [ChangedPath("link", "T")]),
    ):
        repo.git("update-ref", "refs/heads/work", repo.commit_tree(repo.tree(*kept), base))
        tree = mirror.with_commit(mirror.resolve("work"), base)
        assert mirror.changed(mirror.tree_of(base), tree, takes_binary=False) == expected

    assert refused(mirror, repo, repo.tree(rows[0], rows[1], ("160000", "2" * 40, "sub"))) == (
        "change.submodule", "sub",
    )  # fmt: skip
    moved = repo.tree(rows[0], ("120000", link, "moved"), rows[2])
    assert refused(mirror, repo, moved) == ("change.link", "moved")


def test_a_tree_of_trees_without_end_is_refused_in_time(repo: Repo, mirror: Mirror) -> None:
    repo.commit({"a": "1"})
    tree = repo.tree(("100644", repo.blob(b"x" * 100), "f"))
    for _ in range(12):
        tree = repo.tree(*(("040000", tree, f"folder-{number}") for number in range(10)))

    assert refused(mirror, repo, tree) == ("change.too_large", "")


def test_what_is_too_large_is_refused(
    repo: Repo, mirror: Mirror, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.commit({"a": "1"})
    repo.commit({"a": "12345", "b": "1"}, "work")
    tree = repo.git("rev-parse", "work^{tree}")

    for name, bound, path in (
        ("MAX_FILES", 1, ""), ("MAX_TREE_BYTES", 5, ""), ("MAX_CHANGED_FILE_BYTES", 4, "a"),
    ):  # fmt: skip
        with monkeypatch.context() as bounds:
            bounds.setattr(trees, name, bound)
            assert refused(mirror, repo, tree) == ("change.too_large", path)


def test_a_huge_file_in_the_base_is_refused_by_its_size_alone(
    repo: Repo, mirror: Mirror, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trees, "MAX_TREE_BYTES", 2_000_000)
    blob = repo.blob(b"\0" * 2_000_001)
    base = repo.commit_tree(repo.tree(("100644", blob, "huge.bin")))
    repo.git("update-ref", "refs/heads/main", base)
    repo.git("update-ref", "refs/heads/work", base)
    repo.commit({"a": "1"}, "work")

    tree = repo.git("rev-parse", "work^{tree}")
    assert refused(mirror, repo, tree, takes_binary=True) == ("change.too_large", "")


def test_a_change_that_changes_nothing_is_empty(repo: Repo, mirror: Mirror) -> None:
    repo.commit({"a": "1"})

    assert refused(mirror, repo, repo.git("rev-parse", "main^{tree}")) == ("change.empty", "")


def test_text_beyond_the_first_bytes_is_still_to_be_text(repo: Repo, mirror: Mirror) -> None:
    base = repo.commit({"a": "1"})
    fine = repo.commit({"t": "ü" * 9_000 + "\0"}, "fine")
    assert mirror.changed(
        mirror.tree_of(mirror.resolve(base)), mirror.tree_of(mirror.resolve(fine)), takes_binary=False
    )  # fmt: skip

    repo.commit({"t": b"x" * 9_000 + b"\xff"}, "work")

    assert refused(mirror, repo, repo.git("rev-parse", "work^{tree}")) == ("change.binary", "t")


def test_a_commit_beside_the_base_is_refused(repo: Repo, mirror: Mirror) -> None:
    base = repo.commit({"a": "1"})
    other = repo.commit({"a": "2"}, "other")

    with pytest.raises(ChangeRefused) as why:
        mirror.with_commit(other, base)

    assert why.value.code == "change.not_on_base"


def test_a_shallow_repository_is_read_as_far_as_it_goes(
    repo: Repo, mirror: Mirror, tmp_path: Path
) -> None:
    repo.commit({"a": "1"})
    tip = repo.commit({"a": "2"})
    repo.git(
        "clone", "-q", "--bare", "--depth=1", f"file://{repo.folder}", str(tmp_path / "shallow.git")
    )
    shallow = mirror_of(Repo(tmp_path / "shallow.git"), tmp_path / "second")

    assert shallow.resolve("main") == tip
    assert shallow.parent(tip) is None


def test_what_was_submitted_is_forgotten_when_asked(repo: Repo, mirror: Mirror) -> None:
    base = repo.commit({"a": "1\n"})
    patch = b"--- a/a\n+++ b/a\n@@ -1 +1 @@\n-1\n+2\n"
    tree = mirror.with_patch(base, patch)

    mirror.forget()

    assert not mirror.has(tree)
    assert mirror.with_patch(base, patch) == tree
