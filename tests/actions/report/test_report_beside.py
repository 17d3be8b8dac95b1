"""What stands beside the runs: the golden corpus, people, money, and what is to be done."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from loomverify.accounts.models import Project, Role
from tests.actions.report.builders import make_action, make_change
from tests.builders import make_project, make_run, make_user, signed_in
from tests.golden.builders import make_case, make_replay, make_result
from tests.reviewing import make_review
from tests.reviews.agreement_rows import make_matrix
from tests.tables import check_rows
from verification.actions.models import ActionKind, ActionState
from verification.actions.report.gathering import report
from verification.actions.report.markdown import markdown
from verification.actions.report.nights import Night
from verification.actions.report.places import address_of, path_of
from verification.actions.report.values import Need, Report
from verification.engine.golden.standing import Change as GoldenChange
from verification.engine.outcome import Outcome, Verdict
from verification.golden.models import Replay, ReplayState
from verification.runs.models import RunState
from verification.verifiers.models import Budget, Spending

pytestmark = pytest.mark.django_db
ENDS = datetime(2026, 11, 18, 8, tzinfo=UTC)
NIGHT = Night(ENDS - timedelta(hours=14), ENDS)
AT = ENDS - timedelta(hours=5, minutes=50)
WEEK = timedelta(days=7)


@pytest.fixture
def project() -> Project:
    return make_project("looms")


@pytest.fixture
def client(project: Project) -> Client:
    return signed_in(make_user(project, Role.VIEWER))


def told(project: Project) -> Report:
    return report(project, NIGHT)


def words(project: Project) -> list[str]:
    return [step.words for step in told(project).steps]


def regressed(project: Project, name: str, at: datetime = AT, **columns: Any) -> Replay:
    counts = {"regressed": 1, "held": 8}
    replay = make_replay(project, created_at=at, **{"total": 9, "counts": counts, **columns})
    case = make_case(project, name)
    make_result(replay, case, change=GoldenChange.REGRESSED)
    return replay


def test_a_regression_of_the_night_is_named_with_its_cases(
    project: Project, client: Client
) -> None:
    regressed(project, "broken-case")

    [one] = told(project).regressions

    assert (one.regressed, one.total, one.cases) == (1, 9, ["broken-case"])
    assert words(project) == ["1 golden case of 9 regressed: see what changed."]
    assert client.get(path_of(one.link, "looms")).status_code == 200


@pytest.mark.parametrize(
    "columns",
    [
        {"at": ENDS},
        {"at": NIGHT.start - timedelta(minutes=1)},
        {"counts": {"regressed": 0}},
        {"counts": {}},
        {"state": ReplayState.CANCELLED},
    ],
)
def test_what_did_not_regress_in_the_night_is_not_told(
    project: Project, columns: dict[str, Any]
) -> None:
    regressed(project, "a-case", **columns)

    assert told(project).regressions == []
    assert told(project).is_empty


def test_agreement_is_of_those_asked_in_the_night_and_in_the_week(
    project: Project, client: Client
) -> None:
    make_matrix(
        project, {("fail", "fail"): 12, ("pass", "pass"): 12, ("fail", "pass"): 8}, created_at=AT
    )
    make_matrix(project, {("fail", "fail"): 8}, created_at=AT - timedelta(days=5))
    make_matrix(project, {("fail", "fail"): 50}, created_at=ENDS - WEEK - timedelta(hours=1))

    night, week = told(project).agreed

    assert (night.n, night.share) == (32, 0.75)
    assert (week.n, week.share) == (40, 0.8)
    assert client.get(path_of(week.link, "looms")).status_code == 200


def test_of_too_few_no_share_is_told(project: Project) -> None:
    make_matrix(project, {("fail", "fail"): 2}, created_at=AT)

    night, _week = told(project).agreed
    text = markdown(told(project), lambda link: address_of(link, "looms"))

    assert (night.n, night.share, night.kappa) == (2, None, None)
    assert "asked in this night: too few to say" in text


def test_a_budget_warns_from_eighty_hundredths(project: Project, client: Client) -> None:
    process = project.processes.get()
    Budget.objects.create(project=project, usd_per_day=Decimal(10))
    Budget.objects.create(project=project, process=process, usd_per_day=Decimal(4))
    for day, usd in ((ENDS.date(), "7.99"), (ENDS.date() - timedelta(days=1), "8.00")):
        Spending.objects.create(project=project, process=process, day=day, spent_usd=Decimal(usd))
    Spending.objects.create(
        project=project, process=process, day=ENDS.date() - timedelta(days=2), spent_usd=99
    )

    lines = told(project).budgets

    assert [(one.scope, one.spent_usd, one.warns, one.is_used_up) for one in lines] == [
        ("small-work", Decimal(8), True, True),
        ("", Decimal(8), True, False),
    ]
    assert words(project) == [
        "The budget of small-work is used up for 17 Nov (UTC).",
        "The budget of the whole project is at 80 % for 17 Nov (UTC).",
    ]
    assert [client.get(path_of(one.link, "looms")).status_code for one in lines] == [200, 200]


def test_what_is_to_be_done_is_told_from_the_counts_alone(project: Project) -> None:
    for minutes in (0, 30, 60):
        make_review(project, created_at=AT + timedelta(minutes=minutes), reasons=["undecided"])
    make_run(project, state=RunState.ERRORED, created_at=AT)
    make_run(
        project,
        created_at=AT,
        outcome=Outcome.PARTIAL_VERIFIED,
        verdict=Verdict.UNDECIDED,
        reason_code="rate_limited",
    )

    assert words(project) == [
        "3 runs wait for a person; the oldest since 02:10.",
        "1 run broke on our side: verify again.",
        "1 run: the judge was too busy. Verify again later.",
    ]


def test_of_a_blind_review_the_reason_stays_here(project: Project) -> None:
    make_review(project, created_at=AT, reasons=["tests_failed"], is_blind=True)

    text = markdown(told(project), lambda link: address_of(link, "looms"))

    assert "tests failed" not in text
    assert "decided blind" in text


def test_what_was_opened_after_the_night_is_left_to_the_next(project: Project) -> None:
    make_review(project, created_at=ENDS, reasons=["undecided"])
    run = make_run(project, created_at=AT)
    make_action(make_change(run), state=ActionState.HELD, at=ENDS)

    found = told(project)

    assert found.needs == []
    assert found.changes == 1


@check_rows(
    ("actions", "standing", "needs"),
    [
        ([], "nothing", []),
        ([(ActionKind.COMMIT, ActionState.DONE)], "committed", []),
        ([(ActionKind.COMMIT, ActionState.PENDING)], "under_way", []),
        ([(ActionKind.COMMIT, ActionState.PROPOSED)], "proposed", [Need.PROPOSED]),
        ([(ActionKind.COMMIT, ActionState.DECLINED)], "nothing", []),
        ([(ActionKind.COMMIT, ActionState.WITHDRAWN)], "nothing", []),
        ([(ActionKind.REVIEW_BRANCH, ActionState.DONE)], "held", []),
        (
            [
                (ActionKind.REVIEW_BRANCH, ActionState.DONE),
                (ActionKind.CLOSE, ActionState.DONE),
            ],
            "nothing",
            [],
        ),
        (
            [
                (ActionKind.REVIEW_BRANCH, ActionState.DONE),
                (ActionKind.COMMIT, ActionState.DONE),
                (ActionKind.CLOSE, ActionState.HELD),
            ],
            "committed",
            [Need.HELD],
        ),
        (
            [(ActionKind.COMMIT, ActionState.DONE), (ActionKind.REVERT, ActionState.DONE)],
            "reverted",
            [],
        ),
        (
            [(ActionKind.COMMIT, ActionState.DONE), (ActionKind.REVERT, ActionState.HELD)],
            "committed",
            [Need.HELD],
        ),
    ],
    rollback=True,
)
def test_a_change_has_the_first_standing_that_is_true_of_it(
    project: Project,
    actions: list[tuple[ActionKind, ActionState]],
    standing: str,
    needs: list[Need],
) -> None:
    change = make_change(make_run(project, created_at=AT))
    for kind, state in actions:
        make_action(change, kind, state)

    found = told(project)

    assert {one.standing.value: one.count for one in found.standings if one.count} == {standing: 1}
    assert [one.need for one in found.needs] == needs


def test_what_was_done_with_older_changes_is_told_beside_the_night_s(project: Project) -> None:
    older = make_change(make_run(project, created_at=NIGHT.start - timedelta(hours=3)))
    make_action(older, at=AT)

    found = told(project)

    assert (found.runs, found.changes, found.earlier) == (0, 0, [("commit", 1)])
    assert not found.is_empty
    assert client_page(project).count("Done in this night with changes from before it: 1 commit")


def client_page(project: Project) -> str:
    client = signed_in(make_user(project))
    query = "?from=2026-11-17T18:00Z&to=2026-11-18T08:00Z"
    return client.get(reverse("morning_report", args=["looms"]) + query).content.decode()
