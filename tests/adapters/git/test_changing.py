from __future__ import annotations

import hashlib
import zlib
from base64 import b85encode

import pytest

from tests.adapters.git.repositories import Repo
from verification.adapters.git import ChangedPath, ChangeRefused, GitLost, Mirror, calling, changing

MIB = 1024**2
TEXT = "one\ntwo\nthree\n"
HEAD = b"diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n"
GOOD = HEAD + b"@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n"


@pytest.fixture
def base(repo: Repo) -> str:
    return repo.commit({"a.txt": TEXT, "b.txt": "b\n", "dir/c.txt": "c\n"})


def literal(size: int, content: bytes, kind: bytes = b"literal") -> bytes:
    """Write a binary content that says that it has so many bytes."""
    packed = zlib.compress(content)
    lines = b""
    for at in range(0, len(packed), 52):
        part = packed[at : at + 52]
        length = bytes([64 + len(part) if len(part) <= 26 else 70 + len(part)])
        lines += length + b85encode(part, pad=True) + b"\n"
    name = hashlib.sha1(b"blob %d\0%b" % (len(content), content), usedforsecurity=False).hexdigest()
    head = f"diff --git a/x.bin b/x.bin\nnew file mode 100644\nindex {'0' * 40}..{name}\n".encode()
    return head + b"GIT binary patch\n" + kind + b" %d\n" % size + lines + b"\n"


def number(value: int) -> bytes:
    out = b""
    while value > 0x7F:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def new_file(path: str, mode: str = "100644", content: str = "x") -> bytes:
    return (
        f"diff --git a/{path} b/{path}\nnew file mode {mode}\n--- /dev/null\n+++ b/{path}\n"
        f"@@ -0,0 +1 @@\n+{content}\n"
    ).encode()


def test_a_patch_gives_the_tree_that_the_submitter_had(repo: Repo, mirror: Mirror) -> None:
    base = repo.commit(
        {"a.txt": TEXT, "gone.txt": "g\n", "old name.txt": "moved\n" * 9, "p.bin": b"\0" * 99}
    )
    after = {"a.txt": "1\ntwo\nthree", "gone.txt": None, "new/ü.txt": "ü \t\r\n\n",
             "p.bin": b"\0" * 98 + b"\1", "old name.txt": None, "new name.txt": "moved\n" * 9}  # fmt: skip
    tip = repo.commit(after, "work")
    repo.git("update-ref", "-d", "refs/heads/work")

    tree = mirror.with_patch(base, repo.patch(base, tip))

    assert tree == repo.git("rev-parse", f"{tip}^{{tree}}")
    assert mirror.changed(mirror.tree_of(base), tree, takes_binary=True) == [
        ChangedPath("a.txt", "M"),
        ChangedPath("gone.txt", "D"),
        ChangedPath("new name.txt", "R", "old name.txt"),
        ChangedPath("new/ü.txt", "A"),
        ChangedPath("p.bin", "M"),
    ]
    again = mirror.with_patch(base, mirror.patch_of(mirror.tree_of(base), tree))
    assert again == tree


@pytest.mark.parametrize("setting", ["diff.noprefix=true", "diff.mnemonicPrefix=true"])
def test_a_patch_may_be_written_by_the_settings_of_whoever_sends_it(
    repo: Repo, mirror: Mirror, setting: str
) -> None:
    same = {"a/x.txt": TEXT, "x.txt": TEXT, "sp ace ü.txt": "x\n"}
    base = repo.commit(same)
    tip = repo.commit(
        {"a/x.txt": TEXT + "more\n", "sp ace ü.txt": "y\n", "n/new.txt": "n\n"}, "work"
    )
    patch = repo.git("-c", setting, "diff", "--binary", base, tip)

    tree = mirror.with_patch(base, f"{patch}\n".encode())

    assert tree == repo.git("rev-parse", f"{tip}^{{tree}}")


@pytest.mark.quick_rows(3)
@pytest.mark.parametrize(
    ("patch", "path", "line"),
    [
        (HEAD + b"@@ -1,3 +1,3 @@\n one\n-TWO\n+2\n three\n", "a.txt", 1),
        (HEAD + b"@@ -2,2 +2,2 @@\n two\n-four\n+4\n", "a.txt", 2),
        (GOOD.replace(b"a.txt", b"none.txt"), "none.txt", None),
        (HEAD + b"@@ -1,3 +1,3 @@\n one\n", "", 6),
        (HEAD + b"@@ -1,9 +1,99999999999999999999 @@\n one\n", "", 6),
        (new_file("a.txt"), "a.txt", None),
        (b"diff --git a/b.txt b/d.txt\nrename from nowhere.txt\nrename to d.txt\n", "nowhere.txt", None),
        (b"diff --git a/n b/d\nsimilarity index 100%\ncopy from n\ncopy to d\n", "n", None),
        (b"diff --git a/b.txt b/b.txt\nold mode 100644\nnew mode wild\n", "", 2),
        (literal(5, b"xxxx"), "", 7),
        (GOOD + b"diff --git a/b.txt b/b.txt\n--- a/b.txt\n+++ b/b.txt\n@@ -1 +1 @@\n-q\n+r\n", "b.txt", 1),
    ],
)  # fmt: skip
def test_a_patch_that_does_not_apply_says_where(
    base: str, mirror: Mirror, patch: bytes, path: str, line: int | None
) -> None:
    with pytest.raises(ChangeRefused) as refused:
        mirror.with_patch(base, patch)

    assert refused.value.code == "change.does_not_apply"
    assert (refused.value.path, refused.value.line) == (path, line)


