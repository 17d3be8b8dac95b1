from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from processes.definition.model import Enforcement
from tests.engine.cases import evaluate, regex, told
from tests.tables import check_rows
from tests.tiers import long_search
from verification.engine.checks import materials
from verification.engine.evidence import EvidenceItem, Matches, Pattern, ToolCall
from verification.engine.matching import Texts, search

HARD_NO_X: dict[str, Any] = {"enforcement": Enforcement.HARD}


@check_rows(
    ("fields", "output", "broken"),
    [
        ({}, "x", True),
        ({}, "y", False),
        ({"expect": "match"}, "x", False),
        ({"expect": "match"}, "y", True),
        ({"expect": "match"}, "", True),
        ({"min_count": 2}, "x x", False),
        ({"min_count": 2}, "x", True),
        ({"min_count": 2}, "x x x", False),
        ({"min_count": 2, "requires_exact_cardinality": True}, "x x x", True),
        ({"min_count": 2, "requires_exact_cardinality": True}, "x x", False),
        ({"requires_exact_cardinality": True}, "x", False),
        ({"requires_exact_cardinality": True}, "x x", True),
        ({"min_count": 0, "requires_exact_cardinality": True}, "y", False),
        ({"min_count": 0, "requires_exact_cardinality": True}, "x", True),
    ],
)
def test_what_a_regex_rule_expects(fields: dict[str, Any], output: str, broken: bool) -> None:
    conclusion = evaluate(rules=[regex("rule", "x", **fields)], output=output)

    assert bool(conclusion.findings) is broken
    assert conclusion.trace[0].verdict == ("violated" if broken else "satisfied")


def test_each_match_has_its_line_column_and_quote() -> None:
    conclusion = evaluate(rules=[regex("no-x", "x+")], output="é x\nxx")

    places = [(one.line, one.column, one.quote) for one in conclusion.findings]
    assert places == [(1, 3, "x"), (2, 1, "xx")]


def test_matches_are_listed_up_to_a_bound() -> None:
    conclusion = evaluate(rules=[regex("no-x", "x")], output="x" * 1_000)

    assert len(conclusion.findings) == 50
    assert any("There are more" in one.message for one in conclusion.findings)


@pytest.mark.parametrize(
    ("failure_class", "code"),
    [
        ("", "rule_violated"),
        ("semantic", "rule_violated"),
        ("hard_integrity", "hard_invariant_failed"),
        ("recoverable_placeholder", "incomplete_deliverable_placeholder"),
    ],
)
def test_the_failure_class_of_a_rule_chooses_its_reason(failure_class: str, code: str) -> None:
    rule = regex("no-x", "x", failure_class=failure_class, **HARD_NO_X)

    assert evaluate(rules=[rule], output="x").reason_code == code


@pytest.mark.parametrize(
    ("about", "paths"),
    [
        ({"deliverables": ["a.md"]}, ["a.md"]),
        ({"expected_outputs": ["b.md"]}, ["b.md"]),
        ({"tool_calls": (ToolCall("edit", True, files_changed=["c.md"]),)}, ["c.md"]),
        # Nobody says which files the work is: all but those of other phases.
        ({"others_deliverables": ["a.md"]}, ["b.md", "c.md"]),
    ],
)
def test_which_files_a_rule_about_deliverables_searches(
    about: dict[str, Any], paths: list[str]
) -> None:
    files = {"a.md": "x", "b.md": "x", "c.md": "x"}

    conclusion = evaluate(files=files, rules=[regex("no-x", "x", target="deliverables")], **about)

    assert [one.path for one in conclusion.findings] == paths


def test_a_rule_about_evidence_names_the_item() -> None:
    evidence = (EvidenceItem("e1", text="fine"), EvidenceItem("e2", text="x"))

    conclusion = evaluate(rules=[regex("no-x", "x", target="evidence")], evidence=evidence)

    assert [one.place for one in conclusion.findings] == [{"evidence": "e2"}]


@pytest.mark.parametrize(
    ("path", "content", "is_searched"),
    [
        ("a.bin", b" x\0", False),
        ("a", b" x\0", False),
        ("a.ts", (b"\x47 x\0" + bytes(184)) * 4, False),  # television
        ("a.md", b"\x89PNG\r\n\x1a\n x\0", True),
        ("a.md", b"%PDF- x", True),
        ("a.bin", b" x", True),
        ("a.log", b" x\0", True),  # or a NUL would hide the rest of a report
        ("A.MD", b"\0\n x", True),
        ("a.py", b" x\0", True),
        ("a.md", " x".encode("utf-16-le"), True),
        ("a.md", " x".encode("utf-16-be"), True),
    ],
)
def test_binary_files_are_not_searched_and_texts_are(
    path: str, content: bytes, is_searched: bool
) -> None:
    rule = regex("no-x", "x", target="deliverables")

    conclusion = evaluate(files={path: content}, rules=[rule])

    assert ("no-x" in {one.rule for one in conclusion.findings}) is is_searched


def test_a_pattern_that_cannot_run_blames_nobody() -> None:
    rule = regex("ahead", "(?=x)", **HARD_NO_X)

    conclusion = evaluate(rules=[rule], output="x")

    assert told(conclusion) == [("ahead", "observe", "unsupported_pattern")]
    assert conclusion.outcome == "pass"
    assert (conclusion.trace[0].applied, conclusion.trace[0].reason) == (
        False,
        "unsupported_pattern",
    )


def test_a_pattern_that_cannot_run_blames_nobody_even_where_there_is_nothing_to_search() -> None:
    rule = regex("ahead", "(?=x)", target="evidence", expect="match", **HARD_NO_X)

    assert evaluate(rules=[rule]).outcome == "pass"


