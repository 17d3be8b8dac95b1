"""The words above a narrowed list of comparisons."""

from __future__ import annotations

from tests.tables import check_rows
from verification.trials.filters import ComparisonFilters
from verification.trials.pages.comparison_rows import narrowed_words


@check_rows(
    ("filters", "words"),
    [
        ({"finer": "warnings"}, "differs in"),
        ({"kind": "k"}, "one kind of difference"),
        ({"replay": "r"}, "one replay"),
        ({"q": "parser"}, "named like parser"),
        ({"origin": "live"}, "live"),
        ({"process": "code-change"}, "process code-change"),
    ],
)
def test_each_filter_is_named(filters: dict[str, str], words: str) -> None:
    assert words in " ".join(narrowed_words(ComparisonFilters(**filters)))


def test_a_list_that_is_not_narrowed_has_no_words() -> None:
    assert narrowed_words(ComparisonFilters()) == []
