"""`/api/v1/reports/settings`: when the report is made, who is mailed, and when nobody is."""

from __future__ import annotations

from datetime import time
from typing import Annotated

from django.http import HttpRequest
from ninja import Field, Router, Schema

from loomverify.accounts.models import Project, Role
from loomverify.api import access_of, errors
from verification.actions.report import preferences
from verification.actions.report.preferences import MAX_RECIPIENTS, Wanted, unreachable

router = Router(tags=["Reports"])

Clock = Annotated[str, Field(pattern=r"^([01][0-9]|2[0-3]):[0-5][0-9]$", examples=["18:00"])]


class ReportSettingsOut(Schema):
    """Times are of the project's zone. `revision` is another after each change."""

    is_on: bool
    begins: str
    ends: str
    quiet_begins: str
    quiet_ends: str
    recipients: list[str]
    time_zone: str
    revision: str

    @classmethod
    def of(cls, project: Project) -> ReportSettingsOut:
        row = preferences.settings_of(project)
        return cls(
            is_on=row.is_on,
            recipients=preferences.names_of(row),
            time_zone=project.time_zone,
            revision=preferences.revision_of(row),
            **{name: f"{getattr(row, name):%H:%M}" for name in preferences.TIMES},
        )


class ReportSettingsIn(Schema):
    """All of them: what is left out is as before anybody set it."""

    is_on: bool = False
    begins: Clock = "18:00"
    ends: Clock = "08:00"
    quiet_begins: Clock = Field("00:00", description="Equal to `quiet_ends`: no quiet hours.")
    quiet_ends: Clock = "00:00"
    recipients: list[str] = Field(
        [], max_length=MAX_RECIPIENTS, description="Names of members that have an e-mail address."
    )
    revision: str = Field(
        "", max_length=64, description="The one that was read: 409 where another is there by now."
    )


@router.get(
    "/reports/settings",
    response={200: ReportSettingsOut} | errors(403),
    summary="When the morning report is made, and who gets it",
)
def report_settings(request: HttpRequest) -> ReportSettingsOut:
    access = access_of(request)
    access.need(Role.ADMIN)
    return ReportSettingsOut.of(access.project)


@router.put(
    "/reports/settings",
    response={200: ReportSettingsOut} | errors(400, 403, 409, 422),
    summary="Set when the morning report is made, and who gets it",
)
def set_report_settings(request: HttpRequest, body: ReportSettingsIn) -> ReportSettingsOut:
    access = access_of(request)
    access.need(Role.ADMIN)
    project = access.project
    members = {one.user.username: one.uuid for one in preferences.reachable(project)}
    if not set(body.recipients) <= members.keys():
        raise unreachable()
    wanted = Wanted(
        is_on=body.is_on,
        recipients={members[name] for name in body.recipients},
        **{name: time.fromisoformat(getattr(body, name)) for name in preferences.TIMES},
    )
    preferences.change(project=project, actor=access.actor, wanted=wanted, revision=body.revision)
    return ReportSettingsOut.of(project)
