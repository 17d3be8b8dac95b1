from __future__ import annotations

import re
from typing import Any

import pytest
from markdown_it import MarkdownIt

from tests.builders import make_project, make_run, make_task
from tests.judged import claim, judged_run, live_of, make_votes, set_claims
from tests.tables import check_rows
from verification.engine.outcome import Action, Outcome, Verdict
from verification.runs.exporting.gathered import report_of
from verification.runs.exporting.markdown import markdown
from verification.runs.exporting.texts import markdown_code, markdown_span, markdown_text
from verification.runs.models import Run, RunState

HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "[click](https://evil.example)",
    "![x](https://evil.example/x.png)",
    "[ref]: https://evil.example",
    "https://evil.example www.evil.example me@evil.example",
    "<https://evil.example>",
    "# Accepted",
    "Accepted\n===",
    "```\n</code>\n# Out",
    "~~~\nout\n~~~",
    "`code` ``code``",
    "a | b\n--- | ---\n1 | 2",
    "* item\n1. item\n- [ ] task",
    "1. item",
    "2) item",
    "- item",
    "+ item",
    "---",
    "===",
    "**bold** _it_ ~~gone~~",
    "&lt;b&gt; &#64;someone",
    "\\<b\\> \\",
    "    indented\n\tcode",
    "> quoted",
    "<!-- hidden -->",
    "$$x$$ :smile: [^1]",
]
HOSTILE_KINDS = [
    "<img src=x onerror=alert(1)>",
    "[click](https://evil.example)",
    "a | b\n--- | ---\n1 | 2",
    "```\n</code>\n# Out",
]
"""One of each kind: HTML, a link, a table, blocks. How each text is escaped is tested by itself."""
TAG = re.compile(r"<(?!/?(p|h[1-6]|ul|li|strong|table|thead|tbody|tr|th|td|pre|code|a)\b)")


def html_of(text: str) -> str:
    """As a code host shows it: tables, and links where an address stands alone."""
    parser = MarkdownIt("commonmark", {"html": True}).enable("table").enable("strikethrough")
    return str(parser.render(text))


@check_rows("text", HOSTILE)
def test_submitted_text_stays_text(text: str) -> None:
    shown = html_of(f"Before {markdown_text(text, 1000)} after")

    assert shown.count("<") == 2
    assert shown.startswith("<p>Before ")


@check_rows("text", HOSTILE)
def test_a_place_stays_code_within_its_line(text: str) -> None:
    shown = html_of(f"Before {markdown_span(text, 1000)} after")

    assert re.sub("[^<>]+", "", shown) == "<><><><>"
    assert shown.startswith("<p>Before <code>")
    assert shown.endswith("</code> after</p>\n")


@check_rows("text", HOSTILE)
def test_submitted_text_stays_text_at_the_start_of_a_line_too(text: str) -> None:
    shown = html_of(f"Before\n\n{markdown_text(text, 1000)}\n\nAfter")

    assert re.fullmatch(r"<p>Before</p>\n<p>[^<]*</p>\n<p>After</p>\n", shown)


@check_rows("text", HOSTILE)
def test_submitted_text_in_a_table_stays_in_its_cell(text: str) -> None:
    shown = html_of(f"| A | B |\n| --- | --- |\n| {markdown_text(text, 1000)} | b |")

    assert shown.count("<tr>") == 2
    assert shown.count("<td>") == 2
    assert "<a" not in shown


@check_rows("text", [*HOSTILE, "`" * 50, "`` ` ```` \n`````\nend", "\r`````\r# x"])
def test_a_quote_cannot_leave_its_block(text: str) -> None:
    shown = html_of(f"Before\n\n{markdown_code(text, 1000)}\n\nAfter")

    assert re.fullmatch(
        r"<p>Before</p>\n<pre><code[^<>]*>[^<>]*</code></pre>\n<p>After</p>\n", shown
    )


@pytest.mark.parametrize("text", ["@someone", "#12", "!7", "~label", "%stone", "$3", "^x", "&12"])
def test_nobody_is_mentioned_and_no_issue_is_linked(text: str) -> None:
    # Code hosts look for names in the finished page, where no backslash is left.
    shown = html_of(markdown_text(f"see {text}", 1000))

    assert text not in shown.replace("&amp;", "&")


def test_hidden_characters_are_named() -> None:
    assert markdown_text("a\u202eb\u200bc\x07", 1000) == r"a\[U+202E\]b\[U+200B\]c\[U+0007\]"
    assert "[U+202E]" in markdown_code("a\u202eb", 1000)


def report_on(run: Run) -> str:
    return markdown(report_of(run))