@pytest.mark.parametrize("patch", [b"", b" \n\n", b"I changed it.\n", b"\0" * 100])
def test_a_patch_without_a_change_is_empty(base: str, mirror: Mirror, patch: bytes) -> None:
    with pytest.raises(ChangeRefused) as refused:
        mirror.with_patch(base, patch)

    assert refused.value.code == "change.empty"


@pytest.mark.quick_rows(4)
@pytest.mark.parametrize(
    ("patch", "code"),
    [
        (new_file("../../etc/passwd"), "change.path_unsafe"),
        (new_file("/etc/passwd"), "change.path_unsafe"),
        (new_file(".git/hooks/pre-commit"), "change.path_unsafe"),
        (new_file("x/.GIT/config"), "change.path_unsafe"),
        (new_file("git~1/config"), "change.path_unsafe"),
        (new_file(".g\u200cit/config"), "change.path_unsafe"),
        (new_file("a\\b"), "change.path_unsafe"),
        (new_file("DIR/d.txt"), "change.path_unsafe"),
        (new_file("A.TXT"), "change.path_unsafe"),
        (b'diff --git "a/\\056\\056/x" "b/\\056\\056/x"\nnew file mode 100644\n--- /dev/null\n'
         b'+++ "b/\\056\\056/x"\n@@ -0,0 +1 @@\n+x\n', "change.path_unsafe"),
        (b'diff --git "a/x\\ny" "b/x\\ny"\nnew file mode 100644\n--- /dev/null\n'
         b'+++ "b/x\\ny"\n@@ -0,0 +1 @@\n+x\n', "change.path_unsafe"),
        (b'diff --git "a/\\377" "b/\\377"\nnew file mode 100644\n--- /dev/null\n'
         b'+++ "b/\\377"\n@@ -0,0 +1 @@\n+x\n', "change.path_unsafe"),
        (b"diff --git a/b.txt b/../b.txt\nsimilarity index 100%\nrename from b.txt\n"
         b"rename to ../b.txt\n", "change.path_unsafe"),
        (b"diff --git a/../../etc/passwd b/p\nsimilarity index 100%\ncopy from ../../etc/passwd\n"
         b"copy to p\n", "change.does_not_apply"),
        (new_file("link", "120000", "/etc/passwd"), "change.link"),
        (b"diff --git a/b.txt b/b.txt\nold mode 100644\nnew mode 120000\n", "change.does_not_apply"),
        (new_file("sub", "160000", "Subproject commit " + "1" * 40), "change.submodule"),
        (new_file(".gitmodules"), "change.submodule"),
        (literal(3, b"a\0b"), "change.binary"),
        (b'diff --git a/l b/l\nnew file mode 100644\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+\xff\n',
         "change.binary"),
    ],
)  # fmt: skip
def test_a_patch_cannot_reach_out_or_bring_what_is_no_text(
    base: str, mirror: Mirror, patch: bytes, code: str
) -> None:
    with pytest.raises(ChangeRefused) as refused:
        mirror.changed(mirror.tree_of(base), mirror.with_patch(base, patch), takes_binary=False)

    assert refused.value.code == code


def test_a_file_may_change_the_case_of_its_name(repo: Repo, base: str, mirror: Mirror) -> None:
    patch = b"diff --git a/a.txt b/a.txt\ndeleted file mode 100644\n--- a/a.txt\n+++ /dev/null\n"
    patch += b"@@ -1,3 +0,0 @@\n-one\n-two\n-three\n" + new_file("A.txt", content="other")

    changed = mirror.changed(
        mirror.tree_of(base), mirror.with_patch(base, patch), takes_binary=False
    )

    assert changed == [ChangedPath("A.txt", "A"), ChangedPath("a.txt", "D")]


def test_a_file_may_become_executable(base: str, mirror: Mirror) -> None:
    tree = mirror.with_patch(
        base, b"diff --git a/b.txt b/b.txt\nold mode 100644\nnew mode 100755\n"
    )

    assert mirror.changed(mirror.tree_of(base), tree, takes_binary=False) == [
        ChangedPath("b.txt", "M")
    ]


