from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from loomverify.accounts.access import SYSTEM
from loomverify.accounts.models import Project, Role
from loomverify.accounts.services import create_api_key
from loomverify.errors import InputError, NotFound
from tests.builders import make_process, make_project, make_run, make_user
from tests.judged import make_tier
from tests.reviewing import make_review
from tests.reviews.agreement_rows import UNDECIDED, make_decided, make_matrix
from tests.reviews.deciding_rows import make_decision, over
from tests.tables import check_rows
from verification.engine.outcome import Outcome
from verification.engine.statistics.estimates import Estimate, Figure, TooFew
from verification.engine.statistics.intervals import clopper_pearson, wilson
from verification.engine.statistics.kappa import cohens_kappa
from verification.reviews.agreement.filters import AgreementFilters
from verification.reviews.agreement.selectors import AgreementFigures, agreement_figures
from verification.reviews.models import Decision
from verification.runs.models import Review, ReviewState

pytestmark = pytest.mark.django_db

PASS, FAIL = Outcome.PASS, Outcome.FAIL


def measured(project: Project, **filters: str) -> AgreementFigures:
    return agreement_figures(project, AgreementFilters(**filters))


def value_of(figure: Figure) -> float:
    assert isinstance(figure, Estimate), figure
    return figure.value


def test_nothing_decided_says_how_much_is_missing(project: Project) -> None:
    found = measured(project)

    assert found.people.n == 0
    assert found.people.verdicts.kappa == found.changed == TooFew(0, 20)
    assert found.sample.false_fail == found.sample.escaped_defect == TooFew(0, 10)
    assert not found.phases
    assert not found.models
    assert not found.rules


def test_the_verifier_is_beside_people_by_verdict_and_by_outcome(project: Project) -> None:
    make_matrix(
        project,
        {
            ("fail", "fail"): 15,
            ("fail", "pass"): 5,
            ("pass", "pass"): 14,
            ("pass", "pass_with_warnings"): 3,
            ("pass_with_warnings", "fail"): 2,
            ("partial_verified", "partial_verified"): 1,
        },
    )

    found = measured(project).people

    assert found.verdicts.n == 40
    assert value_of(found.verdicts.percentage) == pytest.approx(33 / 40)
    assert value_of(found.verdicts.kappa) == pytest.approx(cohens_kappa([[18, 2], [5, 15]]))
    assert value_of(found.outcomes.percentage) == pytest.approx(30 / 40)
    assert value_of(found.precision) == pytest.approx(15 / 20)
    assert found.recall == TooFew(17, 20)
    assert found.matrix["pass", "pass_with_warnings"] == 3


def test_a_figure_has_its_interval(project: Project) -> None:
    make_matrix(project, {("fail", "fail"): 18, ("fail", "pass"): 7})

    found = measured(project).people.precision

    expected = wilson(18, 25)
    assert found == Estimate(25, 18 / 25, expected.low, expected.high)


def test_undecided_runs_stand_apart_and_are_no_disagreement(project: Project) -> None:
    make_matrix(project, {("fail", "fail"): 20, (UNDECIDED, "pass"): 6, (UNDECIDED, "fail"): 3})

    found = measured(project).people

    assert (found.n, found.undecided, found.verdicts.n) == (29, 9, 20)
    assert value_of(found.verdicts.percentage) == 1.0
    assert found.matrix[UNDECIDED, "pass"] == 6


@pytest.mark.parametrize(
    "columns",
    [
        {"state": ReviewState.PENDING},
        {"state": ReviewState.EXPIRED},
        {"state": ReviewState.HELD},
        {"state": ReviewState.DECIDED},  # and not told: it can still be undone
    ],
    ids=["pending", "expired", "held", "undoable"],
)
def test_what_has_not_taken_effect_does_not_count(
    project: Project, columns: dict[str, Any]
) -> None:
    review = make_review(project, sample_rate=0.1, is_blind=True, **columns)
    make_decision(review, make_user(project), FAIL, first_outcome="pass", is_settled=False)

    found = measured(project)

    assert (found.people.n, found.sample.decided, found.blind.n) == (0, 0, 0)


