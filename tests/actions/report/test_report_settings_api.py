from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client

from loomverify.accounts.models import AuditEntry, Project, Role
from tests.actions.conftest import key_of
from tests.actions.report.test_report_schedule import reader
from tests.builders import make_project, make_user
from tests.tables import check_rows
from verification.actions.models import ReportSettings

pytestmark = pytest.mark.django_db
ADDRESS = "/api/v1/reports/settings"


@pytest.fixture
def project() -> Project:
    return make_project("looms")


def ask(project: Project, body: dict[str, Any] | None = None, role: Role = Role.ADMIN) -> Any:
    headers = {"Authorization": f"Bearer {key_of(project, role)}"}
    if body is None:
        return Client().get(ADDRESS, headers=headers)
    return Client().put(ADDRESS, json.dumps(body), content_type="application/json", headers=headers)


def test_what_nobody_has_set_yet_is_told_as_it_is_at_first(project: Project) -> None:
    told = ask(project).json()

    assert told.pop("revision")
    assert told == {
        "is_on": False, "begins": "18:00", "ends": "08:00", "quiet_begins": "00:00",
        "quiet_ends": "00:00", "recipients": [], "time_zone": "UTC",
    }  # fmt: skip
    assert not ReportSettings.objects.exists()


def test_what_is_set_is_told_from_then_on_and_stands_in_the_audit_log(project: Project) -> None:
    reader(project, "ada")
    wanted = {"is_on": True, "begins": "19:00", "ends": "07:30", "recipients": ["ada"]}

    answer = ask(project, wanted)

    assert answer.status_code == 200, answer.content
    assert ask(project).json() == answer.json()
    assert {name: answer.json()[name] for name in wanted} == wanted
    [entry] = AuditEntry.objects.filter(project=project, verb="report_settings.changed")
    assert entry.diff == {
        "is_on": ["False", "True"], "begins": ["18:00:00", "19:00:00"],
        "ends": ["08:00:00", "07:30:00"], "recipients": ["", "ada"],
    }  # fmt: skip


def test_who_read_older_settings_overwrites_nothing(project: Project) -> None:
    read = ask(project).json()["revision"]
    assert ask(project, {"is_on": True, "revision": read}).status_code == 200

    refused = ask(project, {"ends": "05:00", "revision": read})

    assert refused.status_code == 409
    assert refused.json()["errors"][0]["code"] == "report.settings_changed"
    assert ask(project).json()["is_on"] is True


@check_rows(
    "body",
    [
        {"begins": "24:00"},
        {"begins": "18:00:30"},
        {"ends": "8:00"},
        {"ends": "08:00+01:00"},
        {"quiet_begins": None},
        {"recipients": ["nobody"]},
        {"recipients": ["silent"]},
        {"is_on": "perhaps"},
    ],
    rollback=True,
)
def test_what_the_form_refuses_is_refused(project: Project, body: dict[str, Any]) -> None:
    make_user(project, Role.VIEWER, "silent")

    answer = ask(project, body)

    assert answer.status_code == 422
    assert not ReportSettings.objects.exists()
