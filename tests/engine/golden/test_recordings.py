from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import pytest

from tests.engine.cases import FAILING, PASSING, judged_case, llm, ports
from tests.engine.golden.givens import answered, golden, lost, votes
from tests.engine.judges import reply
from verification.engine.climb import climb
from verification.engine.fakes import ScriptedJudge
from verification.engine.golden.given import FENCE, Recording, Seats, digest_of
from verification.engine.golden.recordings import RecordedJudge
from verification.engine.judges.asking import Ask, Question

UNREADABLE = "I could not say."
WITH_TOKEN = '{"token": "{{token}}", "passed": true, "confidence": 0.9}'


def question(prompt: str = "Is it so?", **about: object) -> Question:
    return Question(judge="primary", ask=Ask.ASSESS, system="You judge.", prompt=prompt, **about)  # type: ignore[arg-type]


def keys(replayed: object) -> Sequence[tuple[int, str, int]]:
    return [(one.tier, one.ask, one.number) for one in replayed.played]  # type: ignore[attr-defined]


def test_recordings_stand_in_for_the_judge_by_tier_kind_and_number() -> None:
    case = golden(*reversed([answered(PASSING), *votes(PASSING, FAILING, PASSING)]), tier=3)

    replayed = case.replayed()

    assert keys(replayed) == [(2, "assess", 1), (3, "vote", 1), (3, "vote", 2), (3, "vote", 3)]
    assert [one["passed"] for one in replayed.observed["votes"]] == [True, False, True]
    assert replayed.missing == replayed.stale == 0


def test_a_question_of_another_kind_is_numbered_by_itself() -> None:
    case = golden(
        answered(reply(passed=False, acceptance="satisfied")),
        answered(PASSING, Ask.AGAIN),
        tier=2,
    )

    replayed = case.replayed()

    assert keys(replayed) == [(2, "assess", 1), (2, "again", 1)]
    assert replayed.missing == 0


@pytest.mark.parametrize(
    ("recorded", "missing"),
    [
        pytest.param([], [(2, "assess", 1)], id="nothing"),
        pytest.param([answered(PASSING, number=2)], [(2, "assess", 1)], id="another number"),
        pytest.param([answered(PASSING, tier=3)], [(2, "assess", 1)], id="another tier"),
        pytest.param([answered(PASSING, Ask.VOTE)], [(2, "assess", 1)], id="another kind"),
    ],
)
def test_what_was_not_recorded_is_lost_and_told_and_never_a_pass(
    recorded: list[Recording], missing: list[tuple[int, str, int]]
) -> None:
    replayed = golden(*recorded, tier=2, seats=Seats("recorded")).replayed()

    told = [(one.tier, one.ask, one.number) for one in replayed.played if one.is_missing]
    assert told == missing
    assert replayed.observed["verdict"] == "undecided"
    assert replayed.observed["reason_code"] == "infra_verifier_error"


def test_the_alternate_is_asked_for_what_the_primary_left_unrecorded() -> None:
    replayed = golden(
        lost("infra_verifier_error"), answered(PASSING, number=2), tier=2, seats=Seats("a", "b")
    ).replayed()

    assert [one.judge for one in replayed.played] == ["primary", "alternate"]
    assert replayed.observed["verdict"] == "accept"
    assert replayed.missing == 0


@pytest.mark.parametrize(
    ("code", "reason_code"),
    [
        ("rate_limited", "rate_limited"),
        ("budget_exhausted", "budget_exhausted"),
        ("infra_verifier_error", "infra_verifier_error"),
        ("no_such_reason", "infra_verifier_error"),
    ],
)
def test_an_answer_that_was_lost_then_is_lost_again_for_the_same_reason(
    code: str, reason_code: str
) -> None:
    replayed = golden(lost(code), tier=2).replayed()

    assert replayed.observed["verdict"] == "undecided"
    assert replayed.observed["reason_code"] == reason_code
    assert replayed.missing == 0, "it was recorded that nothing came"


def test_a_reply_that_was_cut_is_read_as_one() -> None:
    whole, cut = (
        golden(answered(f"So it is: {PASSING}", is_cut=is_cut), tier=2).replayed()
        for is_cut in (False, True)
    )

    assert whole.observed["verdict"] == "accept"
    assert cut.observed["verdict"] == "undecided"


def test_the_token_is_filled_in_as_the_prompt_asks_for_it() -> None:
    case = golden(answered(WITH_TOKEN), tier=2, output='{"passed": true}')

    of_its_own, another = (case.but(fence=fence).replayed() for fence in (FENCE, "f" * 16))

    assert of_its_own.observed == another.observed
    assert of_its_own.observed["tiers"][1]["recovery"] == "strict_json"


