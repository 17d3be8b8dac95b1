from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from processes.definition.model import Phase, ScoreLoop
from tests.engine.cases import judged_case, llm, ports
from tests.engine.judges import judged, reply
from verification.engine.climb import climb, conclude
from verification.engine.fakes import ScriptedJudge
from verification.engine.judges.asking import Ask, Question
from verification.engine.outcome import Verdict
from verification.engine.protocol.prompt import assessment
from verification.engine.protocol.reading import reply_of
from verification.engine.rating import SEMANTIC_PARTS, Rating
from verification.engine.scored import scored
from verification.engine.scoring import TOP, LoopDecision, ScoreSource, semantic_parts
from verification.engine.tiers import TierReport

SCORED: Any = {"of_phase": {"score": ScoreLoop()}}
GIVEN = {"correctness": 2.5, "completeness": 2, "testing": 1, "quality": 2, "practice": 0.5}
RATED = Rating(2.5, 2, 1, 2, 0.5)


def rating(said: Any) -> Rating | None:
    found = reply_of({"passed": True, "score": said})
    assert found is not None
    return found.rating


def test_the_parts_of_a_judges_score_add_up_to_ten() -> None:
    assert sum(SEMANTIC_PARTS.values()) == TOP
    assert RATED.total == 8


def test_a_judge_is_asked_for_each_part_where_the_phase_goes_by_a_score() -> None:
    prompt = assessment(judged_case(**SCORED), ports())

    asked = (prompt.schema or {})["properties"]["score"]
    assert asked["required"] == [*SEMANTIC_PARTS]
    for name, most in SEMANTIC_PARTS.items():
        assert f"{name} (0 to {most})" in prompt.system


def test_elsewhere_the_prompt_says_nothing_of_parts() -> None:
    prompt = assessment(judged_case(), ports())

    assert "- score: a number from 0 to 10, or null\n" in prompt.system
    assert not any(name in prompt.system for name in SEMANTIC_PARTS)
    assert (prompt.schema or {})["properties"]["score"] == {"type": ["number", "null"]}


def test_the_order_and_the_spelling_of_parts_play_no_part() -> None:
    said = {name.upper(): str(points) for name, points in reversed(GIVEN.items())}

    assert rating(said) == RATED


@pytest.mark.parametrize(
    "said",
    [
        {**GIVEN, "testing": None},
        {**GIVEN, "testing": True},
        {**GIVEN, "testing": 2.01},
        {**GIVEN, "testing": -0.1},
        {**GIVEN, "testing": float("nan")},
        {**GIVEN, "testing": "good"},
        {**GIVEN, "testing": "2/2"},
        {**GIVEN, "testing": [2]},
        {**GIVEN, "testing": 2, "Testing": 1},
        {name: points for name, points in GIVEN.items() if name != "testing"},
        {**GIVEN, "testing": None, "total": 9},
    ],
)
def test_a_part_that_is_not_given_is_never_guessed(said: dict[str, Any]) -> None:
    found = rating(said)

    assert found is not None
    assert (found.testing, found.correctness, found.total) == (None, 2.5, None)


@pytest.mark.parametrize("said", [None, 9, "8/10", [9], {}, {"total": 9}, "none", True])
def test_a_sum_without_its_parts_is_no_score(said: Any) -> None:
    assert rating(said) is None


@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.floats()
        | st.integers()
        | st.sampled_from(["high", "3", "/"]),
        lambda one: st.lists(one) | st.dictionaries(st.sampled_from([*SEMANTIC_PARTS, "x"]), one),
    )
)
def test_no_score_however_odd_changes_the_verdict(said: Any) -> None:
    with_it, _, _ = judged(reply(score=said), **SCORED)

    assert with_it.verdict is Verdict.ACCEPT
    assert all(one.total is None or 0 <= one.total <= TOP for one in with_it.ratings)


