from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tests.engine.cases import FAILING, PASSING, regex
from tests.engine.claim_cases import ADVICE
from tests.engine.golden.givens import Golden, answered, golden, votes
from tests.engine.judges import reply
from verification.engine.golden.observing import MAX_FINDINGS
from verification.engine.judges.asking import Ask
from verification.engine.shadow import DiffClass
from verification.engine.verifier import VerifierSpec
from verification.golden.replaying import LEGACY, Judged, judge_case

PLACEHOLDER = golden(output="TODO", rules=[regex("no-todo", "TODO")])
PROSE = golden(answered(f"So it is: {PASSING}"), tier=2)
ASKED_AGAIN = golden(answered(reply(acceptance="unknown")), answered(PASSING, Ask.AGAIN), tier=2)
NOT_RECORDED = golden(tier=2)


def judged(case: Golden, expected: Mapping[str, Any], *, is_alone: bool = False) -> Judged:
    return judge_case(
        case.given,
        expected,
        case.definition,
        VerifierSpec(),
        case.world,
        legacy=None if is_alone else LEGACY,
    )


@pytest.mark.parametrize(
    ("case", "expected", "standing"),
    [
        (PLACEHOLDER, {"outcome": "pass_with_warnings"}, "held"),
        (PLACEHOLDER, {"outcome": "pass"}, "failing"),
        (NOT_RECORDED, {"verdict": "undecided"}, "not_judged"),
        (NOT_RECORDED, {"verdict": "accept"}, "not_judged"),
        (golden(tier=3), {"outcome": "fail"}, "not_judged"),
        (golden(answered(PASSING), *votes(PASSING), tier=3), {"outcome": "fail"}, "not_judged"),
    ],
    ids=["as expected", "otherwise", "lost as expected", "lost", "no votes", "a vote is missing"],
)
def test_a_case_stands_by_its_differences_and_its_recordings(
    case: Golden, expected: Mapping[str, Any], standing: str
) -> None:
    assert judged(case, expected).standing == standing


@pytest.mark.parametrize(
    ("case", "shadow"),
    [
        (golden(), "no_diff"),
        (PLACEHOLDER, "old_fail_new_pass"),
        (PROSE, "old_fail_new_pass"),
        (golden(return_code=1), "no_diff"),
        (golden(answered(FAILING), tier=2), "no_diff"),
    ],
    ids=["clean", "placeholder", "prose", "return code", "judged"],
)
def test_the_old_engine_is_replayed_beside_and_their_difference_has_a_class(
    case: Golden, shadow: str
) -> None:
    assert judged(case, {"shadow": shadow}).standing == "held"
    others = [judged(case, {"shadow": one.value}) for one in DiffClass if one != shadow]
    assert {one.standing.value for one in others} == {"failing"}
    assert {one.differences[0].place for one in others} == {"shadow"}


def test_what_only_the_old_engine_lacks_matters_where_a_difference_is_expected() -> None:
    blamed = golden(
        answered(PASSING),
        tier=3,
        output=ADVICE.text,
        files={"a.pdf": b"%PDF-1.7"},
        claims=(ADVICE,),
        of_phase={"is_critical_path": True},
    )

    silent, expecting = (
        judged(blamed, expected)
        for expected in ({"verdict": "reject"}, {"shadow": "old_undecided"})
    )

    assert silent.legacy is not None
    assert (silent.replayed.missing, silent.legacy.missing) == (0, 3)
    assert (silent.standing, silent.observed["shadow"]) == ("held", None)
    assert expecting.standing == "not_judged"


def test_a_case_that_is_judged_alone_has_no_difference_to_expect() -> None:
    alone = judged(PLACEHOLDER, {"verdict": "accept"}, is_alone=True)
    expecting = judged(PLACEHOLDER, {"shadow": "old_fail_new_pass"}, is_alone=True)

    assert (alone.standing, alone.legacy, alone.observed["shadow"]) == ("held", None, None)
    assert expecting.standing == "not_judged"


def test_a_question_that_only_the_new_engine_asks_is_judged_by_it_alone() -> None:
    result = judged(ASKED_AGAIN, {"verdict": "accept"})

    assert result.standing == "held"
    assert [one.ask for one in result.replayed.played] == ["assess", "again"]
    assert result.legacy is not None
    assert [one.ask for one in result.legacy.played] == ["assess"]


def test_all_findings_are_compared_and_a_bounded_part_is_kept() -> None:
    rules = [regex(f"rule-{number}", "x", expect="match") for number in range(MAX_FINDINGS + 20)]
    last = {"findings": {"must": [{"rule": f"rule-{MAX_FINDINGS + 19}"}]}}

    result = judged(golden(output="nothing", rules=rules), last, is_alone=True)

    assert result.standing == "held"
    assert len(result.observed["findings"]) == MAX_FINDINGS
    assert result.observed["findings_left_out"] == 20
