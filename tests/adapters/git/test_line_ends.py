"""Patches as editors, mailers and agents pass them on: applied as they were meant, or refused."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.adapters.git.repositories import Repo
from verification.adapters.git import ChangeRefused, Mirror

BEFORE = b"def add(a, b):\n    return a + b\n\n\ndef sub(a, b):\n    return a - b\n"
AFTER = BEFORE.replace(b"a + b", b"b + a")
MIXED = BEFORE.replace(b"\n", b"\r\n", 2)
BINARY = bytes(range(256))


def crlf(content: bytes) -> bytes:
    return content.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")


def lf(content: bytes) -> bytes:
    return content.replace(b"\r\n", b"\n")


def converted_twice(content: bytes) -> bytes:
    return content.replace(b"\n", b"\r\n")


def marked(content: bytes) -> bytes:
    return b"\xef\xbb\xbf" + content


def without_last_end(content: bytes) -> bytes:
    return content.removesuffix(b"\n")


def stripped_and_converted(content: bytes) -> bytes:
    return crlf(content).strip()


WAYS = [bytes, crlf, lf, converted_twice, marked, without_last_end, bytes.strip,
        stripped_and_converted]  # fmt: skip


@pytest.mark.parametrize("pass_on", WAYS)
def test_a_patch_gives_the_tree_that_was_meant_whatever_passed_it_on(
    repo: Repo, mirror: Mirror, pass_on: Callable[[bytes], bytes]
) -> None:
    base = repo.commit({
        "lf.py": BEFORE, "crlf.py": crlf(BEFORE), "ended.py": crlf(BEFORE)[:-2], "p.bin": BINARY,
    })  # fmt: skip
    after = {
        "lf.py": AFTER, "crlf.py": crlf(AFTER), "ended.py": crlf(AFTER)[:-2],
        "p.bin": BINARY[::-1], "new.bat": b"rem\r\n\r\n", "new.sh": b"#!/bin/sh\n\n",
    }  # fmt: skip
    tip = repo.commit(after, "work")

    tree = mirror.with_patch(base, pass_on(repo.patch(base, tip)))

    assert tree == repo.git("rev-parse", f"{tip}^{{tree}}")


@pytest.mark.parametrize(("before", "after"), [(BEFORE, crlf(BEFORE)), (crlf(BEFORE), BEFORE)])
def test_a_patch_may_change_line_ends(
    repo: Repo, mirror: Mirror, before: bytes, after: bytes
) -> None:
    base = repo.commit({"a.py": before})
    tip = repo.commit({"a.py": after}, "work")

    tree = mirror.with_patch(base, repo.patch(base, tip))

    assert tree == repo.git("rev-parse", f"{tip}^{{tree}}")


@pytest.mark.parametrize(
    ("before", "pass_on"),
    [(MIXED, crlf), (MIXED, lf), (MIXED[:-1], stripped_and_converted), (BEFORE + b"x", crlf)],
)
def test_a_patch_whose_line_ends_nobody_can_know_is_refused_by_that_cause(
    repo: Repo, mirror: Mirror, before: bytes, pass_on: Callable[[bytes], bytes]
) -> None:
    base = repo.commit({"a.py": before})
    tip = repo.commit({"a.py": before.replace(b"a + b", b"b + a")}, "work")
    patch = pass_on(repo.patch(base, tip))
    if before.endswith(b"x"):
        patch = patch.replace(b"def sub", b"def other")

    with pytest.raises(ChangeRefused) as refused:
        mirror.with_patch(base, patch)

    assert (refused.value.code, refused.value.path) == ("change.does_not_apply", "a.py")
    assert "line ends" in refused.value.message
    assert "git diff --binary" in refused.value.message


def test_a_converted_patch_is_refused_where_it_gives_other_content_than_it_names(
    repo: Repo, mirror: Mirror
) -> None:
    lines = b"line\n" * 9
    base = repo.commit({"a.py": lines, "same.py": lines})
    tip = repo.commit({"a.py": lines + b"one with CR LF\r\n", "same.py": b"other\n" * 9}, "work")

    with pytest.raises(ChangeRefused) as refused:
        mirror.with_patch(base, crlf(repo.patch(base, tip)))

    assert refused.value.code == "change.does_not_apply"
    assert "line ends were converted" in refused.value.message


def test_what_a_patch_names_counts_only_where_its_line_ends_were_converted(
    repo: Repo, mirror: Mirror
) -> None:
    base = repo.commit({"a.py": BEFORE})
    tip = repo.commit({"a.py": AFTER}, "work")
    name = repo.git("rev-parse", f"{tip}:a.py").encode()
    patch = repo.patch(base, tip)
    stale = patch.replace(name[:7], b"1234567")
    assert stale != patch

    tree = mirror.with_patch(base, stale)

    assert tree == repo.git("rev-parse", f"{tip}^{{tree}}")


def test_a_patch_that_is_cut_off_says_so(repo: Repo, mirror: Mirror) -> None:
    base = repo.commit({"a.py": BEFORE})
    tip = repo.commit({"a.py": AFTER}, "work")
    patch = repo.patch(base, tip)

    with pytest.raises(ChangeRefused) as refused:
        mirror.with_patch(base, patch[: patch.index(b"-    return")])

    assert refused.value.message.startswith("The patch ends before its last hunk does")


def test_a_large_binary_content_is_refused_behind_other_line_ends_too(
    repo: Repo, mirror: Mirror
) -> None:
    base = repo.commit({"a.py": BEFORE})
    head = b"diff --git a/x b/x\nnew file mode 100644\nindex 0000000..1111111\nGIT binary patch\n"

    with pytest.raises(ChangeRefused) as refused:
        mirror.with_patch(base, crlf(head + b"literal %d\nIcmZPo00000\n\n" % 10**9))

    assert refused.value.code == "change.too_large"
