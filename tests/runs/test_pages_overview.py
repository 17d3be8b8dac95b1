from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.http import HttpResponse
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from loomverify.accounts.models import Project
from tests.builders import generate_runs, make_process, make_project, make_run, make_user, signed_in
from verification.engine.outcome import Outcome, Verdict
from verification.runs.models import Review

pytestmark = pytest.mark.django_db


def get(project: Project, query: str = "") -> HttpResponse:
    url = reverse("overview", args=[project.slug])
    answer: HttpResponse = signed_in(make_user(project)).get(url + query)  # type: ignore[assignment]
    return answer


def test_a_project_without_runs_shows_the_request_that_makes_the_first() -> None:
    html = get(make_project()).content.decode()

    assert "/api/v1/runs?wait=30" in html
    assert "$LOOMVERIFY_API_KEY" in html
    assert "/settings/keys/" in html


def test_every_number_leads_to_exactly_the_rows_behind_it() -> None:
    project = make_project()
    generate_runs(project, 40, days=3)
    client = signed_in(make_user(project))
    figures = client.get(reverse("overview", args=[project.slug])).context["figures"]
    runs = reverse("run_list", args=[project.slug])

    shares = [*figures.shares, *(one for column in figures.columns for one in column.counts)]
    found = [client.get(f"{runs}?{one.query}").context["count"] for one in shares if one.count]

    assert found == [one.count for one in shares if one.count]
    assert sum(one.count for one in figures.shares) == figures.total == 40
    blocked = client.get(f"{runs}?{figures.query}&verdict=reject&tier=1").context["count"]
    assert blocked == figures.deterministic_count > 0
    for reason in figures.reasons:
        assert client.get(f"{runs}?{reason.query}").context["count"] == reason.count


def test_an_undecided_run_is_counted_as_undecided_alone() -> None:
    project = make_project()
    make_run(project, outcome=Outcome.FAIL, verdict=Verdict.UNDECIDED)

    figures = get(project).context["figures"]  # type: ignore[attr-defined]

    assert {one.badge.word: one.count for one in figures.shares} == {
        "pass": 0,
        "warnings": 0,
        "partial": 0,
        "fail": 0,
        "undecided": 1,
    }


def test_the_chart_has_a_table_with_the_same_figures() -> None:
    project = make_project()
    make_run(project)

    html = get(project).content.decode()

    assert "<svg viewBox" in html
    assert "The same as a table" in html
    assert html.count("<rect") == 2


def test_pending_reviews_are_counted_with_the_age_of_the_oldest() -> None:
    project = make_project()
    Review.objects.create(
        project=project,
        run=make_run(project, review_state="pending"),
        reasons=["undecided"],
        urgency=50,
        created_at=timezone.now() - timedelta(hours=3),
    )

    assert "oldest for 3 h" in get(project).content.decode()


def test_figures_narrow_down_to_a_process() -> None:
    project = make_project()
    make_run(project)
    make_run(project, process=make_process(project, slug="other-work"))

    assert get(project, "?process=other-work").context["figures"].total == 1  # type: ignore[attr-defined]


@pytest.mark.parametrize("query", ["?since=8d", "?process=unknown"])
def test_a_filter_that_makes_no_sense_does_not_exist(query: str) -> None:
    assert get(make_project(), query).status_code == 404


def test_the_overview_takes_as_many_queries_for_many_runs_as_for_few() -> None:
    project = make_project()
    client, url = signed_in(make_user(project)), reverse("overview", args=[project.slug])
    client.get(url)  # the first page also opens the session

    def queries_with(count: int) -> int:
        generate_runs(project, count)
        with CaptureQueriesContext(connection) as captured:
            client.get(url)
        return len(captured)

    assert queries_with(5) == queries_with(50)