def test_people_may_change_their_minds_and_the_newest_word_counts(project: Project) -> None:
    review = make_decided(project, "pass", "fail")
    make_decision(review, make_user(project), PASS, round=2)
    over(review, PASS)

    assert measured(project).people.matrix == {("pass", "pass"): 1}


def test_a_decision_taken_back_does_not_count_among_people(project: Project) -> None:
    one, other = make_user(project), make_user(project)
    review = make_decided(project, by=one)
    make_decision(review, other, PASS, undone_at=timezone.now())

    assert measured(project).among.verdicts.n == 0


@check_rows(
    ("filters", "n"),
    [
        ({}, 4),
        ({"process": "other"}, 1),
        ({"phase": "write"}, 1),
        ({"rule": "sober-tone"}, 1),
        ({"model": "acme/large"}, 1),
        ({"sample": "only"}, 1),
        ({"since": "24h"}, 3),
        ({"until": "24h"}, 1),
        ({"since": "30d", "until": "24h"}, 0),
        ({"phase": "write", "sample": "only"}, 0),
    ],
    ids=str,
    rollback=True,
)
def test_figures_narrow_down(project: Project, filters: dict[str, str], n: int) -> None:
    long_ago = timezone.now() - timedelta(days=90)
    make_decided(project, process=make_process(project, slug="other"), created_at=long_ago)
    make_decided(project, phase="write")
    make_decided(project, rule="sober-tone", sample_rate=0.1)
    make_decided(project, model="acme/large")
    make_decided(make_project())

    assert measured(project, **filters).people.n == n


@pytest.mark.parametrize(
    ("filters", "error"),
    [
        ({"process": "nowhere"}, NotFound),
        ({"phase": "a\x00b"}, InputError),
        ({"rule": "r" * 201}, InputError),
        ({"model": "\n"}, InputError),
        ({"since": "yesterday"}, InputError),
        ({"until": "9999999999d"}, InputError),
        ({"sample": "all"}, InputError),
    ],
    ids=str,
)
def test_a_filter_that_is_none_is_refused(
    project: Project, filters: dict[str, str], error: type[Exception]
) -> None:
    with pytest.raises(error):
        measured(project, **filters)


@pytest.mark.parametrize("name", ["100 %s sure", "%(reviews)s", "it's; --", "\u202e", "'"])
def test_any_name_is_a_name(project: Project, name: str) -> None:
    make_decided(project, "fail", "pass", rule=name, model=name, phase=name)

    found = measured(project, rule=name, model=name, phase=name)

    assert (found.people.n, found.rules[0].rule, found.models[0].model) == (1, name, name)


def test_rates_of_all_runs_come_from_the_random_sample_alone(project: Project) -> None:
    make_matrix(project, {("fail", "fail"): 30}, reasons=["rule_violated"])
    sampled: dict[str, Any] = {"sample_rate": 0.05, "is_flagged": False}
    make_matrix(project, {("fail", "fail"): 9, ("fail", "pass"): 3}, **sampled)
    make_matrix(project, {("pass", "pass"): 18, ("pass", "fail"): 2}, **sampled)

    found = measured(project).sample

    assert (found.drawn, found.decided) == (32, 32)
    exact = clopper_pearson(3, 12)
    assert value_of(found.false_fail) == pytest.approx(3 / 12)
    assert isinstance(found.false_fail, Estimate)
    assert (found.false_fail.low, found.false_fail.high) == pytest.approx((exact.low, exact.high))
    assert value_of(found.escaped_defect) == pytest.approx(2 / 20)
    assert value_of(found.recall) == pytest.approx(9 / 11)