@pytest.mark.parametrize("pattern", ["^$", "x*"])
def test_nothing_to_search_matches_nothing(pattern: str) -> None:
    assert evaluate(rules=[regex("rule", pattern, target="evidence")]).findings == ()


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-be", "utf-32"])
def test_a_byte_order_mark_is_no_part_of_the_text(encoding: str) -> None:
    mark = "\ufeff" if encoding.endswith("-be") else ""
    files = {"a.md": (mark + "é x").encode(encoding)}

    conclusion = evaluate(files=files, rules=[regex("no-x", "x", target="deliverables")])

    assert [(one.line, one.column) for one in conclusion.findings] == [(1, 3)]


ANSI = "KEY=\x1b[01;31mAKIA\x1b[mIOSFODNN7EXAMPLE\n"
ACCESS_KEY = r"AKIA[0-9A-Z]{16}"


@check_rows(
    ("text", "column", "quote"),
    [
        (ANSI, 13, "AKIA\x1b[mIOSFODNN7EXAMPLE"),
        ("é A\u200bKIAIOSFODNN7EXAMPLE", 3, "A\u200bKIAIOSFODNN7EXAMPLE"),
        ("AKIAIOS\u00adFODNN7EXAMPLE", 1, "AKIAIOS\u00adFODNN7EXAMPLE"),
        ("\uff21KIAIOSFODNN7EXAMPLE", 1, "\uff21KIAIOSFODNN7EXAMPLE"),
        ('{"a": "\\u0041KIAIOSFODNN7EXAMPLE"}', 8, "\\u0041KIAIOSFODNN7EXAMPLE"),
        ("AKIAIOSFODNN7EXAMPLE", 1, "AKIAIOSFODNN7EXAMPLE"),
    ],
    ids=repr,
)
def test_a_hard_rule_sees_what_a_person_reads_at_its_place_in_the_original(
    text: str, column: int, quote: str
) -> None:
    rule = regex("no-keys", ACCESS_KEY, target="deliverables", **HARD_NO_X)

    [finding] = evaluate(files={"a.log": f"first\n{text}"}, rules=[rule]).findings

    assert (finding.line, finding.column) == (2, column)
    assert finding.quote == quote.replace("\x1b", "\ufffd")


def test_only_a_hard_rule_sees_what_a_person_reads() -> None:
    assert evaluate(rules=[regex("no-keys", ACCESS_KEY)], output=ANSI).findings == ()


def test_a_match_that_a_person_reads_meets_a_rule_that_asks_for_one() -> None:
    rule = regex("named", "Recommendation: merge", expect="match", **HARD_NO_X)

    assert evaluate(rules=[rule], output="**Recommendation:\u00a0merge**").findings == ()


def test_texts_with_something_hidden_are_found_among_others() -> None:
    files = {f"{number}.md": f"{'A' * (number % 3)}\u200bx" for number in range(30)}
    rule = regex("no-ax", "Ax", target="deliverables", **HARD_NO_X)

    paths = [one.path for one in evaluate(files=files, rules=[rule]).findings]

    assert paths == sorted(path for path, text in files.items() if text.startswith("A"))


def test_what_is_no_text_in_a_text_hides_nothing() -> None:
    files = {"a.md": b"\n\xc3 x\xed\xa0\x80"}

    conclusion = evaluate(files=files, rules=[regex("no-x", "x", target="deliverables")])

    assert [(one.line, one.column) for one in conclusion.findings] == [(2, 3)]


@pytest.mark.parametrize(("expect", "verdict"), [("match", "unknown"), ("no_match", "unknown")])
def test_a_file_that_is_too_large_to_be_searched_is_unknown(
    monkeypatch: pytest.MonkeyPatch, expect: str, verdict: str
) -> None:
    monkeypatch.setattr(materials, "MAX_FILE_BYTES", 10)
    files = {"large.md": "y" * 11, "small.md": "y"}
    rule = regex("rule", "x", target="deliverables", expect=expect, **HARD_NO_X)

    conclusion = evaluate(files=files, rules=[rule])

    assert conclusion.trace[0].verdict == verdict
    assert conclusion.verdict == "undecided"
    assert "large.md" in conclusion.findings[0].message


def test_texts_are_read_in_parts_and_counted_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(materials, "MAX_BATCH_BYTES", 10)
    files = {f"{number}.md": "\n x x" for number in range(30)}

    def found(**fields: Any) -> list[str]:
        rule = regex("rule", "x", target="deliverables", **fields)
        return [one.path for one in evaluate(files=files, rules=[rule]).findings]

    assert found(min_count=60) == []
    assert found(min_count=61) == [""]
    assert found(min_count=60, requires_exact_cardinality=True) == []
    assert len(found()) == 50
    assert len(set(found())) == 25


@long_search(300)
@given(
    st.text(alphabet="abx\\.*+?|()[]^$\n(?m)bBzA{2}-é ", max_size=8),
    st.lists(st.text(alphabet="abx\né ", max_size=6), max_size=5),
)
def test_texts_searched_together_are_found_like_each_alone(pattern: str, texts: list[str]) -> None:
    contents = [text.encode() for text in texts]
    asked = [Pattern(pattern, 1_000)]

    [together] = search(asked, Texts(contents), clock=lambda: 0.0)
    alone = [next(search(asked, Texts([one]), clock=lambda: 0.0)) for one in contents]

    counts = [one.count for one in alone if isinstance(one, Matches)]
    if isinstance(together, Matches):
        assert together.count == sum(counts)
        assert [place.text for place in together.places] == [
            number for number, count in enumerate(counts) for _ in range(count)
        ]
    else:
        assert counts == []
