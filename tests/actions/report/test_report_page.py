from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from html import unescape
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse

from loomverify.accounts.models import Project, Role
from tests.actions.report.builders import full_night, in_the_night, make_action, make_change
from tests.builders import make_project, make_run, make_user, signed_in
from tests.judged import make_remediation
from tests.runs.conftest import Caller, problem
from verification.actions.models import ActionKind, ActionState, NightReport

pytestmark = pytest.mark.django_db
LINKS = re.compile(r'href="(/p/[^"]*|#[^"]*)"')


@pytest.fixture
def project() -> Project:
    return make_project("looms")


@pytest.fixture
def client(project: Project) -> Client:
    return signed_in(make_user(project, Role.VIEWER))


def page(client: Client, project: Project, query: str = "") -> str:
    answer = client.get(reverse("morning_report", args=[project.slug]) + query)
    assert answer.status_code == 200, answer.content.decode()
    return answer.content.decode()


def test_the_page_counts_what_ran_and_what_became_of_it(client: Client, project: Project) -> None:
    full_night(project)

    html = page(client, project)

    assert "8 runs of 1 process" in html
    assert "of 3 changes, 1 committed, 1 held and 0 reverted" in html


def test_every_link_of_the_page_leads_somewhere(client: Client, project: Project) -> None:
    full_night(project)
    html = page(client, project)
    links = {unescape(link) for link in LINKS.findall(html)}

    lost = [link for link in links if link.startswith("#") and f'id="{link[1:]}"' not in html]
    bad = {
        link: status
        for link in links
        if not link.startswith("#") and (status := client.get(link, follow=True).status_code) != 200
    }

    assert len(links) > 20
    assert (lost, bad) == ([], {})


def test_the_chart_of_a_night_counts_each_run_in_its_hour_and_leads_to_it(
    client: Client, project: Project
) -> None:
    full_night(project)
    answer = client.get(reverse("morning_report", args=[project.slug]))
    chart = answer.context["shown"].chart
    runs = reverse("run_list", args=[project.slug])

    parts = [(one.count, one.query) for column in chart.columns for one in column.counts]
    parts += [(column.total, column.query) for column in chart.columns]
    linked = [(count, query) for count, query in parts if count]
    found = [(client.get(f"{runs}?{query}").context["count"], query) for _, query in linked]

    assert found == linked
    assert [column.total for column in chart.columns] == [*[0] * 13, 8]
    assert chart.words == [tally.words for tally in answer.context["report"].endings]
    assert "<title>07:00: 8 runs, 1 pass, " in answer.content.decode()


def test_no_two_endings_are_drawn_alike(client: Client, project: Project) -> None:
    full_night(project)
    style = (Path(settings.BASE_DIR) / "static/loomverify.css").read_text()

    tones = re.findall(r'<progress class="p-([a-z]+)"', page(client, project))

    fills = [re.findall(rf"--{tone}-fill: (.+);", style) for tone in tones]
    assert len(tones) == len({one[0] for one in fills}) == 8
    assert all(f".s-{tone} " in style and f".p-{tone} " in style for tone in tones)


@pytest.mark.extended
def test_what_is_held_leads_to_all_of_it_in_pages(client: Client, project: Project) -> None:
    at = in_the_night(project)
    for _ in range(60):
        change = make_change(make_run(project, created_at=at))
        make_action(change, state=ActionState.HELD, reason_code="conflict")
        make_action(change, ActionKind.REVIEW_BRANCH)
    make_action(make_change(make_run(project, created_at=at)))
    make_action(make_change(make_run(project)), state=ActionState.HELD)

    [path] = set(re.findall(r'href="([^"]*standing=held[^"]*)"', page(client, project)))
    listed, address = 0, unescape(path)
    while address:
        answer = client.get(address)
        listed += len(answer.context["rows"])
        after = answer.context["next"]
        address = f"{unescape(path)}&cursor={after}" if after else ""

    assert listed == 60
    caller = Caller(project, Role.VIEWER)
    query = urlsplit(unescape(path)).query
    told = caller.get(f"/actions?{query}&limit=100").json()["items"]
    assert len(told) == 60
    assert {(one["state"], one["kind"]) for one in told} == {("held", "commit")}
    assert problem(caller.get("/actions?since=soon"))[:2] == (400, "filter.invalid")
    assert caller.get("/actions?standing=lost").status_code == 422


def test_what_waits_is_told_by_its_kind_and_why_in_words(client: Client, project: Project) -> None:
    at = in_the_night(project)
    for state, code in (("held", "base_moved"), ("proposed", "braked"), ("proposed", "")):
        change = make_change(make_run(project, created_at=at))
        make_action(change, state=ActionState(state), reason_code=code, at=at)
    make_remediation(make_run(project, created_at=at), created_at=at)

    needs = page(client, project).partition('id="needs"')[2].partition("<h3")[0]

    words = re.findall(r"(1 [a-z ]+)</a><span>([^<]+)</span>", needs)
    assert sorted(words) == [
        ("1 held", "commit: target branch moved"),
        ("1 proposed", "commit"),
        ("1 proposed", "commit: switched to propose only"),
        ("1 to remedy", "confirm or take out"),
    ]


def test_an_empty_night_is_one_sentence(client: Client, project: Project) -> None:
    html = page(client, project)

    assert "Nothing ran in this night, and nothing was done." in html
    assert "What ran" not in html


def test_work_that_was_put_back_counts_as_committed_until_it_is_taken_back_again(
    client: Client, project: Project
) -> None:
    told = []
    change = make_change(make_run(project, created_at=in_the_night(project)))
    for turn, kind in ((1, "commit"), (1, "revert"), (1, "restore"), (2, "revert")):
        make_action(change, ActionKind(kind), turn=turn)
        told.append("1 committed" in page(client, project))

    assert told == [True, False, True, False]


def test_the_settings_list_reports_by_the_clock_of_the_project(project: Project) -> None:
    Project.objects.filter(pk=project.pk).update(time_zone="Asia/Tokyo")
    end = datetime(2026, 11, 18, 23, tzinfo=UTC)
    told = {"summary": "A quiet night.", "markdown": ""}
    NightReport.objects.create(project=project, start=end - timedelta(hours=14), end=end, **told)
    admin = signed_in(make_user(project, Role.ADMIN))

    html = admin.get(reverse("settings_reports", args=[project.slug])).content.decode()

    assert ">2026-11-19 08:00</a>" in html