def test_a_short_reply_with_a_score_stays_a_short_one() -> None:
    short = json.dumps({"passed": True, "issues": [], "score": GIVEN})

    found, judge, _ = judged(short, rules=[llm("polite")], **SCORED)

    assert (found.verdict, len(judge.asked), found.ratings) == ("accept", 1, (RATED,))


def test_what_is_written_where_no_score_was_asked_for_is_none() -> None:
    found, _, _ = judged(reply(score=GIVEN))

    assert found.ratings == ()


@pytest.mark.parametrize(
    ("text", "is_rated"),
    [
        (reply(score=GIVEN), True),
        (f"Here it is:\n{reply(score=GIVEN)}\nDone.", True),
        (reply(score=GIVEN).replace('{"passed"', "{passed"), False),
        ("passed: true\nconfidence: 0.9\nscore:\n  correctness: 3\n", False),
        ("VERDICT: PASS", False),
    ],
)
def test_only_a_whole_object_gives_points(text: str, is_rated: bool) -> None:
    found, _, _ = judged(text, **SCORED)

    assert (found.verdict, bool(found.ratings)) == ("accept", is_rated)


def test_a_restated_answer_gives_no_points_of_its_own() -> None:
    found, judge, _ = judged("All criteria are satisfied.", reply(score=GIVEN), **SCORED)

    assert judge.asked[-1].ask is Ask.RESTATE
    assert (found.verdict, found.ratings) == ("accept", ())


def test_a_tier_keeps_its_ratings_and_is_read_as_it_was_saved_before_there_were_any() -> None:
    _, _, report = judged(reply(score=GIVEN), **SCORED)
    saved = report.to_json()
    older = {name: value for name, value in saved.items() if name != "ratings"}

    assert TierReport.from_json(json.loads(json.dumps(saved))).ratings == (RATED,)
    assert TierReport.from_json({**older, "score": 7.5}).ratings == ()


def test_the_score_is_the_median_of_all_judges_that_gave_one() -> None:
    better, worse = {**GIVEN, "correctness": 3}, {**GIVEN, "correctness": 0}
    votes: list[Any] = [better, worse, 9]

    def said(question: Question) -> str:
        if question.ask is not Ask.VOTE:
            return reply(score=GIVEN)
        return reply(score=votes[int(question.nonce.split(":")[2])])

    case = judged_case(tier=3, **SCORED)
    found = conclude(case, list(climb(case, ports(judge=ScriptedJudge([said])))))

    told = score_of(*found.ratings)
    assert (told.total, told.source) == (8, ScoreSource.SEMANTIC)
    assert [part.points for part in told.semantic] == [2.5, 2, 1, 2, 0.5]


def test_a_score_with_a_part_left_out_counts_as_none_and_its_parts_are_told() -> None:
    told = score_of(Rating(correctness=3))

    assert (told.total, told.source) == (5, ScoreSource.NEITHER)
    assert [(one.points, one.is_measured, one.why) for one in told.semantic][:2] == [
        (3, True, "given"),
        (0, False, "not given"),
    ]


def test_where_no_judge_gave_anything_no_part_is_told() -> None:
    assert semantic_parts([]) == ()


def score_of(*ratings: Rating) -> Any:
    phase = Phase("p", score=ScoreLoop())
    found = scored(phase, (), ratings, verdict=Verdict.ACCEPT, iterations=1, cost_usd=0)
    assert found.score is not None
    return found.score


@pytest.mark.parametrize(
    ("verdict", "decision"),
    [
        (Verdict.ACCEPT, LoopDecision.FINISH),
        (Verdict.REJECT, LoopDecision.ITERATE),
        (Verdict.UNDECIDED, LoopDecision.STOP),
    ],
)
def test_a_score_that_is_good_enough_finishes_what_was_accepted_alone(
    verdict: Verdict, decision: LoopDecision
) -> None:
    phase = Phase("p", score=ScoreLoop())

    found = scored(phase, (), [RATED], verdict=verdict, iterations=1, cost_usd=0)

    assert found.loop is not None
    assert found.loop.decision is decision
