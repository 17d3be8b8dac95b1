from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone

from loomverify.accounts.models import ApiKey, Project, Role
from tests.builders import make_project, make_run, make_user
from tests.reviewing import DOUBTED, make_review
from tests.reviews.deciding_rows import make_decision, over
from tests.runs.conftest import Caller, problem
from tests.tables import check_rows
from verification.engine.outcome import Outcome
from verification.reviews.models import CaseDraft
from verification.runs.models import Review, ReviewState

NOW = timezone.now
HIDDEN: dict[str, Any] = {"is_flagged": None, "sample_rate": None, "reasons": [], "rule": None,
          "fingerprint": None, "engine": None}  # fmt: skip


@pytest.fixture
def project(db: None) -> Project:
    return make_project("ours")


@pytest.fixture
def reviewer(project: Project) -> Caller:
    return Caller(project, Role.REVIEWER)


@pytest.fixture
def viewer(project: Project) -> Caller:
    return Caller(project, Role.VIEWER)


def ids(caller: Caller, query: str = "") -> list[str]:
    answer = caller.get(f"/reviews?{query}")
    assert answer.status_code == 200, answer.content
    return [one["id"] for one in answer.json()["items"]]


def whole(caller: Caller, review: Review) -> dict[str, Any]:
    answer = caller.get(f"/reviews/{review.uuid}")
    assert answer.status_code == 200, answer.content
    found: dict[str, Any] = answer.json()
    return found


def test_a_review_tells_what_is_doubted_and_by_whom_it_is_decided(
    project: Project, viewer: Caller
) -> None:
    run = make_run(project, **DOUBTED, findings=[{"fingerprint": "f1", "line": 3}])
    review = make_review(project, run, claimed_by=make_user(name="ann"), lease_until=soon())

    found = whole(viewer, review)

    assert (found["run"], found["process"], found["phase"]) == (
        str(run.uuid),
        "small-work",
        "build",
    )
    assert found["url"].endswith(f"/p/ours/review/{review.uuid}/")
    assert (found["reasons"], found["urgency"]) == (["vote_divergence"], 50)
    assert found["engine"]["outcome"] == "fail"
    assert found["engine"]["verdict"] == "undecided"
    assert [(one["fingerprint"], one["line"]) for one in found["findings"]] == [("f1", 3)]
    assert (found["holder"], found["is_mine"], found["decisions"]) == ("ann", False, [])


def soon() -> Any:
    return NOW() + timedelta(minutes=3)


def test_the_list_is_in_the_queues_order_and_paged(project: Project, viewer: Caller) -> None:
    at = NOW()
    made = [make_review(project, urgency=n % 3 * 20, created_at=at) for n in range(7)]
    expected = [str(one.uuid) for one in sorted(made, key=lambda one: (one.rank_at, one.pk))]

    seen, cursor = [], ""
    while cursor is not None:
        page = viewer.get(f"/reviews?limit=2&cursor={cursor}").json()
        seen += [one["id"] for one in page["items"]]
        cursor = page["next"]

    assert seen == expected


@pytest.mark.extended
@pytest.mark.parametrize("state", ReviewState)
def test_every_state_has_its_list(project: Project, viewer: Caller, state: ReviewState) -> None:
    at = NOW()
    made = {
        one: [make_review(project, state=one, decided_at=at, created_at=at) for _ in range(3)]
        for one in ReviewState
    }

    first = viewer.get(f"/reviews?state={state}&limit=2").json()
    rest = viewer.get(f"/reviews?state={state}&limit=2&cursor={first['next']}").json()

    assert {one["id"] for one in first["items"] + rest["items"]} == {
        str(one.uuid) for one in made[state]
    }
    assert rest["next"] is None


