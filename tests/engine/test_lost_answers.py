from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from processes.definition.model import Enforcement
from tests.engine.cases import case, evaluate, regex, told
from verification.engine.checks import searching
from verification.engine.checks.materials import MAX_BATCH_BYTES
from verification.engine.climb import Conclusion, Ports, climb, conclude
from verification.engine.evidence import (
    Answer,
    CouldNotInspect,
    Matches,
    NotInspected,
    Pattern,
    SyntaxProblem,
)
from verification.engine.fakes import FixedClock, InProcessProbe, MemoryWorkspace
from verification.engine.verifier import Limits

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


class SlowProbe(InProcessProbe):
    """Needs a whole allowance for a pattern of SLOW, and some time for each other one."""

    def __init__(self, clock: FixedClock, seconds: float = 0.0) -> None:
        self.clock = clock
        self.seconds = seconds
        self.asked: list[str] = []

    def search(
        self, patterns: Sequence[Pattern], texts: Sequence[bytes], *, seconds: float
    ) -> Sequence[Answer]:
        first = patterns[0]
        self.asked.append(first.text)
        taken = first.seconds if "SLOW" in first.text else self.seconds
        self.clock.advance(min(taken, seconds))
        if taken > min(seconds, first.seconds) or "SLOW" in first.text:
            return [NotInspected("It took too long.")]
        return super().search([first], texts, seconds=seconds)


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


def slowly(
    patterns: Sequence[str], *, files: int = 1, seconds: float = 0.0
) -> tuple[Conclusion, SlowProbe]:
    """What comes of hard rules over files that each need a request of their own."""
    contents: dict[str, str | bytes] = {
        f"{number}.md": b"x" * (MAX_BATCH_BYTES // 2 + 1) for number in range(files)
    }
    asked = case(
        files=contents,
        rules=[regex(p, p, target="deliverables", enforcement=HARD) for p in patterns],
    )
    clock = FixedClock()
    probe = SlowProbe(clock, seconds)
    ports = Ports(MemoryWorkspace(contents), probe, clock)
    return conclude(asked, list(climb(asked, ports))), probe


def test_a_slow_pattern_leaves_time_to_the_others_and_is_not_tried_on_the_next_file() -> None:
    conclusion, probe = slowly(["SLOW{9}", "x"], files=3)

    assert [(one.rule, one.verdict) for one in conclusion.trace] == [
        ("SLOW{9}", "unknown"),
        ("x", "violated"),
    ]
    assert probe.asked.count("SLOW{9}") == 1


@pytest.mark.parametrize(("rules", "files", "seconds"), [(500, 3, 0.0), (500, 40, 0.01)])
def test_all_patterns_of_a_run_share_one_allowance(rules: int, files: int, seconds: float) -> None:
    patterns = [f"SLOW{number}" for number in range(rules // 2)]
    patterns += [f"y{number}" for number in range(rules // 2)]

    conclusion, probe = slowly(patterns, files=files, seconds=seconds)

    assert probe.clock.now <= Limits().search_seconds
    assert conclusion.verdict == "undecided"
    assert {one.verdict for one in conclusion.findings} == {"unknown"}
    lost = [one for one in conclusion.findings if one.rule == "SLOW249"]
    assert len(lost) == 1
    assert "The time for all patterns" in lost[0].message


def test_a_pattern_that_is_a_little_slow_everywhere_is_given_up_in_the_end() -> None:
    class Steady(SlowProbe):
        def search(
            self, patterns: Sequence[Pattern], texts: Sequence[bytes], *, seconds: float
        ) -> Sequence[Answer]:
            self.asked.append(patterns[0].text)
            self.clock.advance(0.125)
            if patterns[0].seconds < 0.125:
                return [NotInspected("It took too long.")]
            return [Matches(0, seconds=0.125)]

    clock = FixedClock()
    probe = Steady(clock)
    search = searching.Search(probe, clock, Limits())

    answers = [
        answer for _ in range(20) for _, _, answer in search.ask([Pattern("steady", 1)], [b"x"])
    ]

    assert [isinstance(one, Matches) for one in answers] == [True] * 4 + [False] * 16
    assert len(probe.asked) <= 6
