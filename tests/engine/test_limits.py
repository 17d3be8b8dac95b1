from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

import pytest

from processes.definition.model import Enforcement
from tests.engine.cases import PASSING, case, judge_of, judged_case, llm, regex
from tests.engine.judges import Said, reply
from verification.engine.case import Ports
from verification.engine.climb import Case, Conclusion, climb, conclude
from verification.engine.evidence import (
    Answer as Found,
)
from verification.engine.evidence import (
    NotInspected,
    Pattern,
    Probe,
    SyntaxProblem,
)
from verification.engine.fakes import FixedClock, InProcessProbe, MemoryWorkspace
from verification.engine.judges.asking import Answer, Question
from verification.engine.verifier import LEGACY_FLAGS, Flags, JudgeModels, Limits, VerifierSpec

PAGE = "It is so. " * 3_000
"""More than a prompt of 20,000 characters holds."""
LARGE = "{}" + " " * 2_500_000
"""Of which each is asked about on its own."""
LOST = Answer(lost="infra_verifier_error", detail="It hung up.")
SOURCED = llm("sourced", enforcement=Enforcement.HARD)


class SlowProbe(InProcessProbe):
    """Needs a second for each pattern, and two for each file that it parses."""

    def __init__(self, clock: FixedClock) -> None:
        self.clock = clock

    def search(
        self, patterns: Sequence[Pattern], texts: Sequence[bytes], *, seconds: float
    ) -> Sequence[Found]:
        self.clock.advance(1.0)
        if min(patterns[0].seconds, seconds) < 1.0:
            return [NotInspected("It took too long.")]
        return super().search(patterns[:1], texts, seconds=seconds)

    def syntax(
        self, sources: Sequence[tuple[str, bytes]]
    ) -> Sequence[Sequence[SyntaxProblem] | NotInspected]:
        self.clock.advance(2.0 * len(sources))
        return super().syntax(sources)


def answers_at_last(question: Question) -> str | Answer:
    """Says what it owes when it is asked once more, and is heard at the fourth try each time."""
    verdict = "satisfied" if question.ask == "again" else "unknown"
    return Answer(reply(rules={"sourced": verdict}), calls=4)


def heard_late(question: Question) -> str | Answer:
    return PASSING if question.tries >= 6 else LOST


def reads_the_end(question: Question) -> str | Answer:
    return (
        PASSING if "THE END" in question.prompt else reply(passed=False, issues=["It breaks off."])
    )


def bold_when_warm(question: Question) -> str | Answer:
    is_second = question.nonce.endswith(":vote:1")
    return reply(passed=False, issues=["No."]) if question.temperature > 1 or is_second else PASSING


@dataclass(frozen=True)
class Pair:
    """One limit's other value, a case, and the verdict or outcome under the usual and the other."""

    value: Any
    about: dict[str, Any]
    expected: list[str]
    said: Said = PASSING
    is_slow: bool = False


PAIRS = {
    "judge_calls": Pair(4, {"rules": [SOURCED]}, ["accept", "undecided"], answers_at_last),
    "call_tries": Pair(6, {}, ["undecided", "accept"], heard_late),
    "prompt_chars": Pair(
        20_000, {"output": PAGE + "THE END" + PAGE}, ["accept", "reject"], reads_the_end
    ),
    "vote_temperature": Pair(1.5, {"tier": 3}, ["accept", "reject"], bold_when_warm),
    "assumed_confidence": Pair(0.7, {}, ["MEDIUM", "HIGH"], reply(confidence=None)),
    "search_seconds": Pair(
        1.0,
        {
            "rules": [regex(one, one, enforcement=Enforcement.HARD) for one in ("x", "y")],
            "output": "so",
            "limits": Limits(search_seconds=2.5, pattern_seconds=1.0),
        },
        ["accept", "undecided"],
        is_slow=True,
    ),
    "pattern_seconds": Pair(
        1.25,
        {"rules": [regex("x", "x", enforcement=Enforcement.HARD)], "output": "so"},
        ["undecided", "accept"],
        is_slow=True,
    ),
    "syntax_seconds": Pair(
        1.0,
        {"deliverables": ["a.json", "b.json"], "files": {"a.json": LARGE, "b.json": LARGE}},
        ["accept", "undecided"],
        is_slow=True,
    ),
}


def evaluated(asked: Case, files: dict[str, str | bytes], pair: Pair) -> Conclusion:
    clock = FixedClock()
    probe: Probe = SlowProbe(clock) if pair.is_slow else InProcessProbe()
    reach = Ports(MemoryWorkspace(files), probe, clock, judge_of(pair.said))
    return conclude(asked, list(climb(asked, reach)))


def test_every_limit_has_its_pair_of_evaluations_here() -> None:
    assert {one.name for one in fields(Limits)} == set(PAIRS)


@pytest.mark.parametrize("limit", PAIRS)
def test_two_evaluations_differ_by_one_limit_alone(limit: str) -> None:
    pair = PAIRS[limit]
    make = case if pair.is_slow else judged_case
    usual = pair.about.get("limits", Limits())

    found = []
    for limits in (usual, replace(usual, **{limit: pair.value})):
        asked = make(**{**pair.about, "limits": limits})
        conclusion = evaluated(asked, pair.about.get("files", {}), pair)
        is_level = limit == "assumed_confidence"
        found.append(conclusion.confidence_level if is_level else conclusion.verdict)

    assert found == pair.expected


def test_a_judge_that_takes_less_is_asked_less_whatever_the_limit_says() -> None:
    asked = judged_case(limits=Limits(prompt_chars=50_000), of_case={"prompt_chars": 20_000})

    assert asked.prompt_room == 20_000
    assert replace(asked, prompt_chars=100_000).prompt_room == 50_000
    assert replace(asked, prompt_chars=100_000, verifier=VerifierSpec()).prompt_room == 100_000


def test_a_version_from_before_there_were_limits_is_judged_as_it_was_and_keeps_its_name() -> None:
    spec = VerifierSpec(engine_build="3")
    older = {name: value for name, value in spec.to_json().items() if name != "limits"}

    read = VerifierSpec.from_json(older)

    assert read.limits == Limits(8, 4, 4_000_000, 0.7, 0.5, 1.5, 0.5, 30.0)
    assert read == spec
    assert read.sha256 == "b0e9c67e05c880af0839999eef988bcc48292166369583cf25adaf7e05287c33"


@pytest.mark.parametrize("limit", PAIRS)
def test_a_limit_is_part_of_the_content_and_is_stored(limit: str) -> None:
    other = replace(VerifierSpec(), limits=replace(Limits(), **{limit: PAIRS[limit].value}))

    stored = json.loads(json.dumps(other.to_json()))

    assert VerifierSpec.from_json(stored) == other
    assert other.sha256 != VerifierSpec().sha256
    assert stored["limits"] == asdict(other.limits)


def test_limits_and_flags_do_not_share_a_name() -> None:
    names = [{one.name for one in fields(kind)} for kind in (Flags, Limits)]

    assert not names[0] & names[1]


@pytest.mark.parametrize(
    ("spec", "is_as_it_came"),
    [
        (VerifierSpec(), True),
        (VerifierSpec(LEGACY_FLAGS, JudgeModels("own"), engine_build="0"), True),
        (VerifierSpec(replace(LEGACY_FLAGS, tier2_enabled=False)), False),
        (VerifierSpec(limits=Limits(judge_calls=6)), False),
    ],
)
def test_an_engine_is_as_it_came_whatever_judges_it_asks(
    spec: VerifierSpec, is_as_it_came: bool
) -> None:
    assert spec.is_as_it_came is is_as_it_came
