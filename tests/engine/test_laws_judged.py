from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from processes.definition.model import Enforcement, Severity
from tests.engine.cases import FAILING, MODELS, PASSING, judge_of, judged_case, llm, ports
from tests.engine.judges import reply
from tests.engine.strategies import FLAGS, cases
from tests.tiers import long_search
from verification.engine.case import Case, Ports
from verification.engine.climb import Conclusion, climb, conclude
from verification.engine.fakes import FixedClock, InProcessProbe
from verification.engine.judges.asking import Answer
from verification.engine.outcome import Outcome, Verdict
from verification.engine.verifier import LEGACY_FLAGS, Flags

LOST = [
    Answer(lost=code)
    for code in ("infra_verifier_error", "rate_limited", "budget_exhausted", "verifier_unavailable")
]
NOISE = [
    "",
    "{",
    "I think it is fine.",
    '{"passed": null}',
    "passed: maybe",
    "\x00" * 9,
    "[[[[",
    "真",
]
WORDS = st.sampled_from(["satisfied", "violated", "unknown"])
ANSWERS = st.builds(
    reply,
    passed=st.sampled_from([True, False, None]),
    rules=st.dictionaries(st.sampled_from(["a", "b", "stranger"]), WORDS),
    acceptance=st.none() | WORDS,
    confidence=st.none() | st.floats(0, 1),
    issues=st.lists(st.text(max_size=20), max_size=2),
)
SAID = st.one_of(st.sampled_from([*LOST, *NOISE, PASSING, FAILING]), ANSWERS, st.text(max_size=40))
RULES = [llm("a", severity=Severity.ERROR), llm("b")]


def concluded(asked: Case, script: list[Any]) -> Conclusion:
    return conclude(asked, list(climb(asked, ports(judge=judge_of(*script)))))


@long_search(300)
@given(st.lists(SAID, min_size=1, max_size=6), st.sampled_from([2, 3]), FLAGS)
def test_whatever_is_said_something_is_concluded_and_every_reject_names_its_rule(
    script: list[Any], tier: int, flags: Flags
) -> None:
    asked = judged_case(rules=RULES, tier=tier, flags=flags)

    conclusion = concluded(asked, script)

    blame = [one for one in conclusion.findings if one.enforcement is Enforcement.HARD]
    if conclusion.verdict is Verdict.REJECT:
        assert any(one.verdict == "violated" and one.rule and one.message for one in blame)
    if conclusion.verdict is Verdict.UNDECIDED:
        assert conclusion.reason_code
        assert conclusion.review_reasons


@given(st.lists(st.sampled_from([*LOST, *NOISE]), min_size=1, max_size=9), st.sampled_from([2, 3]))
def test_noise_neither_accepts_nor_blames(script: list[Any], tier: int) -> None:
    asked = judged_case(rules=RULES, tier=tier)

    assert concluded(asked, script).verdict is Verdict.UNDECIDED


@long_search(200)
@given(ANSWERS)
def test_no_accept_beside_a_word_of_failing(said: str) -> None:
    conclusion = concluded(judged_case(rules=RULES), [said])

    if conclusion.verdict is Verdict.ACCEPT:
        assert '"passed": false' not in said or '"rule": "b", "verdict": "violated"' in said
        assert '"rule": "a", "verdict": "violated"' not in said
        assert '"rule": "a", "verdict": "unknown"' not in said
        assert '"acceptance": {"verdict": "violated"}' not in said


@pytest.mark.extended
@long_search(100)
@given(
    cases(st.sampled_from([LEGACY_FLAGS, Flags(policy_engine_enabled=False)])),
    st.lists(SAID, min_size=1, max_size=4),
)
def test_the_old_engine_knows_two_outcomes_of_a_judge_too(
    whole: tuple[Case, Any], script: list[Any]
) -> None:
    asked, workspace = whole
    asked = replace(asked, tier=2, verifier=replace(asked.verifier, models=MODELS))
    reach = Ports(workspace, InProcessProbe(), FixedClock(), judge_of(*script))

    conclusion = conclude(asked, list(climb(asked, reach)))

    assert conclusion.outcome in (Outcome.PASS, Outcome.FAIL)
    assert all(one.enforcement is not Enforcement.ADVISORY for one in conclusion.findings)
