from __future__ import annotations

from typing import Any

import pytest

from loomverify.accounts.models import Project, Role
from tests.builders import make_process, make_project, make_user
from tests.reviewing import make_review
from tests.reviews.agreement_rows import UNDECIDED, make_decided, make_matrix
from tests.reviews.deciding_rows import make_decision, over
from tests.runs.conftest import Caller, problem
from tests.tables import check_rows
from verification.engine.outcome import Outcome
from verification.engine.statistics.intervals import wilson
from verification.reviews.agreement.api import AgreementQuery
from verification.reviews.agreement.filters import AgreementFilters
from verification.runs.models import ReviewState

pytestmark = pytest.mark.django_db


@pytest.fixture
def caller(project: Project) -> Caller:
    return Caller(project, Role.VIEWER)


def asked(caller: Caller, what: str, query: str = "") -> dict[str, Any]:
    answer = caller.get(f"/reviews/{what}{query}")
    assert answer.status_code == 200, answer.content
    found: dict[str, Any] = answer.json()
    return found


def test_figures_come_with_their_interval_or_with_what_is_missing(
    project: Project, caller: Caller
) -> None:
    cells = {("fail", "fail"): 15, ("fail", "pass"): 5, ("pass", "pass"): 4, (UNDECIDED, "pass"): 2}
    make_matrix(project, cells, rule="sober-tone", model="acme/large")

    found = asked(caller, "agreement")

    people = found["with_people"]
    precise = wilson(15, 20)
    assert people["precision"] == {"n": 20, "value": 0.75, "low": precise.low, "high": precise.high}
    assert people["recall"] == {"n": 15, "needed": 20}
    assert (people["n"], people["undecided"]) == (26, 2)
    assert people["confusion"]["fail"] == {
        "pass": 5, "pass_with_warnings": 0, "partial_verified": 0, "fail": 15,
    }  # fmt: skip
    assert people["confusion"]["undecided"]["pass"] == 2
    assert found["sample"]["false_fail_rate"] == {"n": 0, "needed": 10}
    assert [one["model"] for one in found["models"]] == ["acme/large"]
    assert found["rules"][0]["overturned"]["value"] == 0.25


def test_one_word_alone_says_why_there_is_no_kappa(project: Project, caller: Caller) -> None:
    make_matrix(project, {("pass", "pass"): 20})

    verdicts = asked(caller, "agreement")["with_people"]["verdicts"]

    assert verdicts["kappa"] == {"n": 20, "reason": "one_category"}


def test_people_are_compared_by_name(project: Project, caller: Caller) -> None:
    review = make_review(project, reviewers=2, state=ReviewState.DECIDED)
    for name, said in (("mira", Outcome.PASS), ("jonas", Outcome.FAIL)):
        make_decision(review, make_user(project, name=name), said)
    over(review, Outcome.FAIL)

    found = asked(caller, "agreement")["people"]

    assert (found["verdicts"]["n"], found["differing"]) == (1, 1)
    assert sorted(found["pairs"][0]["reviewers"]) == ["jonas", "mira"]


def test_a_floor_and_the_tenths_are_told(project: Project, caller: Caller) -> None:
    make_matrix(project, {("pass", "pass"): 149, ("pass", "fail"): 1}, model="a", confidence=0.9)
    make_matrix(project, {("pass", "pass"): 5, ("pass", "fail"): 20}, model="a", confidence=0.65)

    found = asked(caller, "calibration")

    (floor,) = found["floors"]
    assert (floor["floor"], floor["reason"], floor["judged_runs"]) == (0.9, None, 175)
    assert floor["below_then"] == pytest.approx(25 / 175)
    assert floor["present"] == {"build": 0.6, "write": 0.6}
    assert found["tenths"][9]["agreed"]["value"] == pytest.approx(149 / 150)
    assert found["tenths"][0] == {
        "low": 0.0, "high": 0.1, "n": 0, "confidence": None, "agreed": None,
    }  # fmt: skip
    assert found["expected_calibration_error"]["n"] == 175


def test_without_enough_there_is_no_floor_and_no_error(project: Project, caller: Caller) -> None:
    make_matrix(project, {("pass", "pass"): 9}, model="a", confidence=0.9)

    found = asked(caller, "calibration")

    assert found["expected_calibration_error"] == {"n": 9, "needed": 50}
    (floor,) = found["floors"]
    assert (floor["floor"], floor["reason"], floor["needed"]) == (None, "too_few", 73)
    assert floor["below_then"] is None


@check_rows("what", ["agreement", "calibration"])
@check_rows(
    ("query", "status", "code"),
    [
        ("?proces=small-work", 422, "parameter.unknown"),
        ("?since=yesterday", 400, "filter.invalid"),
        ("?sample=without", 422, "filter.invalid"),
        ("?rule=a%00b", 400, "filter.invalid"),
        ("?process=nowhere", 404, "process.unknown"),
        ("?process=a%00b", 404, "process.unknown"),
    ],
    rollback=True,
)
def test_what_is_no_filter_is_refused(
    caller: Caller, what: str, query: str, status: int, code: str
) -> None:
    assert problem(caller.get(f"/reviews/{what}{query}"))[:2] == (status, code)


@pytest.mark.parametrize("what", ["agreement", "calibration"])
def test_figures_narrow_down_by_every_filter(project: Project, caller: Caller, what: str) -> None:
    judged: dict[str, Any] = {"model": "acme/large", "confidence": 0.9}
    make_decided(project, rule="sober-tone", phase="write", sample_rate=0.1, **judged)
    make_decided(project, process=make_process(project, slug="other"), model="a", confidence=0.8)
    narrowed = (
        "process=small-work&phase=write&rule=sober-tone&model=acme/large&since=1d&sample=only"
    )

    found = asked(caller, what, f"?{narrowed}")

    assert (found["with_people"] if what == "agreement" else found)["n"] == 1


@pytest.mark.parametrize("what", ["agreement", "calibration"])
def test_another_project_is_never_counted(caller: Caller, what: str) -> None:
    make_decided(make_project(), model="acme/large", confidence=0.9)

    found = asked(caller, what)

    assert (found["with_people"] if what == "agreement" else found)["n"] == 0


def test_every_filter_of_the_pages_is_one_of_the_api() -> None:
    assert set(AgreementFilters.__dataclass_fields__) == set(AgreementQuery.model_fields)
