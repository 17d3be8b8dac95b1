"""The two tiers together run each test, and none of them twice."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests import plugin

ROOT = Path(__file__).parents[1]
FILES = ("tests/engine/protocol/test_corpus.py", "tests/engine/protocol/test_laws.py")
"""Files with marked tests, with `quick_rows`, and with long searches."""
SEARCHES = "tests/engine/protocol/test_laws.py::test_two_verdicts_that_disagree_are_none"


def collect(*options: str) -> set[str]:
    command = [sys.executable, "-m", "tests", "--collect-only", "-q", *FILES, *options]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True, text=True)
    return {line for line in listed.stdout.splitlines() if "::" in line}


def test_each_test_belongs_to_one_tier_and_a_long_search_to_both() -> None:
    everything, quick, extended = (
        collect(*options) for options in ((), ("--tier", "quick"), ("--tier", "extended"))
    )

    assert quick | extended == everything
    assert SEARCHES in quick & extended
    assert all("[" not in item for item in quick & extended), "no row of a matrix runs twice"
    assert quick - extended
    assert extended - quick


@pytest.mark.parametrize(
    ("rows", "count", "kept"),
    [(10, 3, [0, 3, 6]), (4, 4, [0, 1, 2, 3]), (2, 5, [0, 1]), (7, 1, [0])],
)
def test_quick_rows_keeps_rows_at_even_steps(rows: int, count: int, kept: list[int]) -> None:
    assert sorted(plugin.kept_rows(rows, count)) == kept


@pytest.mark.parametrize(
    ("text", "is_left_out"),
    [
        ("pytestmark = pytest.mark.extended\n", True),
        ("pytestmark = [\n    pytest.mark.django_db,\n    pytest.mark.faults,\n]\n", True),
        ("pytestmark = [pytest.mark.browser, pytest.mark.django_db]\n", True),
        ("pytestmark = pytest.mark.browser\n\n@pytest.mark.story\ndef test(): ...\n", False),
        ("pytestmark = pytest.mark.django_db\n\n@pytest.mark.extended\ndef test(): ...\n", False),
        ("def test(): ...\n", False),
    ],
)
def test_files_that_are_extended_as_a_whole_are_not_imported(text: str, is_left_out: bool) -> None:
    assert plugin.is_extended_as_a_whole(text) == is_left_out
