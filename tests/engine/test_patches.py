from __future__ import annotations

import hashlib
from collections.abc import Callable

import pytest

from verification.engine.patches import LineEnds, read_patch
from verification.engine.reports.coverage import lines_of_diff

BOM = b"\xef\xbb\xbf"
HEAD = b"diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n"
CHANGE = HEAD + b"@@ -1,4 +1,4 @@\n-one\n+1\n two\n \n three\n"
STRIPPED_BLANKS = HEAD + b"@@ -1,4 +1,5 @@\n-one\n+1\n+1\n two\n \n \n"


def crlf(patch: bytes) -> bytes:
    return patch.replace(b"\n", b"\r\n")


@pytest.mark.parametrize(
    "patch",
    [
        CHANGE,
        CHANGE + HEAD.replace(b"a.py", b"b.py") + b"@@ -1 +1 @@\n--- a/a.py\n+++ b/x\n",
        HEAD + b"@@ -1 +1 @@\n-a\r\n+b\r\n",
        HEAD + b"@@ -1 +1 @@\n-\xef\xbb\xbfa\n+\xef\xbb\xbfb\n\\ No newline at end of file\n",
        b"--- a.py\n+++ a.py\n@@ -1 +1 @@\n-a\n+b\n--- b.py\n+++ b.py\n@@ -1 +1 @@\n-a\n+b\n",
        HEAD + b"GIT binary patch\nliteral 1\nIcmZPo00000\n\n",
        b"no patch at all\n",
    ],
)
def test_a_whole_patch_stays_as_it_is(patch: bytes) -> None:
    assert read_patch(patch).text == patch


@pytest.mark.parametrize(
    ("sent", "meant"),
    [
        (CHANGE.removesuffix(b"\n"), CHANGE),
        (BOM + CHANGE, CHANGE),
        (CHANGE + BOM + CHANGE, CHANGE + CHANGE),
        (STRIPPED_BLANKS.strip(), STRIPPED_BLANKS),
        (crlf(CHANGE), CHANGE),
        (crlf(STRIPPED_BLANKS).strip(), STRIPPED_BLANKS),
        (BOM + crlf(CHANGE), CHANGE),
        (b"", b""),
        (
            crlf(HEAD + b"GIT binary patch\nliteral 1\nIcmZPo00000\n\n").strip(),
            HEAD + b"GIT binary patch\nliteral 1\nIcmZPo00000\n\n",
        ),
        (
            HEAD + b"@@ -1,2 +1,2 @@\n-a\r\n+b\r\n\r\n",
            HEAD + b"@@ -1,2 +1,2 @@\n-a\r\n+b\r\n \r\n",
        ),
        (HEAD + b"@@ -1,1 +1,2 @@\n a\r\n+b", HEAD + b"@@ -1,1 +1,2 @@\n a\r\n+b\r\n"),
    ],
)
def test_what_passing_it_on_has_changed_is_mended(sent: bytes, meant: bytes) -> None:
    assert read_patch(sent).text == meant


@pytest.mark.parametrize(
    ("lines", "cut_at"),
    [(b"", None), (b"@@ -1,9 +1,9 @@\n one\n", 6), (b"@@ -1 +1,2 @@\n one\n", 6)],
)
def test_a_patch_that_is_cut_within_a_hunk_says_where(lines: bytes, cut_at: int | None) -> None:
    assert read_patch(HEAD + lines).cut_at == cut_at


@pytest.mark.parametrize(
    ("ends", "content"),
    [(LineEnds.LF, b"-a\n+b\n \n+c\n"), (LineEnds.CRLF, b"-a\r\n+b\r\n \r\n+c\n")],
)
def test_a_file_is_read_with_other_line_ends_up_to_its_last_line(
    ends: LineEnds, content: bytes
) -> None:
    head, marker = HEAD + b"@@ -1,2 +1,3 @@\n", b"\\ No newline at end of file\n"
    patch = read_patch(crlf(head + b"-a\n+b\n\n+c\n" + marker))

    assert patch.sections[0].text(ends) == head + content + marker


@pytest.mark.parametrize("content", [b"a\nb\n", b"a\r\n\r\n", b"a\r\nb"])
@pytest.mark.parametrize("convert", [crlf, bytes, lambda patch: patch.replace(b"\r\n", b"\n")])
@pytest.mark.parametrize("digits", [7, 40])
def test_a_new_file_has_the_line_ends_by_which_git_names_its_content(
    content: bytes, convert: Callable[[bytes], bytes], digits: int
) -> None:
    name = hashlib.sha1(b"blob %d\0%b" % (len(content), content), usedforsecurity=False).hexdigest()
    lines = content.removesuffix(b"\n").split(b"\n")
    marker = b"" if content.endswith(b"\n") else b"\\ No newline at end of file\n"
    patch = (
        b"diff --git a/n b/n\nnew file mode 100644\nindex %b..%b\n--- /dev/null\n+++ b/n\n"
        b"@@ -0,0 +1,%d @@\n"
        % (b"0" * digits, name[:digits].encode(), len(lines))
        + b"".join(b"+%b\n" % line for line in lines)
        + marker
    )
    sent = convert(patch.replace(b"\r\n", b"\n") if convert is crlf else patch)

    assert read_patch(sent).text == patch


@pytest.mark.parametrize("change", [crlf, bytes.strip, lambda diff: BOM + diff])
def test_the_lines_of_a_diff_are_those_of_the_diff_that_was_meant(
    change: Callable[[bytes], bytes],
) -> None:
    assert lines_of_diff(change(STRIPPED_BLANKS).decode()) == {"a.py": frozenset({1, 2})}


def test_a_patch_of_many_short_lines_is_read_in_linear_time_and_memory() -> None:
    lines = 200_000
    patch = HEAD + b"@@ -0,0 +1,%d @@\n" % lines + b"+\r\n" * lines

    parsed = read_patch(patch)

    assert parsed.text == patch
    assert len(parsed.sections) == 1