@pytest.mark.django_db
def test_a_report_says_the_verdict_first_and_what_to_do() -> None:
    project = make_project()
    task = make_task(project.processes.get(), "q3")
    run = make_run(
        project,
        task=task,
        outcome=Outcome.FAIL,
        reason_code="syntax_invalid",
        attempt=1,
        findings=[
            {
                "rule": "syntax",
                "path": "src/a.py",
                "line": 3,
                "message": "Expected `:`.",
                "quote": "def f()",
                "suggestion": "Add a colon.",
            },
            {"enforcement": "advisory", "message": "An odd name."},
        ],
        evaluation={
            "action": Action.RETRY,
            "rule_trace": [
                {
                    "rule": "no-placeholders",
                    "phase": "build",
                    "applied": True,
                    "verdict": "violated",
                    "reason": "every_phase",
                },
                {
                    "rule": "figures-have-sources",
                    "phase": "build",
                    "applied": False,
                    "verdict": "not_reached",
                    "reason": "other_phase",
                },
            ],
        },
    )

    shown = html_of(report_on(run))
    plain = re.sub(r"<[^>]+>|\u200b", "", shown)

    assert shown.startswith("<h1>Rejected: a file does not parse.</h1>")
    assert plain.index("Task: q3") < plain.index("What to do next") < plain.index("Findings")
    for text in (
        "Correct what is listed below and submit the task again.",
        "syntax, at src/a.py:3: Expected `:`.",
        "def f()",
        "Suggestion: Add a colon.",
        "small-work v1, phase build",
    ):
        assert text in plain
    assert plain.index("Hard") < plain.index("Advisory")
    assert "<td>no-placeholders</td>\n<td>violated</td>\n<td>every phase</td>" in shown
    assert "<td>figures-have-sources</td>\n<td>other phase</td>" in shown
    assert "<td>14 ms</td>" in shown
    assert f'<a href="http://localhost:8000/p/{project.slug}/runs/{run.uuid}/">' in shown


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("columns", "title"),
    [
        ({"verdict": Verdict.UNDECIDED, "outcome": Outcome.FAIL}, "Undecided: verification did"),
        ({"state": RunState.ERRORED}, "Verification failed on our side."),
        ({"state": RunState.CANCELLED}, "Cancelled before it was judged."),
        ({"outcome": Outcome.PASS}, "Accepted: every check that was asked for holds."),
    ],
)
def test_a_report_never_turns_doubt_into_a_verdict(columns: dict[str, Any], title: str) -> None:
    shown = html_of(report_on(make_run(make_project(), **columns)))

    assert shown.startswith(f"<h1>{title}")


@pytest.mark.quick_rows(12)
@pytest.mark.django_db
@pytest.mark.parametrize("text", HOSTILE_KINDS)
def test_a_hostile_run_gives_a_report_with_nothing_of_its_own(text: str) -> None:
    project = make_project()
    names = ("rule", "message", "quote", "path", "suggestion")
    run = make_run(
        project,
        task=make_task(project.processes.get(), text.replace("\n", " ")),
        title=text,
        outcome=Outcome.FAIL,
        findings=[dict.fromkeys(names, text)],
        evaluation={
            "rule_trace": [
                {"rule": text, "phase": "b", "applied": a, "verdict": text, "reason": text}
                for a in (True, False)
            ]
        },
    )

    shown = html_of(report_on(run))

    assert not TAG.search(shown)
    assert re.findall(r'href="([^"]*)"', shown) == [
        f"http://localhost:8000/p/{project.slug}/runs/{run.uuid}/"
    ]
    assert re.findall(r"<h1>|<h2>", shown) == ["<h1>", "<h2>", "<h2>", "<h2>", "<h2>"]
    assert shown.count("<tr>") == 6


@pytest.mark.django_db
def test_a_long_report_says_what_it_leaves_out() -> None:
    run = make_run(make_project(), findings=[{"message": f"Problem {n}."} for n in range(230)])

    text = report_on(run)

    assert text.count("Problem") == 200
    assert "And 30 more: the page of the run shows them." in text


@pytest.mark.django_db
def test_a_report_tells_votes_and_claims_with_what_they_come_to() -> None:
    text = report_on(judged_run(make_project()))

    assert "No majority among all 3: nothing is decided, a person looks at it." in text
    assert "| 2 | openai/gpt-5-mini | against |" in text
    assert "| Most customers would switch within a year. | unsupported, pruned |" in text
    assert "It names no evidence that was submitted." in text


@pytest.mark.quick_rows(13)
@pytest.mark.django_db
@pytest.mark.parametrize("text", HOSTILE_KINDS)
def test_what_judges_and_claims_say_stays_text(text: str) -> None:
    run = make_run(make_project(), tier_requested=3)
    live = live_of(run)
    make_votes(live, [True, False], why=text)
    set_claims(live, [claim(text, text, section=text, note=text, evidence=(text,))])

    shown = html_of(report_on(run))

    assert not TAG.search(shown)
    assert shown.count("href=") == 1
    assert shown.count("<tr>") == 7