def test_a_sample_drawn_at_two_rates_is_weighted(project: Project) -> None:
    rare: dict[str, Any] = {"sample_rate": 0.02, "is_flagged": False}
    often: dict[str, Any] = {"sample_rate": 0.2, "is_flagged": False}
    make_matrix(project, {("pass", "pass"): 8, ("pass", "fail"): 2}, **rare)
    make_matrix(project, {("pass", "pass"): 10}, **often)

    found = measured(project).sample.escaped_defect

    assert value_of(found) == pytest.approx(2 * 50 / (10 * 50 + 10 * 5))


def test_what_was_drawn_and_not_decided_is_counted_beside_it(project: Project) -> None:
    make_decided(project, "pass", "pass", sample_rate=0.1)
    for state in (ReviewState.PENDING, ReviewState.EXPIRED, ReviewState.WITHDRAWN):
        make_review(project, make_run(project), state=state, sample_rate=0.1, is_flagged=False)

    found = measured(project).sample

    assert (found.drawn, found.decided) == (3, 1)


def test_a_rule_is_overturned_where_people_say_so(project: Project) -> None:
    for labels in ([False], [True], [False, True], [False, False]):
        make_decided(project, "fail", "fail", rule="sober-tone", labels=labels)
    for people in ("pass", "fail", "partial_verified"):
        make_decided(project, "fail", people, rule="figures-have-sources")
    make_decided(project, "pass", "pass", rule="no-placeholders")
    make_decided(project, UNDECIDED, "pass", rule="no-placeholders")

    found = {one.rule: one.overturned for one in measured(project).rules}

    assert found == {"sober-tone": TooFew(4, 20), "figures-have-sources": TooFew(3, 20)}


def test_the_worst_rule_comes_first_with_what_its_share_is_of(project: Project) -> None:
    make_matrix(project, {("fail", "pass"): 22, ("fail", "fail"): 15}, rule="sober-tone")
    make_matrix(project, {("fail", "pass"): 2, ("fail", "fail"): 23}, rule="no-placeholders")
    make_matrix(project, {("fail", "pass"): 3}, rule="rarely-asked")

    found = measured(project).rules

    assert [one.rule for one in found] == ["sober-tone", "no-placeholders", "rarely-asked"]
    assert found[0].overturned.n == 37
    assert value_of(found[0].overturned) == pytest.approx(22 / 37)
    assert found[2].overturned == TooFew(3, 20)


def test_the_newest_round_with_labels_says_whether_a_rule_is_right(project: Project) -> None:
    review = make_decided(project, "fail", "fail", rule="sober-tone", labels=[True])
    make_decision(review, make_user(project), PASS, labels={"f0": False}, round=2)
    make_decision(review, make_user(project), PASS, round=3)
    over(review, PASS)
    make_matrix(project, {("fail", "fail"): 19}, rule="sober-tone")

    (found,) = measured(project).rules

    assert value_of(found.overturned) == pytest.approx(1 / 20)


def test_each_phase_and_each_model_stands_for_itself(project: Project) -> None:
    make_matrix(project, {("fail", "fail"): 12, ("pass", "pass"): 12}, model="acme/large")
    make_matrix(project, {("fail", "pass"): 3}, phase="write", model="acme/small")
    make_decided(project)

    found = measured(project)

    assert [(one.phase, one.n) for one in found.phases] == [("build", 25), ("write", 3)]
    assert [(one.model, one.n) for one in found.models] == [("acme/large", 24), ("acme/small", 3)]
    assert value_of(found.models[0].verdicts.kappa) == 1.0
    assert found.models[1].verdicts.kappa == TooFew(3, 20)


def test_two_judges_of_one_run_are_both_measured_and_tier_one_is_none(project: Project) -> None:
    review = make_decided(project, model="acme/large")
    make_tier(review.evaluation, 3, model="acme/voter")

    assert [(one.model, one.n) for one in measured(project).models] == [
        ("acme/large", 1),
        ("acme/voter", 1),
    ]


def by_two(project: Project, said: tuple[str, str], *, by: Any, **columns: Any) -> Review:
    review = make_review(project, reviewers=2, state=ReviewState.DECIDED)
    for one, outcome in zip(by, said, strict=True):
        make_decision(review, one, Outcome(outcome), **columns)
    return over(review, Outcome(said[-1]))


