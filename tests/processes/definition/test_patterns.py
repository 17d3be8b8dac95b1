from __future__ import annotations

import itertools
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from processes.definition.lint import MAX_SECONDS, lint
from processes.definition.load import load
from processes.definition.patterns import count_matches, problem_of, weight
from tests.processes.files import SMALL
from tests.tables import check_rows
from tests.tiers import long_search


@check_rows(
    ("pattern", "construct", "column"),
    [
        (r"a(?=b)", "lookahead", 2),
        (r"(?!b)c", "lookahead", 1),
        (r"[(?=]x(?<=y)", "lookbehind", 7),
        (r"(?<!x)y", "lookbehind", 1),
        (r"(a)\1", "backreference", 4),
        (r"\\(?P<n>a)(?P=n)", "backreference", 11),
        (r"x(?>a)", "atomic group", 2),
        (r"(a)?(?(1)b|c)", "conditional group", 5),
        (r"a++b", "possessive repetition", 2),
        (r"a\Z", r"\Z", 2),
        ("\\u00e9", r"\u", 1),
        (r"\Q(?=\E(?=x)", "lookahead", 8),
        (r"(?x)a", "flag", 1),
    ],
)
def test_what_a_linear_matcher_cannot_run_is_named_with_its_column(
    pattern: str, construct: str, column: int
) -> None:
    problem = problem_of(pattern)

    assert problem is not None
    assert construct in problem.message
    assert problem.column == column


@pytest.mark.parametrize(
    ("pattern", "column"),
    [("[z-a]", 2), ("*a", 1), ("a)", None), ("x{5000}", 2), ("é**", 2)],
)
def test_a_mistake_is_told_with_its_column_where_it_can_be(
    pattern: str, column: int | None
) -> None:
    problem = problem_of(pattern)

    assert problem is not None
    assert problem.column == column


@pytest.mark.parametrize("pattern", ["x" * 2_001, r"(?:\pL{1,200}){1,4}" * 40, "\ud800"])
def test_a_pattern_has_bounds(pattern: str) -> None:
    assert problem_of(pattern) is not None


@pytest.mark.parametrize("pattern", ["", r"(?mi)^# \w+$", r"\p{Greek}+", r"[^]\n]", r"\bTODO\b"])
def test_usual_patterns_run(pattern: str) -> None:
    assert problem_of(pattern) is None


def test_a_pattern_that_explodes_elsewhere_takes_linear_time_here() -> None:
    started = time.process_time()

    found = count_matches(r"(a+)+$", "a" * 50_000 + "b", limit=10)

    assert found == 0
    assert time.process_time() - started < 20


@pytest.mark.parametrize(
    ("pattern", "text", "count"),
    [
        ("$", "ab", 1),
        (r"\b", "ab", 2),
        ("(?m)^", "a\nb\n", 3),
        ("x*", "é", 2),
        ("a*", "baac", 4),
        ("", "héé", 4),
    ],
)
def test_an_empty_match_counts_once_and_never_within_a_character(
    pattern: str, text: str, count: int
) -> None:
    assert count_matches(pattern, text, limit=100) == count


def test_repetitions_multiply_what_a_pattern_may_cost() -> None:
    patterns = ["(a?){1000}b", "TODO", "(?:(?:x?){30}){30}y", "x{2}"]

    assert sorted(patterns, key=weight) == [
        "TODO", "x{2}", "(a?){1000}b", "(?:(?:x?){30}){30}y",
    ]  # fmt: skip


def test_a_file_of_large_patterns_is_not_tried_without_end() -> None:
    definition = load(SMALL).definition
    assert definition is not None

    in_time = lint(definition, clock=lambda: 0.0)
    [late] = lint(definition, clock=itertools.count(step=MAX_SECONDS).__next__)

    assert in_time == ()
    assert (late.code, late.path) == ("rule.pattern.untried", "verification.rules[0].check")


def test_matches_are_counted_up_to_a_limit() -> None:
    assert count_matches("a", "banana", limit=10) == 3
    assert count_matches("a", "banana", limit=2) == 2


@long_search(200)
@given(st.text(alphabet="ab()[]{}?*+\\|^$.<>=!:PpQEZ0129,-#x \n", max_size=20) | st.text())
def test_no_pattern_is_a_traceback(pattern: str) -> None:
    problem = problem_of(pattern)

    assert problem is None or problem.message