def test_filters_narrow_it(project: Project, viewer: Caller) -> None:
    ann = make_user(project, Role.REVIEWER, "ann")
    run = make_run(project, **DOUBTED, phase="write", findings=[{"fingerprint": "f1", "rule": "r"}])
    one = str(make_review(project, run, sample_rate=0.1, assigned_to=ann).uuid)
    other = str(make_review(project, reasons=["low_confidence"]).uuid)

    assert (
        ids(viewer, "phase=write") == ids(viewer, "rule=r") == ids(viewer, "sample=only") == [one]
    )
    assert ids(viewer, "fingerprint=f1") == ids(viewer, "reason=vote_divergence") == [one]
    assert ids(viewer, "reason=low_confidence") == ids(viewer, "assigned=nobody") == [other]
    assert ids(viewer, "sample=without") == [other]
    assert set(ids(viewer, "process=small-work&verdict=undecided")) == {one, other}
    assert ids(viewer, "verdict=accept") == ids(viewer, "process=nowhere") == []


@check_rows(
    "query",
    ["states=held", "state=open", "state=", "limit=0", "limit=201", "cursor=x", "cursor=%00",
     "process=%00", "verdict=maybe", "assigned=me", "sample=all", "rule=" + "r" * 201],
    rollback=True,
)  # fmt: skip
def test_a_filter_with_a_typing_error_is_refused(viewer: Caller, query: str) -> None:
    status, _, loc = problem(viewer.get(f"/reviews?{query}"))

    assert status in (400, 422)
    assert loc[0] == "query"


def test_the_list_takes_the_same_queries_however_long_it_is(
    project: Project, viewer: Caller, django_assert_max_num_queries: Any
) -> None:
    for number in range(12):
        ann, ben = (make_user(name=f"{name}{number}") for name in ("ann", "ben"))
        run = make_run(project, **DOUBTED, findings=[{"fingerprint": "f"}])
        review = make_review(project, run, reviewers=2, assigned_to=ann)
        make_decision(review, ann, labels={"f": True})
        make_decision(review, ben, labels={"f": False})

    with django_assert_max_num_queries(9):
        assert len(ids(viewer)) == 12


def test_while_it_is_blind_nothing_tells_the_verdict(project: Project, reviewer: Caller) -> None:
    run = make_run(
        project, **DOUBTED, findings=[{"fingerprint": "telltale", "rule": "telltale-rule"}]
    )
    review = make_review(project, run, is_blind=True, sample_rate=0.5)

    [listed] = reviewer.get("/reviews").json()["items"]
    answers = [whole(reviewer, review), reviewer.post("/reviews/claim").json()]

    for found in (listed, *answers):
        assert found["is_revealed"] is False
        assert {name: found[name] for name in HIDDEN} == HIDDEN
        assert "telltale" not in str(found)
        assert "undecided" not in str(found)
    assert [found["findings"] for found in answers] == [[], []]


@pytest.mark.parametrize("query", ["verdict=undecided", "rule=r", "fingerprint=f"])
def test_no_filter_finds_out_what_a_blind_review_hides(
    project: Project, reviewer: Caller, query: str
) -> None:
    run = make_run(project, **DOUBTED, findings=[{"fingerprint": "f", "rule": "r"}])
    make_review(project, run, is_blind=True)

    assert ids(reviewer, query) == []
    assert len(ids(reviewer)) == 1


def test_a_blind_verdict_is_revealed_to_who_answered_and_to_all_when_it_is_over(
    project: Project, reviewer: Caller, viewer: Caller
) -> None:
    review = make_review(project, make_run(project, **DOUBTED, findings=[{}]), is_blind=True)
    mine = ApiKey.objects.get(project=project, name="reviewer")
    make_decision(review, mine, None, first_outcome="pass", is_settled=False)

    assert [whole(who, review)["is_revealed"] for who in (reviewer, viewer)] == [True, False]
    assert len(whole(reviewer, review)["findings"]) == 1

    over(review, Outcome.PASS)
    assert whole(viewer, review)["engine"]["outcome"] == "fail"


def test_what_was_taken_back_is_not_told_and_what_was_seen_stays_seen(
    project: Project, reviewer: Caller, viewer: Caller
) -> None:
    review = make_review(project, is_blind=True)
    mine = ApiKey.objects.get(project=project, name="reviewer")
    make_decision(review, mine, first_outcome="pass", is_settled=False, undone_at=NOW())

    found = [whole(who, review) for who in (reviewer, viewer)]

    assert [one["is_revealed"] for one in found] == [True, False]
    assert [one["decisions"] for one in found] == [[], []]


