"""What the shipped corpus as a whole holds on to."""

from __future__ import annotations

from typing import Any

import pytest

from verification.golden import shipped

BUILT_IN = set(shipped.builtin_definitions())
CASES: dict[str, dict[str, Any]] = {one["id"]: one for _, one in shipped.shipped_documents()}
FALSE_FAILS = {
    "words that look like placeholders": (
        "market-sizes-and-app-names-are-no-placeholders",
        "general-todo-comments-in-code",
    ),
    "rules of other phases": (
        "research-search-is-not-judged-by-rules-of-the-report",
        "competitive-brief-needs-no-table-of-facts",
        "scoping-by-phase-and-not-by-name",
    ),
    "verdicts wrapped in prose": (
        "research-verdict-in-prose-and-fences-is-read",
        "reply-json-wrapped-in-prose",
    ),
    "cells that say N/A": (
        "research-not-reported-cells-are-no-placeholders",
        "data-extract-cells-say-not-available",
        "competitive-cells-without-facts-are-honest",
    ),
    "ragged rows": ("market-ragged-row-is-a-remark", "data-extract-ragged-rows"),
    "one where a rule speaks of several": (
        "market-one-competitor-is-enough",
        "code-change-plural-for-a-single-customer",
    ),
    "headers in another spelling or order": (
        "research-headers-in-another-spelling-are-the-same-headers",
        "data-extract-header-in-another-order",
        "competitive-claims-table-with-tabs-names-its-sources",
    ),
}
"""Good work that was rejected once."""


def processes(tag: str) -> set[str]:
    return {one["process"] for one in CASES.values() if tag in one.get("tags", ())}


@pytest.mark.parametrize("names", FALSE_FAILS.values(), ids=FALSE_FAILS)
def test_a_false_fail_of_the_past_is_held_on_to_in_several_processes(
    names: tuple[str, ...],
) -> None:
    cases = [CASES[name] for name in names]

    assert {one["expected"]["verdict"] for one in cases} == {"accept"}
    assert all("false-fail" in one["tags"] and "canary" not in one["tags"] for one in cases)
    assert len({one["process"] for one in cases}) >= 2


@pytest.mark.parametrize("tag", ["true-fail", "false-fail", "injection", "canary"])
def test_every_built_in_process_has_cases_of_what_must_hold_everywhere(tag: str) -> None:
    assert processes(tag) >= BUILT_IN


@pytest.mark.parametrize(
    "tag", ["unconfirmed", "unreadable", "gates", "attempts", "scoping", "votes"]
)
def test_every_theme_is_come_to_in_several_processes(tag: str) -> None:
    assert len(processes(tag)) >= 2


def test_enough_cases_are_left_where_the_held_set_is_left_out() -> None:
    shown = [one for one in CASES.values() if "canary" not in one.get("tags", ())]

    assert len(shown) >= 120
    assert {one["process"] for one in shown} >= BUILT_IN
    assert [one["id"] for one in shown if not one["guards"].strip()] == []
