from __future__ import annotations

import csv
import io
from datetime import timedelta
from uuid import uuid4

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from loomverify.accounts.models import Project, Role
from tests.builders import make_project, make_run, make_task, make_user, signed_in
from verification.engine.outcome import Outcome, Verdict
from verification.runs.models import RunState

pytestmark = pytest.mark.django_db


def page(project: Project, query: str = "", *, name: str = "run_list") -> str:
    client = signed_in(make_user(project))
    answer = client.get(reverse(name, args=[project.slug]) + query)
    assert answer.status_code == 200
    content = b"".join(answer) if answer.streaming else answer.content
    return str(content.decode())


@pytest.mark.parametrize("name", ["overview", "run_list", "run_export", "run_rows", "process_list"])
def test_a_page_of_another_project_does_not_exist(name: str) -> None:
    project, elsewhere = make_project(), make_project()

    answer = signed_in(make_user(elsewhere, Role.ADMIN)).get(reverse(name, args=[project.slug]))

    assert answer.status_code == 404


@pytest.mark.parametrize("name", ["overview", "run_list", "run_export", "run_rows", "process_list"])
def test_who_is_not_signed_in_is_asked_to(name: str) -> None:
    url = reverse(name, args=[make_project().slug])

    answer = Client().get(url)

    assert answer.status_code == 302
    assert answer["Location"] == f"{reverse('sign_in')}?next={url}"


def test_the_list_shows_outcome_title_task_and_reason_of_each_run() -> None:
    project = make_project()
    make_run(
        project,
        title="Write the parser",
        task=make_task(project.processes.get(), "mr-204"),
        outcome=Outcome.FAIL,
        reason_code="syntax_invalid",
    )

    html = page(project)

    for text in ("Write the parser", "mr-204", "a file does not parse", "fail", "1 run"):
        assert text in html


def test_an_undecided_run_is_never_shown_as_failed() -> None:
    project = make_project()
    make_run(project, outcome=Outcome.FAIL, verdict=Verdict.UNDECIDED)

    html = page(project)

    assert "</svg>undecided</span>" in html
    assert "</svg>fail</span>" not in html


def test_the_list_takes_as_many_queries_for_fifty_rows_as_for_five() -> None:
    project = make_project()
    client, url = signed_in(make_user(project)), reverse("run_list", args=[project.slug])

    client.get(url)  # the first page also opens the session

    def queries_with(count: int) -> int:
        for _ in range(count):
            make_run(project, task=make_task(project.processes.get()))
        with CaptureQueriesContext(connection) as captured:
            client.get(url)
        return len(captured)

    assert queries_with(5) == queries_with(45)


def test_filters_narrow_the_list_and_stay_in_the_form() -> None:
    project = make_project()
    make_run(project, title="Kept", outcome=Outcome.FAIL, reason_code="tests_failed")
    make_run(project, title="Left out")

    html = page(project, "?outcome=fail&reason_code=tests_failed")

    assert "Kept" in html
    assert "Left out" not in html
    assert 'name="reason_code" value="tests_failed"' in html


def test_a_filter_that_makes_no_sense_is_said_so() -> None:
    project = make_project()

    answer = signed_in(make_user(project)).get(
        reverse("run_list", args=[project.slug]), {"outcome": "splendid"}
    )

    assert answer.status_code == 400
    assert "outcome takes one of pass, pass_with_warnings" in answer.content.decode()


def test_older_runs_are_one_page_away() -> None:
    project = make_project()
    now = timezone.now()
    for number in range(51):
        make_run(project, title=f"Run {number}.", created_at=now - timedelta(minutes=number))
    client, url = signed_in(make_user(project)), reverse("run_list", args=[project.slug])

    first = client.get(url)
    second = client.get(url, {"cursor": first.context["next"]})

    assert len(first.context["rows"]) == 50
    assert [row.title for row in second.context["rows"]] == ["Run 50."]
    assert second.context["next"] is None


def test_only_rows_that_are_not_over_are_asked_for_again() -> None:
    project = make_project()
    over, running = make_run(project), make_run(project, state=RunState.RUNNING)

    html = page(project)

    live = html[html.index('id="live"') : html.index('id="live"') + 500]
    assert str(running.uuid) in live
    assert str(over.uuid) not in live


def test_a_refresh_brings_the_row_as_it_is_now_and_counts_newer_runs() -> None:
    project = make_project()
    run = make_run(project, created_at=timezone.now() - timedelta(minutes=5))
    after = run.created_at.isoformat().replace("+00:00", "Z")
    make_run(project)

    html = page(project, f"?ids={run.uuid}&after={after}", name="run_rows")

    assert f'<tr id="run-{run.uuid}" hx-swap-oob="true">' in html
    assert ">1 new</a>" in html
    assert f"ids={run.uuid}" not in html


def test_a_refresh_never_brings_rows_of_another_project() -> None:
    project, elsewhere = make_project(), make_project()
    foreign = make_run(elsewhere)

    html = page(project, f"?ids={foreign.uuid},{uuid4()}", name="run_rows")

    assert "<tr" not in html


def test_the_export_holds_the_filtered_rows() -> None:
    project = make_project()
    make_run(project, outcome=Outcome.FAIL, title="Kept")
    make_run(project, title="Left out")

    rows = list(csv.DictReader(io.StringIO(page(project, "?outcome=fail", name="run_export"))))

    assert [row["title"] for row in rows] == ["Kept"]


def test_an_empty_list_says_where_to_start() -> None:
    assert "No runs yet." in page(make_project())


def test_a_search_without_a_match_offers_the_way_back() -> None:
    assert "No run fits these filters." in page(make_project(), "?q=nothing")
