from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from processes.definition.model import ScoreLoop
from tests.engine.cases import judged_case, llm, ports
from tests.engine.decisions import decided, facts_of
from tests.engine.judges import judged, reply
from verification.engine.climb import climb, conclude
from verification.engine.fakes import ScriptedJudge
from verification.engine.judges.asking import Ask, Question
from verification.engine.outcome import Verdict
from verification.engine.protocol.prompt import assessment
from verification.engine.protocol.reading import reply_of
from verification.engine.rating import SEMANTIC_PARTS, Rating
from verification.engine.scoring import TOP, ScoreSource, semantic_parts
from verification.engine.tiers import TierReport
from verification.engine.verifier import LEGACY_FLAGS, JudgeModels

SCORED: Any = {"of_phase": {"score": ScoreLoop()}}
GIVEN = {"correctness": 2.5, "completeness": 2, "testing": 1, "quality": 2, "practice": 0.5}
RATED = Rating(2.5, 2, 1, 2, 0.5)
FULL = dict(SEMANTIC_PARTS)


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
def test_no_odd_score_is_accepted(said: Any) -> None:
    concluded, _, _ = judged(reply(score=said), output="Done.", **SCORED)

    assert concluded.verdict is not Verdict.ACCEPT or concluded.ratings[0].total == TOP
    assert all(one.total is None or 0 <= one.total <= TOP for one in concluded.ratings)


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
    found, _, _ = judged(text, text, **SCORED)

    assert (found.reason_code, bool(found.ratings)) == (
        "" if is_rated else "score_missing",
        is_rated,
    )


def test_a_restated_answer_gives_no_points_of_its_own() -> None:
    found, judge, _ = judged("All criteria are satisfied.", reply(score=GIVEN), reply(), **SCORED)

    assert [question.ask for question in judge.asked][1:] == [Ask.RESTATE, Ask.AGAIN]
    assert (found.reason_code, found.ratings) == ("score_missing", ())


def test_a_tier_keeps_its_ratings_and_is_read_as_it_was_saved_before_there_were_any() -> None:
    _, _, report = judged(reply(score=GIVEN), **SCORED)
    saved = report.to_json()
    older = {name: value for name, value in saved.items() if name != "ratings"}

    assert TierReport.from_json(json.loads(json.dumps(saved))).ratings == (RATED,)
    assert TierReport.from_json({**older, "score": 7.5}).ratings == ()


def test_the_score_is_the_median_of_all_judges_that_gave_one() -> None:
    better, worse = {**GIVEN, "correctness": 3}, {**GIVEN, "correctness": 1}
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
    return decided(facts_of(ratings=ratings, score=ScoreLoop())).score


ZERO = {**GIVEN, "correctness": 0}
LOOSE: Any = {"of_phase": {"score": ScoreLoop(threshold=1.0)}}
REJECTING: Any = {"passed": False, "acceptance": ("violated", "The file is wrong.")}


@pytest.mark.parametrize(
    ("first", "again", "verdict", "reason_code"),
    [
        (reply(score=ZERO), reply(score=GIVEN), "accept", ""),
        (reply(score=ZERO), reply(score=ZERO), "undecided", "score_contradiction"),
        (reply(score=ZERO), "no answer", "undecided", "score_contradiction"),
        (reply(score=ZERO), reply(score=ZERO, **REJECTING), "reject", "llm_semantic_failed"),
        (reply(score={**GIVEN, "completeness": 0}), reply(), "undecided", "score_missing"),
        (reply(score=FULL, **REJECTING), reply(score=GIVEN, **REJECTING), "reject", ""),
        (reply(score=FULL, **REJECTING), reply(score=FULL), "undecided", "score_contradiction"),
        (reply(score=FULL, **REJECTING), reply(score=GIVEN), "undecided", "score_contradiction"),
    ],
)
def test_a_score_that_contradicts_the_verdict_is_asked_about_once(
    first: str, again: str, verdict: str, reason_code: str
) -> None:
    alone = JudgeModels("primary")
    concluded, judge, _ = judged(first, again, output="Done.", models=alone, **LOOSE)

    assert concluded.verdict == verdict
    assert concluded.reason_code == (reason_code or concluded.reason_code)
    assert [question.ask for question in judge.asked] == [Ask.ASSESS, Ask.AGAIN]


@pytest.mark.parametrize(("third", "verdict"), [(GIVEN, "accept"), (ZERO, "undecided")])
def test_a_scored_reject_that_becomes_a_pass_is_decided_by_the_alternate_judge(
    third: dict[str, Any], verdict: str
) -> None:
    script = (reply(score=FULL, **REJECTING), reply(score=GIVEN), reply(score=third))

    concluded, judge, _ = judged(*script, output="Done.", **LOOSE)

    assert concluded.verdict == verdict
    assert [question.judge for question in judge.asked][:3] == ["primary", "primary", "alternate"]


@pytest.mark.parametrize(
    "about", [{}, {"flags": LEGACY_FLAGS}, {"of_phase": {"score": ScoreLoop()}}]
)
def test_a_pass_with_no_points_for_correctness_is_never_accepted(about: dict[str, Any]) -> None:
    concluded, _, _ = judged(*[reply(score=ZERO)] * 2, output="Done.", **about)

    assert (concluded.verdict, concluded.reason_code) == ("undecided", "score_contradiction")
    assert concluded.review_reasons == ("score_contradiction",)
    assert concluded.may_pass


def test_the_judge_hears_which_points_contradict_its_verdict() -> None:
    _, judge, _ = judged(reply(score=ZERO), reply(score=GIVEN), output="Done.", **SCORED)

    expected = "The work passed, and its correctness got 0 of 3 points."
    assert expected in judge.asked[1].prompt


@pytest.mark.parametrize(
    ("again", "total"),
    [(reply(score=GIVEN), 8), (reply(), None), (reply(score={"testing": 1}), None)],
)
def test_missing_points_are_asked_for_once(again: str, total: float | None) -> None:
    concluded, judge, _ = judged(reply(score={"correctness": 3}), again, output="Done.", **SCORED)

    assert len(judge.asked) == 2
    assert "no points for: completeness, testing, quality, practice" in judge.asked[1].prompt
    assert [rating.total for rating in concluded.ratings if rating.total] == [total] * bool(total)
    assert concluded.reason_code == ("" if total else "score_missing")


def test_a_vote_that_contradicts_its_score_is_cast_again_and_then_lost() -> None:
    def answer(question: Question) -> str:
        is_second = question.nonce.split(":")[2:3] == ["1"]
        return reply(score=ZERO if is_second and question.ask is Ask.VOTE else GIVEN)

    case = judged_case(tier=3, output="Done.", **LOOSE)
    concluded = conclude(case, list(climb(case, ports(judge=ScriptedJudge([answer])))))

    assert [ballot.passed for ballot in concluded.ballots] == [True, None, True]
    assert concluded.vote_share == pytest.approx(2 / 3)
