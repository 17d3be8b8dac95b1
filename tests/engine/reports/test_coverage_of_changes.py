from __future__ import annotations

from collections.abc import Mapping

import pytest

from tests.engine.reports.problem_reports import content_of
from verification.engine.reports.coverage import changed_lines, lines_of_diff
from verification.engine.reports.model import MAX_REPORT_BYTES, Coverage, FileCoverage, Unreadable

REPORT = Coverage({"a.py": FileCoverage(frozenset({1, 2, 3}), frozenset({4, 5}))})
# Of the tree from which tests/engine/reports/recorded/git was recorded.
CHANGED = {
    "b/b2.txt": frozenset({1, 2, 3, 4}),
    "b/new.txt": frozenset({1}),
    "src/café.txt": frozenset({1, 2}),
    "src/end.txt": frozenset({1}),
    "src/kept.txt": frozenset({2, 9, 10}),
    "src/new.txt": frozenset({3}),
    "src/odd.txt": frozenset({1, 2}),
    "src/with space.txt": frozenset({2}),
}


@pytest.mark.parametrize(
    ("changed", "share"),
    [
        ({"a.py": frozenset({1, 2})}, (2, 2)),
        ({"a.py": frozenset({3, 4, 6})}, (1, 2)),
        ({"a.py": frozenset({4}), "b.py": frozenset({1})}, (0, 1)),
        ({"a.py": frozenset({6})}, None),  # no code
        ({"b.py": frozenset({1})}, None),  # no word of it
        ({}, None),
    ],
)
def test_of_the_changed_lines_those_of_code_count(
    changed: Mapping[str, frozenset[int]], share: tuple[int, int] | None
) -> None:
    assert changed_lines(REPORT, changed) == share


@pytest.mark.parametrize("name", ["plain", "noprefix", "mnemonic", "no_context"])
def test_a_diff_tells_the_new_lines_however_git_writes_it(name: str) -> None:
    diff = content_of(f"recorded/git/{name}.diff").decode()

    assert lines_of_diff(diff) == CHANGED


@pytest.mark.parametrize(
    ("header", "path"),
    [
        ("--- a/x.py\n+++ b/x.py\n", "x.py"),
        ("--- x.py\t2024-01-01 00:00:00\n+++ x.py\t2024-01-02 00:00:00\n", "x.py"),
        ("--- /dev/null\n+++ b/x.py\n", "x.py"),
        ("--- a/x.py\r\n+++ b/x.py\r\n", "x.py"),
        ('--- "a/\\"q\\"\\t.py"\n+++ "b/\\"q\\"\\t.py"\n', '"q"\t.py'),
        ("--- b/x.py\n+++ b/x.py\n", "b/x.py"),
        ("--- /workspace/x.py\n+++ /workspace/x.py\n", "x.py"),
    ],
)
def test_a_path_is_read_as_the_workspace_knows_it(header: str, path: str) -> None:
    assert lines_of_diff(f"{header}@@ -1 +1 @@\n-a\n+b\n") == {path: frozenset({1})}


@pytest.mark.parametrize("path", ["b/../../x", "/etc/passwd", "/dev/null", "b/", '"b/\\000"'])
def test_a_file_elsewhere_is_left_out(path: str) -> None:
    assert lines_of_diff(f"--- a/x\n+++ {path}\n@@ -1 +1 @@\n-a\n+b\n") == {}


@pytest.mark.parametrize(
    "diff",
    [
        "--- a/x\n+++ b/x\n@@ -1 +1,2 @@\n-a\n+b\n",  # cut short
        "--- a/x\n+++ b/x\n@@ -1 +1,2 @@\n-a\n-b\n+c\n",
        "--- a/x\n+++ b/x\n@@ -1 +1 @@\nnonsense\n",
        "--- a/x\n+++ b/x\n@@ nonsense @@\n",
        "@@ -1 +1 @@\n-a\n+b\n",
        "diff --git a/x b/x\n@@ -1 +1 @@\n-a\n+b\n",
        "--- a/x\n+++ b/x\n@@@ -1 -1 +1 @@@\n",
        pytest.param("x" * (MAX_REPORT_BYTES + 1), id="large"),
    ],
)
def test_a_diff_that_is_not_whole_is_unreadable(diff: str) -> None:
    with pytest.raises(Unreadable):
        lines_of_diff(diff)


def test_no_diff_changes_nothing() -> None:
    assert lines_of_diff("") == {}
