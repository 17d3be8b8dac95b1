from __future__ import annotations

from typing import Any

import pytest

from tests.engine.cases import FAILING, MODELS, PASSING, case, ports
from tests.engine.claim_cases import (
    FACT,
    FINE,
    SURE,
    TEXT,
    confirms,
    judge_who,
    judged,
    result,
    said,
    settled,
)
from tests.tables import check_rows
from verification.engine.climb import climb, conclude
from verification.engine.evidence import Claim
from verification.engine.fakes import ScriptedJudge
from verification.engine.judges.asking import Answer, Ask
from verification.engine.verifier import LEGACY_FLAGS

MISSING = ("fail", "undecided", "claims_missing")
LISTED = judged(said(FACT, "confirmed"))
NONE_LISTED = judged()
INVENTED = judged(said(FACT, "confirmed", text="The moon is full."))
ODD_LABEL = judged(said(FACT, "certain!"))
UNLABELLED = (Claim("Prices rose.", "", "supporting", ("e1",)), Claim(" ", "confirmed", "other"))


@pytest.mark.parametrize("phase", ["synthesis", "critical synthesis"])
@pytest.mark.parametrize("claims", [(), UNLABELLED])
def test_a_synthesis_without_labelled_claims_is_undecided_at_tier_one(
    phase: str, claims: tuple[Claim, ...]
) -> None:
    conclusion = settled(*claims, phase=phase, behaviour="queue_follow_up")

    assert result(conclusion) == MISSING
    assert "claims_missing" in conclusion.review_reasons
    assert conclusion.may_pass is False, "the same work would be as silent again"
    [finding] = [one for one in conclusion.findings if one.reason_code == "claims_missing"]
    assert finding.suggestion.startswith("List the claims of the text in `claims`")


@check_rows(
    ("first", "second"),
    [
        (PASSING, PASSING),
        ("VERDICT: PASS", "VERDICT: PASS"),
        (PASSING, NONE_LISTED),
        (NONE_LISTED, PASSING),
        (INVENTED, INVENTED),
        (ODD_LABEL, ODD_LABEL),
        (PASSING, "I could not say."),
    ],
)
def test_a_judge_that_lists_no_claims_is_asked_once_more_and_then_nothing_is_decided(
    first: str, second: str
) -> None:
    judge = ScriptedJudge([first, second])

    conclusion = settled(phase="synthesis", judge=judge)

    assert result(conclusion) == MISSING
    assert [one.ask for one in judge.asked] == [Ask.ASSESS, Ask.AGAIN]
    assert '"claims": You listed no labelled claim' in judge.asked[1].prompt
    assert conclusion.may_pass


@check_rows(
    ("first", "second", "expected"),
    [
        (PASSING, LISTED, FINE),
        (INVENTED, LISTED, FINE),
        (PASSING, FAILING, ("fail", "undecided", "parse_inconclusive")),
    ],
)
def test_the_second_answer_of_the_judge_counts(
    first: str, second: str, expected: tuple[str, str, str]
) -> None:
    conclusion = settled(phase="synthesis", judge=ScriptedJudge([first, second]))

    assert result(conclusion) == expected


def test_a_judge_that_is_lost_for_the_second_answer_gives_its_own_reason() -> None:
    judge = ScriptedJudge([PASSING, Answer(lost="rate_limited", detail="429")])

    conclusion = settled(phase="synthesis", judge=judge)

    assert result(conclusion) == ("fail", "undecided", "rate_limited")


@check_rows(
    ("claims", "answer", "about"),
    [
        ((), LISTED, {}),
        ((SURE,), PASSING, {}),
        ((), FAILING, {}),
        ((), PASSING, {"phase": "critical"}),
        ((), PASSING, {"phase": "other"}),
        ((), PASSING, {"flags": LEGACY_FLAGS}),
    ],
)
def test_nobody_is_asked_for_claims_that_are_there_or_play_no_part(
    claims: tuple[Claim, ...], answer: str, about: dict[str, Any]
) -> None:
    judge = judge_who(confirms, [answer])

    conclusion = settled(*claims, **{"phase": "synthesis", **about}, judge=judge)

    assert [one.ask for one in judge.asked] == [Ask.ASSESS]
    assert "claims_missing" not in {one.reason_code for one in conclusion.findings}


def test_the_claims_of_a_file_count_as_those_of_the_work() -> None:
    files = {"report.md": TEXT}
    judge = ScriptedJudge([LISTED])

    conclusion = settled(
        phase="synthesis", judge=judge, output="See report.md.", files=files, deliverables=[*files]
    )

    assert result(conclusion) == FINE


def test_no_votes_are_cast_on_a_synthesis_without_claims() -> None:
    asked = case(of_phase={"is_synthesis": True}, models=MODELS, tier=3)
    judge = ScriptedJudge([PASSING])

    tiers = list(climb(asked, ports(judge=judge)))

    assert [one.tier for one in tiers] == [1, 2]
    assert conclude(asked, tiers).reason_code == "claims_missing"
