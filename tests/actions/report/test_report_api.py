from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from loomverify.accounts.models import Member, Project, Role
from tests.actions.conftest import key_of
from tests.actions.report.builders import full_night
from tests.actions.report.test_report_schedule import reader
from tests.builders import make_project, make_user, signed_in
from tests.tables import check_rows
from verification.actions.models import ReportSettings

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return make_project("looms")


def ask(project: Project, query: str = "") -> Any:
    key = key_of(project, Role.VIEWER)
    return Client().get(
        f"/api/v1/reports/morning{query}", headers={"Authorization": f"Bearer {key}"}
    )


def test_a_program_gets_counts_that_add_up_and_whole_addresses(project: Project) -> None:
    full_night(project)

    told = ask(project).json()

    assert told["runs"] == sum(one["count"] for one in told["endings"]) == 8
    assert sum(one["runs"] for one in told["by_time"]) == 8
    assert len(told["by_time"]) == 14
    assert told["changes"] == sum(one["count"] for one in told["standings"]) == 3
    assert told["needs_person"] == sum(one["count"] for one in told["needs"]) == 4
    for one in told["standings"]:
        assert one["count"] == sum(one["reasons"].values())
    addresses = [one["url"] for one in (*told["endings"], *told["processes"], *told["waiting"])]
    assert all(one.startswith("http") and "/p/looms/runs/" in one for one in addresses)


def test_markdown_is_the_same_as_the_page_s(project: Project) -> None:
    full_night(project)
    page = signed_in(make_user(project))

    answer = ask(project, "?format=markdown")
    saved = page.get(reverse("morning_report_file", args=["looms"]))

    assert answer["Content-Type"] == saved["Content-Type"] == "text/markdown; charset=utf-8"
    assert answer.content == saved.content
    assert saved["Content-Disposition"].startswith('attachment; filename="report-looms-')
    assert answer.content.decode().startswith("# Morning report of Looms\n")


@check_rows(
    ("query", "code"),
    [
        ("?since=2026-01-02&until=2026-01-01", "report.span"),
        ("?since=2026-01-01&until=2026-01-01", "report.span"),
        ("?since=2025-01-01&until=2026-01-01", "report.span"),
        ("?since=soon", "filter.invalid"),
        ("?since=%00", "filter.invalid"),
        ("?until=0001-01-01", "filter.invalid"),
        ("?until=9999-12-31T23:59:59-14:00", "filter.invalid"),
        ("?since=0001-01-01T00:00", "filter.invalid"),
        ("?since=0002-01-01T00:00", "filter.invalid"),
        ("?until=9999-12-31T23:59", "filter.invalid"),
        ("?from=24h", "parameter.unknown"),
        ("?since=99999d", "filter.invalid"),
    ],
    rollback=True,
)
def test_a_span_that_is_none_is_refused(project: Project, query: str, code: str) -> None:
    answer = ask(project, query)

    assert answer.status_code in (400, 422), answer.content
    assert [one["code"] for one in answer.json()["errors"]] == [code]
    page = signed_in(make_user(project))
    address = reverse("morning_report", args=["looms"])
    if code != "parameter.unknown":
        named = query.replace("since", "from").replace("until", "to")
        assert page.get(address + named).status_code == 400


def test_a_time_without_an_offset_is_one_of_the_project_s_zone(project: Project) -> None:
    Project.objects.filter(pk=project.pk).update(time_zone="Asia/Kathmandu")

    told = ask(project, "?since=2026-01-01T18:00&until=2026-01-02T08:00").json()

    assert (told["since"], told["until"]) == ("2026-01-01T12:15:00Z", "2026-01-02T02:15:00Z")


def test_only_the_end_asks_for_the_night_before_it(project: Project) -> None:
    told = ask(project, "?until=2026-01-02T08:00Z").json()

    assert told["since"] == "2026-01-01T18:00:00Z"


def test_another_project_s_member_finds_no_page(project: Project) -> None:
    other = signed_in(make_user(make_project(), Role.ADMIN))

    for name in ("morning_report", "morning_report_file", "settings_reports"):
        assert other.get(reverse(name, args=["looms"])).status_code == 404


@pytest.mark.parametrize(
    ("role", "status"), [(Role.EDITOR, 403), (Role.VIEWER, 403), (Role.ADMIN, 200)]
)
def test_settings_are_for_admins(project: Project, role: Role, status: int) -> None:
    client = signed_in(make_user(project, role))

    assert client.get(reverse("settings_reports", args=["looms"])).status_code == status


def saved(project: Project, **fields: Any) -> Any:
    client = signed_in(make_user(project, Role.ADMIN))
    given = {
        "is_on": "on",
        "begins": "20:00",
        "ends": "07:30",
        "quiet_begins": "22:00",
        "quiet_ends": "07:00",
        **fields,
    }
    return client.post(reverse("settings_reports", args=["looms"]), given)


def test_an_admin_sets_the_night_who_is_mailed_and_the_quiet_hours(project: Project) -> None:
    member = reader(project)

    answer = saved(project, recipients=[str(member.uuid)])

    assert answer.status_code == 302
    row = ReportSettings.objects.get()
    assert (str(row.begins), str(row.ends), row.is_on) == ("20:00:00", "07:30:00", True)
    assert list(row.recipients.all()) == [member]
    entry = project.audit_entries.get(verb="report_settings.changed")
    assert entry.diff["recipients"] == ["", "ada"]
    assert row.on_since is not None


def test_quiet_hours_alone_do_not_skip_a_night(project: Project) -> None:
    saved(project)
    before = ReportSettings.objects.get().on_since

    saved(project, quiet_ends="09:00")

    assert ReportSettings.objects.get().on_since == before


def test_nobody_of_another_project_is_mailed(project: Project) -> None:
    foreign = reader(make_project(), "eve")
    nameless = Member.objects.get(user=make_user(project, Role.VIEWER))

    answers = [saved(project, recipients=[str(one.uuid)]) for one in (foreign, nameless)]

    assert [answer.status_code for answer in answers] == [422, 422]
    assert not ReportSettings.objects.exists()


@pytest.mark.parametrize("time", ["", "25:00", "8", "x"])
def test_what_is_no_time_is_refused(project: Project, time: str) -> None:
    assert saved(project, begins=time).status_code == 422


def test_the_page_goes_from_night_to_night(project: Project) -> None:
    client = signed_in(make_user(project))
    address = reverse("morning_report", args=["looms"])
    last = client.get(address)
    before = client.get(f"{address}?{last.context['previous']}")

    assert last.context["following"] == ""
    assert before.context["following"] == last.context["query"]
    assert before.context["report"].night.end == last.context["report"].night.end - timedelta(
        days=1
    )


def test_a_hostile_title_is_shown_and_never_acts(project: Project) -> None:
    full_night(project, title="<img src=x onerror=alert(1)> [a](https://evil.example)")
    client = signed_in(make_user(project))

    html = client.get(reverse("morning_report", args=["looms"])).content.decode()

    assert "<img" not in html
    assert 'href="https://evil' not in html
    assert json.dumps(ask(project).json()).count("https://evil") == 0