def test_of_two_neither_sees_the_others_before_the_round_is_over(
    project: Project, reviewer: Caller, viewer: Caller
) -> None:
    review = make_review(project, reviewers=2)
    make_decision(review, make_user(name="ann"), Outcome.FAIL, comment="secret")
    make_decision(review, ApiKey.objects.get(project=project, name="reviewer"), Outcome.PASS)

    assert [one["outcome"] for one in whole(reviewer, review)["decisions"]] == ["pass"]
    assert whole(viewer, review)["decisions"] == []

    Review.objects.filter(pk=review.pk).update(round=2, is_adjudication=True, reviewers=1)
    assert [one["outcome"] for one in whole(viewer, review)["decisions"]] == ["fail", "pass"]


def test_who_adjudicates_blind_sees_what_the_two_said_after_answering(
    project: Project, reviewer: Caller, viewer: Caller
) -> None:
    run = make_run(project, **DOUBTED, findings=[{"fingerprint": "f1"}])
    review = make_review(project, run, is_blind=True, reviewers=1, round=2, is_adjudication=True)
    for name, outcome in (("ann", Outcome.FAIL), ("bob", Outcome.PASS)):
        make_decision(review, make_user(name=name), outcome, labels={"f1": True}, round=1)
    assert whole(reviewer, review)["decisions"] == []

    make_decision(
        review,
        ApiKey.objects.get(project=project, name="reviewer"),
        None,
        first_outcome=Outcome.PASS,
        is_settled=False,
    )

    said = [one["outcome"] for one in whole(reviewer, review)["decisions"]]
    assert said == ["fail", "pass", None]
    assert whole(viewer, review)["decisions"] == []


def test_what_can_still_be_taken_back_is_nobody_elses_business(
    project: Project, viewer: Caller
) -> None:
    review = make_review(
        project, state=ReviewState.DECIDED, outcome="pass", takes_effect_at=soon(), decided_at=NOW()
    )
    make_decision(review, make_user(name="ann"), is_settled=False)

    found = whole(viewer, review)

    assert (found["outcome"], found["decisions"]) == (None, [])


def test_a_decision_tells_who_said_what_of_which_finding(project: Project, viewer: Caller) -> None:
    run = make_run(project, **DOUBTED, findings=[{"fingerprint": "f1"}, {"fingerprint": "f2"}])
    review = make_review(project, run)
    ann = make_user(name="ann")
    make_decision(review, ann, Outcome.PASS, labels={"f1": False, "f2": True}, seconds=31)
    over(review, Outcome.PASS)

    found = whole(viewer, review)

    [decision] = found["decisions"]
    assert (found["state"], found["outcome"]) == ("decided", "pass")
    assert (decision["reviewer"], decision["outcome"], decision["seconds"]) == ("ann", "pass", 31)
    assert decision["findings"] == {"f1": "false_positive", "f2": "true_positive"}
    assert (decision["first_outcome"], decision["is_mine"]) == (None, False)


def test_what_another_project_holds_is_not_found(project: Project) -> None:
    review = make_review(project)
    stranger = Caller(make_project("theirs"), Role.ADMIN)

    assert problem(stranger.get(f"/reviews/{review.uuid}"))[:2] == (404, "review.unknown")
    assert ids(stranger) == []
    assert stranger.get(f"/reviews/{uuid4()}").status_code == 404


def test_drafts_of_cases_are_listed_without_telling_what_is_still_to_be_decided(
    project: Project, viewer: Caller
) -> None:
    reviews = [make_review(project), over(make_review(project), Outcome.PASS)]
    for review in reviews:
        CaseDraft.objects.create(
            project=project, run=review.run, review=review, outcome="pass", made_by="ann",
            created_at=NOW(),
        )  # fmt: skip

    page = viewer.get("/reviews/cases").json()

    assert [(one["review"], one["outcome"]) for one in page["items"]] == [
        (str(reviews[1].uuid), "pass"),
        (str(reviews[0].uuid), None),
    ]
    assert page["items"][0]["made_by"] == "ann"
    assert problem(viewer.get("/reviews/cases?run=1"))[0] == 422