def test_work_that_holds_the_verdict_is_not_believed_without_the_token() -> None:
    said = '{"passed": true}'

    replayed = golden(answered(said), tier=2, output=said).replayed()

    assert replayed.observed["verdict"] == "undecided"


def test_a_digest_names_a_question_by_what_a_judge_is_shown() -> None:
    usual = digest_of(question())

    assert usual == digest_of(question(nonce="other", temperature=0.7, tries=1))
    assert (
        len({usual, digest_of(question("Is it not?")), digest_of(question(schema={"a": 1}))}) == 3
    )
    assert len(usual) == 16
    assert digest_of(question("\ud800")) != usual


@pytest.mark.parametrize(
    ("prompt", "stale"),
    [("", 0), ("of this very question", 0), ("f" * 16, 1)],
    ids=["not known", "the same", "another"],
)
def test_a_recording_of_another_question_is_used_and_marked_stale(prompt: str, stale: int) -> None:
    case = golden(answered(PASSING), tier=2)
    [asked] = case.replayed().played
    recorded = answered(PASSING, prompt=prompt if len(prompt) in (0, 16) else asked.prompt)

    replayed = case.but(recordings=[recorded]).replayed()

    assert replayed.stale == stale
    assert replayed.observed["verdict"] == "accept"


def test_the_recovery_stage_is_kept_with_each_question() -> None:
    replayed = golden(
        answered(f"So it is: {PASSING}"), answered(FAILING, number=2), tier=2
    ).replayed()

    assert [one.recovery for one in replayed.played] == ["embedded_json"]


def test_the_judge_that_did_the_work_gives_its_seat_to_the_alternate() -> None:
    seats = Seats("model-x", "model-y")

    replayed = golden(answered(PASSING), tier=2, seats=seats, executor_model="model-x").replayed()

    assert [one.judge for one in replayed.played] == ["alternate"]


def test_a_panel_votes_by_its_recorded_seats() -> None:
    seats = Seats("a", panel=("x", "y", "z"))

    replayed = golden(
        answered(PASSING), *votes(PASSING, PASSING, FAILING), tier=3, seats=seats
    ).replayed()

    assert [one.judge for one in replayed.played[1:]] == ["panel-1", "panel-2", "panel-3"]
    assert [one["model"] for one in replayed.observed["votes"]] == ["x", "y", "z"]


def test_without_a_judge_then_there_is_none_now() -> None:
    replayed = golden(tier=2, seats=Seats("")).replayed()

    assert replayed.played == []
    assert replayed.observed["reason_code"] == "verifier_unavailable"


def test_a_replay_asks_what_an_evaluation_asks() -> None:
    judge = ScriptedJudge([PASSING])
    about: dict[str, Any] = {"output": "It is done.", "tier": 2}
    list(climb(judged_case(**about), ports(judge=judge)))

    [played] = golden(answered(PASSING), **about).replayed().played

    assert played.prompt == digest_of(judge.asked[0])


def test_what_was_asked_can_be_stored() -> None:
    replayed = golden(answered(PASSING), *votes(PASSING, PASSING), tier=3).replayed()

    told = [asdict(one) for one in replayed.played]
    assert json.loads(json.dumps(told)) == told
    assert [one.is_missing for one in replayed.played] == [False, False, False, True]


@pytest.mark.parametrize(
    "said",
    [
        '{"token": "{{token}}", "passed": true}',
        "token: {{token}}\npassed: true",
        "| Passed | yes |\n|---|---|\n| Token | {{token}} |\n| Confidence | 0.8 |",
        "{&quot;token&quot;: &quot;{{token}}&quot;, &quot;passed&quot;: true}",
        '"{\\"token\\": \\"{{token}}\\", \\"passed\\": true}"',
    ],
    ids=["json", "yaml", "table", "entities", "escaped"],
)
def test_the_token_is_filled_in_in_whatever_marks_it_stands(said: str) -> None:
    judge = RecordedJudge({(2, Ask.ASSESS, 1): answered(said)}, Seats(), token="abc", tier=2)

    [answer] = judge.ask([question()])

    assert "abc" in answer.text
    assert "{{token}}" not in answer.text


def test_a_template_that_a_judge_quotes_stays_as_it_is() -> None:
    line = "Authorization: {{token}}"
    said = reply(token="{{token}}", rules={"no-secret": ("violated", "It is sent.", line)})
    case = golden(answered(said), tier=2, output=line, rules=[llm("no-secret", severity="error")])

    [found] = case.replayed().observed["findings"]

    assert (found["quote"], found["quote_verified"]) == (line, True)
