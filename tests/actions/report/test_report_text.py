from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from tests.tables import check_rows
from verification.actions.report.markdown import escaped, markdown
from verification.actions.report.nights import Night
from verification.actions.report.values import (
    Changes,
    Ending,
    Link,
    Need,
    Needed,
    Page,
    ProcessLine,
    Report,
    RunLine,
    Standing,
    Stretch,
    Tally,
    ending_of,
)
from verification.engine.outcome import Outcome, Verdict
from verification.reviews.notices.text import one_line
from verification.runs.models import RunState

START = datetime(2026, 11, 17, 18, tzinfo=UTC)
NIGHT = Night(START, START + timedelta(hours=14))
RUNS = Link(Page.RUNS)
READER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
HOSTILE = [
    "[click](https://evil.example)",
    "![x](//evil.example/p.png)",
    "<img src=x onerror=alert(1)>",
    "**bold** _it_ ~~gone~~ `code`",
    "a | b | c",
    "# Heading",
    "- [ ] done\n\n# Heading\n| a |",
    "&lt;b&gt; &#91;",
    "\\[x](y) \\",
    "www.evil.example @somebody #12",
    "<https://evil.example>",
    "[x]: https://evil.example",
]


def report_of(title: str = "A title", **changes: object) -> Report:
    line = RunLine(one_line(title), "small-work", "build", START, one_line(title), RUNS)
    tally = Tally("pass", "pass", 1, RUNS)
    values: dict[str, object] = {
        "project": one_line(title),
        "slug": "looms",
        "zone": "UTC",
        "night": NIGHT,
        "runs": 1,
        "runs_link": RUNS,
        "cost_usd": Decimal(0),
        "endings": [tally],
        "reasons": [],
        "processes": [ProcessLine("small-work", "S", 1, [tally], Decimal(0), RUNS)],
        "stretches": [Stretch(NIGHT, 1, [tally], RUNS)],
        "changes": 1,
        "standings": [
            Changes(
                one,
                int(one is Standing.COMMITTED),
                [("", int(one is Standing.COMMITTED))],
                [line] if one is Standing.COMMITTED else [],
            )
            for one in Standing
        ],
        "earlier": [],
        "needs_count": 0,
        "needs": [],
        "waiting": [line],
        "budgets": [],
        "regressions": [],
        "agreed": [],
    }
    return Report(**{**values, **changes})  # type: ignore[arg-type]


def address(link: Link) -> str:
    return f"https://here.example/{link.page}"


@check_rows("title", HOSTILE)
def test_a_hostile_title_is_nothing_but_text(title: str) -> None:
    html = READER.render(markdown(report_of(title), address))
    usual = READER.render(markdown(report_of("usual"), address))

    for mark in ("<a ", "<img", "<code", "<strong", "<em", "<s>", "<h1", "<h2", "<h3", "<td"):
        assert html.count(mark) == usual.count(mark), mark
    assert html.count('href="https://here.example/') == html.count("href=")


@given(st.text(max_size=200).map(one_line))
def test_escaped_text_is_read_back_as_it_was(text: str) -> None:
    [paragraph] = [one for one in READER.parse(f"x{escaped(text)}x") if one.type == "inline"]

    assert "".join(one.content for one in paragraph.children or []) == f"x{text}x"


def test_the_same_report_is_always_the_same_text() -> None:
    assert markdown(report_of(), address) == markdown(report_of(), address)


def test_an_empty_night_is_stated_in_one_sentence() -> None:
    nothing = [Changes(one, 0, [], []) for one in Standing]
    empty = report_of(
        runs=0, endings=[], processes=[], stretches=[], changes=0, standings=nothing, waiting=[]
    )

    text = markdown(empty, address)

    told = "**Nothing ran in this night, and nothing was done. Nothing waits for a person.**"
    assert told in text
    assert text.endswith("## What is next\n\nNothing is left to do.\n")


@pytest.mark.parametrize(
    "changes",
    [
        {"runs": 2},
        {"changes": 2},
        {"needs_count": 1},
        {"needs": [Needed(Need.REVIEW, "x", "x", 1, START)]},
        {"endings": []},
        {"processes": []},
    ],
)
def test_a_report_whose_counts_do_not_add_up_is_none(changes: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="is not the sum"):
        report_of(**changes)


def test_a_standing_s_reasons_hold_each_of_its_changes_once() -> None:
    with pytest.raises(ValueError, match="is not the sum"):
        Changes(Standing.HELD, 2, [("moved", 1)], [])


@check_rows("state", RunState.values)
@check_rows("verdict", ["", *Verdict])
@check_rows("outcome", [None, *Outcome])
def test_only_an_accepting_verdict_counts_as_accepted(
    state: str, verdict: str, outcome: str | None
) -> None:
    ending = ending_of(state, verdict, outcome)

    accepted = ending in (Ending.PASS, Ending.WARNINGS, Ending.PARTIAL)
    assert accepted <= (state == "finished" and verdict == "accept")
    assert (ending is Ending.FAIL) == (state == "finished" and verdict == "reject")
