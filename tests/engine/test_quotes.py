from __future__ import annotations

import string
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from processes.definition.model import Severity, Target
from tests.engine.cases import Files, judged_case, llm, ports, told
from tests.engine.judges import Said, judged, reply
from tests.tables import check_rows
from tests.tiers import long_search
from verification.engine.evidence import EvidenceItem, ToolCall
from verification.engine.judges.asking import Ask
from verification.engine.protocol.absences import denied
from verification.engine.protocol.framing import plain
from verification.engine.protocol.quotes import Quotes

HARD = llm("sourced", severity=Severity.ERROR)
FILES: Files = {
    "report.md": "# Report\n\nThe market grew\nby 5 % in 2025.\n\n## Sources\n\n- none\n",
    "b.csv": b"\xef\xbb\xbfname,value\r\na,1\r\n",
    "logo.png": b"\x89PNG\r\n\x1a\n\0\0\0",
}
WORK: dict[str, Any] = {
    "files": FILES,
    "output": "I wrote “the report”.\nIt ends — here… and goes on there.",
    "evidence": (EvidenceItem("e1", "search", "https://example.org/a", "Growth was 5 percent."),),
    "tool_calls": (ToolCall("fetch", True, result={"status": 200, "text": "Not found"}),),
    "diff": "--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-old = 1\n+new = 2\n",
}


def quotes_of(**about: Any) -> Quotes:
    files = about.pop("files", FILES)
    return Quotes(judged_case(files=files, **about), ports(files))


@check_rows(
    ("quote", "place"),
    [
        ("I wrote “the report”.", ("", 1, 1)),
        ('I wrote "the report".', ("", 1, 1)),
        ('"It ends - here"', ("", 2, 1)),
        ("The market grew by 5 % in 2025.", ("report.md", 3, 1)),
        ("grew\n\n  by   5 %", ("report.md", 3, 12)),
        ("The market … in 2025", ("report.md", 3, 1)),
        ("[...] by 5 % [...]", ("report.md", 4, 1)),
        ("a,1", ("b.csv", 2, 1)),
        ("name,value", ("b.csv", 1, 1)),
        ("new = 2", ("x.py", None, None)),
        ("Growth was 5 percent.", ("", None, None)),
        ("https://example.org/a", ("", None, None)),
        ("Not found", ("", None, None)),
    ],
)
def test_a_quote_is_found_where_it_stands(
    quote: str, place: tuple[str, int | None, int | None]
) -> None:
    where = quotes_of(**WORK).find(quote)

    assert where is not None
    assert (where.path, where.line, where.column) == place


@pytest.mark.parametrize(
    "quote",
    [
        "the market grew by 5 %",  # another case
        "The market shrank",
        "in 2025 … The market",  # another order
        "The market … Growth was",  # of two texts
        "",
        "   ",
    ],
)
def test_what_stands_nowhere_is_not_found(quote: str) -> None:
    assert quotes_of(**WORK).find(quote) is None


def test_a_quote_is_looked_for_in_its_rules_target_first() -> None:
    quotes = quotes_of(output="The same.", files={"a.md": "The same."})

    places = [quotes.find("The same.", target) for target in (Target.OUTPUT, Target.DELIVERABLES)]

    assert [one.path for one in places if one] == ["", "a.md"]


def test_evidence_and_tool_calls_are_named_as_places() -> None:
    quotes = quotes_of(**WORK)

    places = [quotes.find(quote) for quote in ("Growth was 5 percent.", "Not found")]

    assert [one.place for one in places if one] == [{"evidence": "e1"}, {"tool_call": 0}]


@long_search(200)
@given(st.text(string.printable + "äß…“”—\u200b\u202e", min_size=1, max_size=200), st.data())
def test_whatever_is_cut_out_of_a_text_is_found_in_it(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    quote = text[start : start + data.draw(st.integers(1, 40))]

    where = quotes_of(files={}, output=text).find(quote)

    assert where is not None or not plain(quote).strip()


@pytest.mark.extended
@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("a " * 1_000_000, "a " * 1_900 + "b"),
        (" " * 2_000_000, "a b"),
        ("…" * 1_000_000, "… " * 2_000),
        ("\x1b[" * 500_000, "x"),
        ('"' * 2_000_000, '"' * 3_999 + "x"),
    ],
)
def test_no_text_and_no_quote_takes_long(text: str, quote: str) -> None:
    started = time.process_time()

    quotes_of(files={}, output=text).find(quote)

    assert time.process_time() - started < 20