def test_people_are_compared_where_both_decided_in_one_round(project: Project) -> None:
    mira, jonas = make_user(project, name="mira"), make_user(project, name="jonas")
    for _ in range(10):
        by_two(project, ("pass", "pass"), by=(mira, jonas))
        by_two(project, ("fail", "fail"), by=(jonas, mira))
    for _ in range(4):
        by_two(project, ("pass", "fail"), by=(mira, jonas))
    make_decided(project, by=mira)

    found = measured(project).among

    assert (found.verdicts.n, found.differing) == (24, 4)
    assert value_of(found.verdicts.percentage) == pytest.approx(20 / 24)
    assert value_of(found.verdicts.kappa) == pytest.approx(
        cohens_kappa([[10, 4], [0, 10]], interchangeable=True)
    )
    (pair,) = found.pairs
    assert {pair.first, pair.second} == {"mira", "jonas"}
    assert value_of(pair.verdicts.kappa) == pytest.approx(cohens_kappa([[10, 4], [0, 10]]))


def test_a_blind_reviewer_is_compared_by_what_was_said_at_first(project: Project) -> None:
    mira, jonas = make_user(project), make_user(project)
    review = make_review(project, reviewers=2, is_blind=True, state=ReviewState.DECIDED)
    make_decision(review, mira, FAIL, first_outcome="pass")
    make_decision(review, jonas, FAIL, first_outcome="fail")
    over(review, FAIL)

    found = measured(project).among

    assert (found.verdicts.n, found.differing) == (1, 1)


def test_who_adjudicates_has_seen_both_and_is_no_pair(project: Project) -> None:
    people = [make_user(project) for _ in range(3)]
    review = by_two(project, ("pass", "fail"), by=people[:2])
    make_decision(review, people[2], PASS, round=2, is_adjudication=True)
    over(review, PASS)

    assert measured(project).among.verdicts.n == 1


def test_a_key_that_decides_is_one_of_the_two(project: Project) -> None:
    key, _ = create_api_key(project=project, name="night", role=Role.REVIEWER, actor=SYSTEM)
    by_two(project, ("pass", "fail"), by=(make_user(project, name="mira"), key))

    (pair,) = measured(project).among.pairs

    assert {pair.first, pair.second} == {"mira", "key night"}


def test_nobody_learns_of_a_first_decision_while_the_second_is_still_made(
    project: Project,
) -> None:
    review = make_review(project, reviewers=2, is_blind=True)
    make_decision(review, make_user(project), FAIL, first_outcome="pass")

    found = measured(project)

    assert (found.people.n, found.blind.n, found.among.verdicts.n) == (0, 0, 0)


def test_blind_decisions_are_counted_by_whether_the_verdict_changed_them(
    project: Project,
) -> None:
    by = make_user(project)
    for first in ["fail"] * 15 + ["pass"] * 5:
        review = make_decided(project, "fail", "fail", by=by, is_blind=True)
        Decision.objects.filter(review=review).update(first_outcome=first)
    make_decided(project)

    found = measured(project)

    assert (found.blind.n, found.blind.changed) == (20, 5)
    assert value_of(found.changed) == 0.25


def test_the_queries_do_not_grow_with_what_they_count(project: Project) -> None:
    make_matrix(project, {("fail", "pass"): 1}, rule="one", model="a")
    with CaptureQueriesContext(connection) as few:
        measured(project)
    for n in range(3):
        process = make_process(project, slug=f"p{n}")
        make_matrix(
            project, {("fail", "pass"): 2, ("pass", "pass"): 2},
            rule=f"r{n}", model=f"m{n}", process=process,
        )  # fmt: skip
        by_two(project, ("pass", "fail"), by=(make_user(project), make_user(project)))

    with CaptureQueriesContext(connection) as many:
        measured(project)

    assert len(many) == len(few) + 1  # the reviewers' names, once there is a pair
