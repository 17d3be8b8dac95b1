"""Histories, bundles and names that are made to be taken for something else."""

from __future__ import annotations

import hashlib
import itertools
from pathlib import Path

import pytest

from tests.adapters.git.repositories import AT, LOOM, Repo, mirror_of
from verification.adapters.git import ChangeRefused, GitLost, Mirror, RefUpdate

CRLF = b"one\r\ntwo\r\nthree\r\n"
NFC, NFD = "caf\u00e9.txt", "cafe\u0301.txt"


def tree_of(repo: Repo, name: str) -> str:
    return repo.git("rev-parse", f"{name}^{{tree}}")


def tip_of(repo: Repo, files: dict[str, str | bytes | None], base: str) -> str:
    """A commit that no branch has in the end."""
    repo.git("update-ref", "refs/heads/work", base)
    tip = repo.commit(files, "work")
    repo.git("update-ref", "-d", "refs/heads/work")
    return tip


@pytest.mark.quick_rows(2)
@pytest.mark.parametrize(
    "options",
    [
        (),
        ("-M", "-C", "--find-copies-harder"),
        ("--full-index", "--binary", "-B"),
        ("--histogram", "-U0"),
        ("--patience", "-U20", "--no-prefix"),
        ("--src-prefix=old/", "--dst-prefix=new/"),
    ],
)
def test_however_a_patch_was_written_it_gives_what_its_writer_had(
    repo: Repo, mirror: Mirror, options: tuple[str, ...]
) -> None:
    base = repo.commit(
        {
            "a.txt": "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "crlf.txt": CRLF, "mixed.txt": b"a\r\nb\nc\r",
            "bare.txt": "no end", "moved.txt": "m\n" * 30, "tab\there?.txt": "t\n",
        }
    )  # fmt: skip
    tip = tip_of(
        repo,
        {
            "a.txt": "1\n2\nthree\n4\n5\n6\n7\n8\nnine", "copy.txt": "1\n2\n3\n4\n5\n6\n7\n8\n9\n",
            "crlf.txt": CRLF.replace(b"two\r\n", b"2\n"), "mixed.txt": b"a\nb\r\nc\r\n\r",
            "bare.txt": "no end\n", "moved.txt": None, "to/moved.txt": "m\n" * 29 + "n",
            "blank.txt": "", "gone to": " \t \n",
        },
        base,
    )  # fmt: skip
    if "-U0" in options:  # context is asked for: without any, a place is a guess
        with pytest.raises(ChangeRefused):
            mirror.with_patch(base, repo.raw("diff", *options, base, tip))
        return
    patch = repo.raw("diff", *options, base, tip)

    assert mirror.with_patch(base, patch) == tree_of(repo, tip)


def test_attributes_of_the_work_change_no_byte_of_what_is_tested_or_lands(
    repo: Repo, mirror: Mirror
) -> None:
    attributes = (
        "* text=auto eol=crlf ident filter=f diff=d merge=m working-tree-encoding=UTF-16\n"
        "*.txt export-subst export-ignore whitespace=error-all -diff binary\n"
    )
    content = "$Format:%H$ $Id$\nline \t\n"
    base = repo.commit({"a.txt": content, "b.txt": "b\n" * 9, "c.txt": CRLF})
    tip = tip_of(repo, {".gitattributes": attributes, "a.txt": content + "new \n"}, base)
    onto = repo.commit({"b.txt": "b\n" * 10})

    tree = mirror.with_patch(base, repo.raw("diff", "--text", base, tip))
    carried = mirror.rebased(base, tree, mirror.resolve(onto))

    assert tree == tree_of(repo, tip)
    rows = mirror.entries(carried)
    contents = dict(
        zip((one.path for one in rows), mirror.read(one.sha for one in rows), strict=True)
    )
    assert contents == {
        ".gitattributes": attributes.encode(), "a.txt": (content + "new \n").encode(),
        "b.txt": b"b\n" * 10, "c.txt": CRLF,
    }  # fmt: skip
    changed = mirror.changed(mirror.tree_of(base), tree, takes_binary=False)
    assert {one.path for one in changed} == {".gitattributes", "a.txt"}
    patch = mirror.patch_of(mirror.tree_of(base), tree)
    assert mirror.with_patch(base, patch) == tree


def test_a_name_is_kept_as_it_was_composed_and_another_composition_of_it_is_refused(
    repo: Repo, mirror: Mirror
) -> None:
    base = repo.commit({"a": "a\n"})
    for name in (NFC, NFD):
        tree = mirror.with_patch(base, repo.patch(base, tip_of(repo, {name: "x\n"}, base)))
        assert name in {one.path for one in mirror.entries(tree)}

    both = mirror.with_patch(base, repo.patch(base, tip_of(repo, {NFC: "1\n", NFD: "2\n"}, base)))
    with pytest.raises(ChangeRefused) as refused:
        mirror.changed(mirror.tree_of(base), both, takes_binary=False)
    assert refused.value.code == "change.path_unsafe"
    assert refused.value.path in (NFC, NFD)


@pytest.mark.parametrize("name", ["x" * 256, "d/" + "\u00e9" * 128, "x" * 4_097, "d/" * 101 + "x"])
def test_a_name_that_no_disk_holds_is_refused(repo: Repo, mirror: Mirror, name: str) -> None:
    base = repo.commit({"a": "a\n"})

    patch = repo.patch(base, tip_of(repo, {name: "x\n"}, base))

    def looked_at() -> None:
        tree = mirror.with_patch(base, patch)
        mirror.changed(mirror.tree_of(base), tree, takes_binary=False)

    with pytest.raises(ChangeRefused) as refused:
        looked_at()
    assert refused.value.code == "change.path_unsafe"