@check_rows(
    ("why", "is_denied"),
    [
        ("The file `report.md` is missing.", True),
        ("[MISSING] report.md", True),
        ("There is no section 'Sources'.", True),
        ("The section “Sources” is missing from the report.", True),
        ("report.md was not found.", True),
        ("Could not find `Sources`.", True),
        # That is about what a file holds.
        ("`report.md` is missing a summary.", False),
        ("The section 'Sources' is missing links.", False),
        ("The file `other.md` is missing.", False),
        ("There is no section 'Method'.", False),
        ("report.md holds no figures.", False),
        ("", False),
    ],
)
def test_what_is_there_is_not_missing(why: str, is_denied: bool) -> None:
    case = judged_case(**WORK)

    assert bool(denied(why, case, quotes_of(**WORK))) is is_denied


INVENTED = ("violated", "It says so.", "We made it all up.")
QUOTED = ("violated", "It says so.", "by 5 % in 2025")


@pytest.mark.parametrize(
    ("first", "again", "verdict", "is_verified"),
    [
        (reply(rules={"sourced": QUOTED}), None, "reject", True),
        (reply(rules={"sourced": ("violated", "No source is named.")}), None, "reject", None),
        (reply(rules={"sourced": INVENTED}), reply(rules={"sourced": QUOTED}), "reject", True),
        (reply(rules={"sourced": INVENTED}), reply(rules={"sourced": "satisfied"}), "accept", None),
        (
            reply(rules={"sourced": INVENTED}),
            reply(rules={"sourced": INVENTED}),
            "undecided",
            False,
        ),
        (reply(rules={"sourced": INVENTED}), "Whatever.", "undecided", False),
        (
            reply(rules={"sourced": ("violated", "[MISSING] report.md")}),
            reply(rules={"sourced": "satisfied"}),
            "accept",
            None,
        ),
        (
            reply(rules={"sourced": ("violated", "[MISSING] report.md")}),
            reply(rules={"sourced": ("violated", "There is no section 'Sources'.")}),
            "undecided",
            False,
        ),
        # What was asked for is no invention of the judge's.
        (reply(rules={"sourced": ("violated", "It is not done.", "Do it.")}), None, "reject", None),
    ],
)
def test_an_invented_quote_cannot_carry_a_reject(
    first: Said, again: Said | None, verdict: str, is_verified: bool | None
) -> None:
    script = [first] if again is None else [first, again]

    conclusion, judge, _ = judged(*script, rules=[HARD], **WORK)

    assert conclusion.verdict == verdict
    assert [one.ask for one in judge.asked] == [Ask.ASSESS, Ask.AGAIN][: len(script)]
    assert [one.quote_verified for one in conclusion.findings] == (
        [] if verdict == "accept" else [is_verified]
    )


def test_the_judge_is_told_which_quote_it_made_up() -> None:
    _, judge, _ = judged(reply(rules={"sourced": INVENTED}), rules=[HARD], **WORK)

    assert "We made it all up." in judge.asked[1].prompt


def test_an_invented_quote_beside_a_sound_one_is_marked_and_asked_no_more() -> None:
    other = llm("complete", severity=Severity.ERROR)
    said = reply(rules={"sourced": QUOTED, "complete": INVENTED})

    conclusion, judge, _ = judged(said, rules=[HARD, other], **WORK)

    assert (conclusion.verdict, len(judge.asked)) == ("reject", 1)
    assert told(conclusion) == [
        ("sourced", "hard", "rule_violated"),
        ("complete", "hard", "rule_violated"),
    ]
    assert [one.quote_verified for one in conclusion.findings] == [True, False]


def test_a_place_comes_with_the_finding() -> None:
    conclusion, _, _ = judged(reply(rules={"sourced": QUOTED}), rules=[HARD], **WORK)

    [finding] = conclusion.findings
    assert (finding.path, finding.line, finding.column) == ("report.md", 4, 1)
    assert finding.quote == "by 5 % in 2025"
