from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from loomverify.accounts.models import Project
from loomverify.errors import InputError
from tests.builders import generate_runs, make_process, make_project, make_run, make_task
from tests.tables import check_rows
from verification.engine.outcome import Outcome, Verdict
from verification.runs import selectors
from verification.runs.models import Run, RunState
from verification.runs.selectors import RunFilters

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    project = make_project()
    other = make_process(project, slug="other-work")
    now = timezone.now()
    make_run(project, title="first", task=make_task(project.processes.get(slug="small-work"), "t1"))
    make_run(project, title="second", process=other, outcome=Outcome.FAIL, reason_code="no_tests")
    make_run(project, title="third", phase="write", outcome=Outcome.FAIL, verdict=Verdict.UNDECIDED)
    make_run(project, title="fourth", state=RunState.RUNNING, created_at=now - timedelta(days=3))
    make_run(project, title="fifth", review_state="pending", created_at=now - timedelta(days=9))
    return project


@check_rows(
    ("filters", "titles"),
    [
        (RunFilters(), {"first", "second", "third", "fourth", "fifth"}),
        (RunFilters(process="other-work"), {"second"}),
        (RunFilters(process="unknown"), set()),
        (RunFilters(phase="write"), {"third"}),
        (RunFilters(outcome="fail"), {"second", "third"}),
        (RunFilters(verdict="reject"), {"second"}),
        (RunFilters(verdict="undecided"), {"third"}),
        (RunFilters(reason_code="no_tests"), {"second"}),
        (RunFilters(state="running"), {"fourth"}),
        (RunFilters(review="pending"), {"fifth"}),
        (RunFilters(task="t1"), {"first"}),
        (RunFilters(tier="1"), {"first", "second", "third", "fourth", "fifth"}),
        (RunFilters(tier="2"), set()),
        (RunFilters(since="24h"), {"first", "second", "third"}),
        (RunFilters(since="5d", until="24h"), {"fourth"}),
        (RunFilters(since="2020-01-01", until="2020-01-02T00:00:00 00:00"), set()),
        (RunFilters(q="second"), {"second"}),
        (RunFilters(q="first or third -second"), {"first", "third"}),
    ],
)
@check_rows("named_project", [True, False], rollback=True)
def test_filters_find(
    project: Project, filters: RunFilters, titles: set[str], named_project: bool
) -> None:
    rows = Run.objects.filter(project=project)

    found = selectors.filter_runs(rows, filters, project=project if named_project else None)

    assert {run.title for run in found} == titles


@check_rows(
    ("name", "value"),
    [
        ("outcome", "splendid"),
        ("verdict", "maybe"),
        ("state", "Running"),
        ("review", "later"),
        ("tier", "4"),
        ("since", "yesterday"),
        ("until", "2026-13-01"),
        ("since", "0d"),
        ("phase", "a\x00b"),
        ("process", "x" * 201),
        ("q", "\x00"),
    ],
    rollback=True,
)
def test_a_value_that_makes_no_sense_is_refused_with_its_place(name: str, value: str) -> None:
    with pytest.raises(InputError) as caught:
        selectors.filter_runs(Run.objects.all(), RunFilters(**{name: value}))

    assert caught.value.code == "filter.invalid"
    assert caught.value.issues[0].loc == ("query", name)
    is_closed = name in ("outcome", "verdict", "state", "review", "tier")
    assert caught.value.status == (422 if is_closed else 400)


def test_runs_of_another_project_are_never_found() -> None:
    project, elsewhere = make_project(), make_project()
    make_run(elsewhere, title="secret")

    assert not selectors.runs(project, RunFilters(q="secret")).exists()


def test_a_count_stops_at_its_cap() -> None:
    project = make_project()
    generate_runs(project, 30)

    assert selectors.count_capped(selectors.runs(project), cap=30) == (30, False)
    assert selectors.count_capped(selectors.runs(project), cap=29) == (29, True)


@pytest.mark.parametrize("common_share", [-1.0, 2.0], ids=["walked by date", "collected first"])
def test_a_word_is_found_whichever_way_the_search_takes(
    monkeypatch: pytest.MonkeyPatch, common_share: float
) -> None:
    project = make_project()
    generate_runs(project, 60)
    monkeypatch.setattr(selectors, "COMMON_SHARE", common_share)

    found = selectors.runs(project, RunFilters(q="parser"))

    assert {"parser" in run.title for run in found} == {True}
    assert found.count() == 20