def test_a_bundle_of_a_merge_of_many_lands_as_one_commit(repo: Repo, mirror: Mirror) -> None:
    base = repo.commit({"a": "a\n"})
    sides = [tip_of(repo, {f"side-{n}": f"{n}\n"}, base) for n in range(5)]
    whole = tip_of(repo, {f"side-{n}": f"{n}\n" for n in range(5)}, base)
    octopus = repo.commit_tree(tree_of(repo, whole), *sides)
    repo.git("update-ref", "refs/heads/octopus", octopus)
    bundle = repo.bundle("octopus", f"^{base}")
    repo.git("update-ref", "-d", "refs/heads/octopus")

    tree, tip = mirror.with_bundle(base, bundle)
    landed = mirror.commit(tree, base, "m", identity=LOOM, at=AT)
    mirror.push([RefUpdate("refs/heads/main", base, landed)])

    assert (tree, tip) == (tree_of(repo, whole), octopus)
    assert repo.git("rev-list", "--parents", "-n1", "main").split() == [landed, base]
    assert octopus not in repo.reachable("main")


def test_what_else_a_bundle_names_moves_nothing(repo: Repo, mirror: Mirror) -> None:
    base = repo.commit({"a": "a\n"})
    tip, other = tip_of(repo, {"a": "b\n"}, base), tip_of(repo, {"a": "evil\n"}, base)
    for name, at in (("heads/work", tip), ("heads/same", tip), ("tags/same", tip)):
        repo.git("update-ref", f"refs/{name}", at)
    repo.git("update-ref", f"refs/replace/{base}", other)
    same = repo.bundle("work", "same", "refs/tags/same", f"^{base}")
    replacing = repo.bundle("work", f"refs/replace/{base}", f"^{base}")
    repo.git("tag", "-am", "x", "annotated", tip)
    tagged = repo.bundle("annotated", f"^{base}")
    for ref in set(repo.refs()) - {"refs/heads/main"}:
        repo.git("update-ref", "-d", ref)
    before = repo.refs()
    mirror.resolve(base)
    refs = Repo(mirror._git.repository).refs()

    assert mirror.with_bundle(base, same) == (tree_of(repo, tip), tip)
    for bundle in (replacing, tagged):
        with pytest.raises(ChangeRefused) as refused:
            mirror.with_bundle(base, bundle)
        assert refused.value.code == "change.bundle_invalid"
    assert Repo(mirror._git.repository).refs() == refs
    assert repo.refs() == before
    assert mirror.tree_of(base) == tree_of(repo, base)


@pytest.mark.parametrize("how", ["replace", "grafts"])
def test_a_remote_that_pretends_another_history_is_read_as_it_is_or_not_at_all(
    repo: Repo, tmp_path: Path, how: str
) -> None:
    first = repo.commit({"a": "1\n"})
    base = repo.commit({"a": "2\n"})
    other = tip_of(repo, {"a": "evil\n"}, first)
    true_tree = tree_of(repo, base)
    if how == "replace":
        repo.git("update-ref", f"refs/replace/{base}", other)
    else:
        (repo.folder / "info").mkdir(exist_ok=True)
        (repo.folder / "info" / "grafts").write_text(f"{base}\n")
    mirror = mirror_of(repo, tmp_path / "pretended")

    try:
        found = mirror.resolve("main")
    except GitLost:
        return
    assert (found, mirror.tree_of(found), mirror.parent(found)) == (base, true_tree, first)


def collided() -> tuple[bytes, bytes]:
    """Two commits of the empty tree whose names have their first seven digits in common."""
    seen: dict[str, bytes] = {}
    empty = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
    for number in itertools.count():
        who = "User <user@example.org> 1700000000 +0000"
        text = f"tree {empty}\nauthor {who}\ncommitter {who}\n\n{number}\n".encode()
        name = hashlib.sha1(b"commit %d\0%b" % (len(text), text), usedforsecurity=False).hexdigest()
        if name[:7] in seen:
            return seen[name[:7]], text
        seen[name[:7]] = text
    raise AssertionError


def test_a_short_name_of_two_commits_names_none_and_its_whole_name_does(
    repo: Repo, mirror: Mirror
) -> None:
    repo.git("mktree", given=b"")
    names = [
        repo.git("hash-object", "-t", "commit", "-w", "--stdin", given=text) for text in collided()
    ]
    for number, name in enumerate(names):
        repo.git("update-ref", f"refs/heads/side-{number}", name)

    with pytest.raises(ChangeRefused) as refused:
        mirror.resolve(names[0][:7])

    assert refused.value.code == "change.base_unknown"
    assert "several" in refused.value.message
    assert [mirror.resolve(name) for name in names] == names


def test_a_branch_that_is_named_like_a_commit_is_not_taken_for_it(
    repo: Repo, mirror: Mirror
) -> None:
    first = repo.commit({"a": "1\n"})
    second = repo.commit({"a": "2\n"})
    repo.git("update-ref", f"refs/heads/{first}", second)
    repo.git("update-ref", f"refs/heads/{first[:9]}", second)

    assert mirror.resolve(first) == first
    assert mirror.resolve(first[:9]) == second, "as git has it: a branch's name goes before"
    assert mirror.resolve(first[:10]) == first
