from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from processes.definition.model import Enforcement
from tests.engine.cases import evaluate, regex, told
from verification.engine.evidence import (
    Answer,
    CouldNotInspect,
    NotInspected,
    Pattern,
    SyntaxProblem,
)
from verification.engine.fakes import InProcessProbe

HARD = Enforcement.HARD


class BrittleProbe(InProcessProbe):
    """Dies of whatever holds the word POISON, and counts how often it was asked."""

    def __init__(self) -> None:
        self.asked = 0

    def syntax(
        self, sources: Sequence[tuple[str, bytes]]
    ) -> Sequence[Sequence[SyntaxProblem] | NotInspected]:
        self._die_of([content.decode() for _, content in sources])
        return super().syntax(sources)

    def search(
        self, patterns: Sequence[Pattern], texts: Sequence[bytes], *, seconds: float
    ) -> Sequence[Answer]:
        self._die_of([*(text.decode() for text in texts), *(one.text for one in patterns)])
        return super().search(patterns, texts, seconds=seconds)

    def _die_of(self, texts: Sequence[str]) -> None:
        self.asked += 1
        if any("POISON" in text for text in texts):
            raise CouldNotInspect("The probe ended.")


@pytest.mark.parametrize(
    ("enforcement", "outcome", "verdict"),
    [
        (HARD, "fail", "undecided"),
        (Enforcement.ADVISORY, "pass", "accept"),
        (Enforcement.OBSERVE, "pass", "accept"),
    ],
)
def test_a_search_that_is_lost_is_never_a_violation(
    enforcement: Enforcement, outcome: str, verdict: str
) -> None:
    rule = regex("rule", "POISON", enforcement=enforcement)

    conclusion = evaluate(rules=[rule], output="text", probe=BrittleProbe())

    assert (conclusion.outcome, conclusion.verdict) == (outcome, verdict)
    assert [one.verdict for one in conclusion.findings] == ["unknown"]
    assert conclusion.trace[0].verdict == "unknown"


def test_one_lost_pattern_spoils_no_other() -> None:
    rules = [regex("poisonous", "POISON"), regex("no-x", "x")]

    conclusion = evaluate(rules=rules, output="x", probe=BrittleProbe())

    assert [(one.rule, one.verdict) for one in conclusion.trace] == [
        ("poisonous", "unknown"),
        ("no-x", "violated"),
    ]


def test_one_lost_file_spoils_no_other() -> None:
    files = {"a.json": "{", "b.json": "POISON", "c.json": "{"}

    conclusion = evaluate(files=files, deliverables=list(files), probe=BrittleProbe())

    assert [(one.path, one.verdict) for one in conclusion.findings] == [
        ("a.json", "violated"),
        ("c.json", "violated"),
        ("b.json", "unknown"),
    ]
    assert conclusion.verdict == "reject"


def test_a_declared_file_that_cannot_be_looked_into_leaves_the_run_undecided() -> None:
    files = {"a.json": "POISON"}

    declared = evaluate(files=files, deliverables=["a.json"], probe=BrittleProbe())
    undeclared = evaluate(files=files, probe=BrittleProbe())

    assert told(declared) == [("syntax", "hard", "infra_verifier_error")]
    assert (declared.verdict, declared.tier_achieved) == ("undecided", 0)
    assert (undeclared.verdict, undeclared.outcome) == ("accept", "pass")


def test_a_probe_that_keeps_dying_is_not_asked_for_ever() -> None:
    files = {f"{number}.json": "POISON" for number in range(50)}
    probe = BrittleProbe()

    conclusion = evaluate(files=files, probe=probe)

    assert len(conclusion.findings) == 50
    assert probe.asked <= 5


@pytest.mark.parametrize(
    ("fields", "texts", "verdict"),
    [
        # What was seen elsewhere is enough to tell.
        ({}, ["x", "POISON"], "violated"),
        ({}, ["y", "POISON"], "unknown"),
        ({"expect": "match"}, ["x", "POISON"], "satisfied"),
        ({"expect": "match"}, ["y", "POISON"], "unknown"),
        ({"min_count": 1}, ["x", "POISON"], "satisfied"),
        ({"min_count": 2}, ["x", "POISON"], "unknown"),
        ({"requires_exact_cardinality": True}, ["x", "POISON"], "unknown"),
        ({"requires_exact_cardinality": True}, ["x x", "POISON"], "violated"),
    ],
)
def test_a_partly_lost_search_says_what_is_certain(
    fields: dict[str, Any], texts: list[str], verdict: str
) -> None:
    files = {f"{number}.txt": text for number, text in enumerate(texts)}
    rule = regex("rule", "x", target="deliverables", **fields)

    conclusion = evaluate(files=files, rules=[rule], probe=BrittleProbe())

    assert conclusion.trace[0].verdict == verdict