@pytest.mark.parametrize(
    "patch",
    [
        literal(11 * MIB, b"x"),
        literal(10**29, b"x"),
        literal(10 * MIB, b"x") * 7,
        literal(30, number(0) + number(500 * MIB) + b"\x01x", b"delta"),
        b"x" * (20 * MIB + 1),
    ],
)
def test_what_would_unpack_to_too_much_is_not_unpacked(patch: bytes) -> None:
    with pytest.raises(ChangeRefused) as refused:
        changing.check_patch(patch)

    assert refused.value.code == "change.too_large"


def test_many_thousand_hunks_end(repo: Repo, mirror: Mirror) -> None:
    base = repo.commit({"a.txt": "x\n" * 15_000})
    hunks = b"".join(b"@@ -%d,3 +%d,3 @@\n x\n-x\n+y\n x\n" % (n, n) for n in range(1, 15_000, 3))

    tree = mirror.with_patch(base, HEAD + hunks)

    (content,) = mirror.read([mirror.entries(tree)[0].sha])
    assert content == b"x\ny\nx\n" * 5_000


def test_a_patch_upon_a_base_that_no_branch_has_is_refused(
    repo: Repo, base: str, mirror: Mirror
) -> None:
    other = repo.commit({"x": "x"}, "gone")
    repo.git("update-ref", "-d", "refs/heads/gone")

    for unknown in (other, "1" * 40):
        with pytest.raises(ChangeRefused) as refused:
            mirror.with_patch(unknown, GOOD)
        assert refused.value.code == "change.base_unknown"


def test_a_patch_that_exhausts_its_time_blames_nobody(
    base: str, mirror: Mirror, monkeypatch: pytest.MonkeyPatch
) -> None:
    mirror.resolve(base)
    slow = mirror.__class__(mirror._git.home, mirror._git.remote, seconds=0)

    with pytest.raises(GitLost) as lost:
        slow.with_patch(base, GOOD)

    assert lost.value.reason == "timed_out"


@pytest.mark.quick_rows(4)
@pytest.mark.parametrize(
    "name",
    ["a is corrupt", "No space left on device", "x: File too large", "Out of memory",
     "unable to write file: No space left on device", "fatal: x is corrupt",
     "Unable to create 'x.lock'", "packfile x is truncated", "died of signal 9"],
)  # fmt: skip
@pytest.mark.parametrize("how", ["modified", "broken", "unsafe", "line"])
def test_the_submitter_s_words_are_not_taken_for_git_s(
    base: str, mirror: Mirror, name: str, how: str
) -> None:
    patch = {
        "modified": GOOD.replace(b"a.txt", name.encode()),
        "broken": HEAD.replace(b"a.txt", name.encode()) + b"@@ -1,3 +1,3 @@\n one\n",
        "unsafe": new_file(f"../{name}"),
        "line": GOOD.replace(b"a.txt", b"x").replace(
            b"--- a/x", b'--- "a/x\\n%s"' % f"fatal: {name}".encode()
        ).replace(b"+++ b/x", b'+++ "b/x\\n%s"' % f"fatal: {name}".encode()).partition(b"\n")[2],
    }[how]  # fmt: skip

    with pytest.raises(ChangeRefused):
        mirror.with_patch(base, patch)

    assert (mirror._git.repository / "HEAD").exists()
    assert mirror.has(base)


@pytest.mark.parametrize(
    ("code", "said", "reason"),
    [
        (128, "fatal: Out of memory, malloc failed", "memory"),
        (1, "error: unable to create temporary file: No space left on device\nerror: x", "disk_full"),
        (128, "error: file write error: No space left on device\nfatal: y", "disk_full"),
        (128, "fatal: Unable to create '/x/index.lock': File exists.", "locked"),
        (128, "fatal: object file x is empty", "failed"),
        (128, "fatal: cannot read 'No space left on device'", "failed"),
        (-9, "error: x", "timed_out"),
    ],
)  # fmt: skip
def test_what_git_says_itself_is_still_heard(code: int, said: str, reason: str) -> None:
    assert calling.lost_on_submitted(calling.Ended(code, b"", said)).reason == reason


def test_a_spoilt_mirror_is_not_the_patch_s_fault(base: str, mirror: Mirror) -> None:
    mirror.resolve(base)
    for pack in (mirror._git.repository / "objects" / "pack").glob("*.pack"):
        content = bytearray(pack.read_bytes())
        content[-60:-20] = bytes(40)
        pack.chmod(0o600)
        pack.write_bytes(content)

    with pytest.raises(GitLost) as lost:
        mirror.with_patch(base, GOOD)
    assert lost.value.reason == "mirror_broken"
