from __future__ import annotations

from typing import Any

import pytest

from processes.definition.model import Enforcement
from tests.engine.cases import evaluate, regex, told
from verification.engine.evidence import EvidenceItem, ToolCall

HARD_NO_X: dict[str, Any] = {"enforcement": Enforcement.HARD}


@pytest.mark.parametrize(
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


def test_binary_files_are_not_searched() -> None:
    rule = regex("no-x", "x", target="deliverables")

    assert evaluate(files={"a.bin": b"x\0"}, rules=[rule]).findings == ()


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
