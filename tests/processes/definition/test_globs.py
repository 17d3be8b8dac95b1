"""Paths with wildcards: what they match, and which cannot be meant."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from processes.definition.globs import backward_range, compile_glob
from processes.definition.load import load
from processes.definition.model import Level
from tests.tables import check_rows


def matched(glob: str, paths: list[str]) -> list[str]:
    pattern = compile_glob(glob)
    return [path for path in paths if pattern and pattern.search(path)]


@check_rows(
    ("glob", "matching", "other"),
    [
        ("app/[slug]/*.tsx", ["app/[slug]/page.tsx", "app/s/page.tsx"], ["app/x/page.tsx"]),
        ("app/[...all]/*.tsx", ["app/[...all]/page.tsx"], ["app/b/page.tsx"]),
        ("app/[[...all]]/*.tsx", ["app/[[...all]]/page.tsx"], ["app/all/page.tsx"]),
        ("app/[user-id]/*", ["app/[user-id]/a", "app/u/a"], ["app/f/a", "app/user-id/a"]),
        ("app/[*]/a", ["app/[slug]/a", "app/[*]/a", "app/*/a"], ["app/slug/a"]),
        ("r[0-9].csv", ["r5.csv", "r[0-9].csv"], ["rx.csv", "r55.csv"]),
        ("r[!0-9].csv", ["rx.csv", "r[!0-9].csv"], ["r5.csv"]),
        ("r[z-a].csv", ["r[z-a].csv"], ["rz.csv", "ra.csv", "r-.csv"]),
        ("r[a-].csv", ["ra.csv", "r-.csv"], ["rb.csv"]),
        ("r[]a].csv", ["r].csv", "ra.csv"], ["rb.csv"]),
        ("r[^]a].csv", ["rb.csv"], ["r].csv", "ra.csv"]),
        ("r[b.csv", ["r[b.csv"], ["rb.csv"]),
        ("R[A].csv", ["ra.csv", "r[a].csv"], []),
    ],
)
def test_brackets_match_as_a_class_or_as_they_stand(
    glob: str, matching: list[str], other: list[str]
) -> None:
    assert matched(glob, [*matching, *other]) == matching


@pytest.mark.parametrize("glob", ["[z-a].md", "[!z-a].md", "[a-zZ-A]", "v[9-0]*", "[a][z-a]"])
def test_a_range_that_runs_backwards_is_known(glob: str) -> None:
    assert backward_range(glob)


@pytest.mark.parametrize(
    "glob",
    ["[a-z]", "[-z]", "[a-]", "[a-a]", "[user-id]", "[...post-slug]", "[[...post-slug]]", "x[z-a"],
)
def test_a_name_with_a_hyphen_is_no_range(glob: str) -> None:
    assert backward_range(glob) == ""


@pytest.mark.parametrize(("is_stored", "level"), [(False, Level.ERROR), (True, Level.WARNING)])
def test_a_process_with_a_backward_range_is_refused_unless_it_was_stored(
    is_stored: bool, level: Level
) -> None:
    source = (
        "name: p\nphases:\n- id: a\n  description: d\n  deliverables:\n  - a.md\n  - 'b/[z-a].md'\n"
    )

    loaded = load(source, is_stored=is_stored)

    problem = next(one for one in loaded.problems if one.code == "deliverable.range")
    assert (problem.level, problem.path) == (level, "phases[0].deliverables[1]")
    assert (problem.line, problem.column) == (7, 5)
    assert "'a-z'" in problem.message
    assert (loaded.definition is None) is (level is Level.ERROR)


@given(st.text(alphabet="ab]-[!^*?{},/.\\z\n", max_size=20))
def test_a_path_with_wildcards_matches_itself_or_is_unreadable(glob: str) -> None:
    pattern = compile_glob(glob)

    backward_range(glob)
    if pattern and not set("{}\n") & set(glob):
        assert pattern.search(glob)
