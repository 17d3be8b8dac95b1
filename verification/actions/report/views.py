from __future__ import annotations

from functools import partial
from typing import Any
from urllib.parse import urlencode

from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from loomverify.accounts.access import AccessRequest, project_page
from loomverify.errors import InputError
from verification.actions.report.choosing import night_asked
from verification.actions.report.drawing import Shown
from verification.actions.report.gathering import report
from verification.actions.report.markdown import markdown
from verification.actions.report.nights import Hours, Night, night_after, night_before
from verification.actions.report.places import address_of
from verification.actions.report.preferences import hours_of
from verification.actions.report.values import Report
from verification.reviews.notices.times import zone_named
from verification.runs.spans import iso

NAMES = ("from", "to")


@require_safe
@project_page()
def morning_report(request: AccessRequest) -> HttpResponse:
    project = request.access.project
    hours = hours_of(project)
    shown: dict[str, Any] = {"given": {name: request.GET.get(name, "") for name in NAMES}}
    try:
        night = night_asked(project, hours, request.GET, NAMES)
    except InputError as error:
        return render(request, "report/report.html", {**shown, "error": error}, status=400)
    found = report(project, night)
    shown |= {
        "report": found,
        "shown": Shown(found),
        "markdown": _text(found),
        "query": _query(night),
        **_around(night, hours, found.zone),
    }
    return render(request, "report/report.html", shown)


@require_safe
@project_page()
def morning_report_file(request: AccessRequest) -> HttpResponse:
    """The same as a file of Markdown."""
    project = request.access.project
    try:
        night = night_asked(project, hours_of(project), request.GET, NAMES)
    except InputError as error:
        return HttpResponse(str(error), status=400, content_type="text/plain; charset=utf-8")
    answer = HttpResponse(
        _text(report(project, night)), content_type="text/markdown; charset=utf-8"
    )
    name = f"report-{project.slug}-{night.end:%Y-%m-%d}.md"
    answer["Content-Disposition"] = f'attachment; filename="{name}"'
    return answer


def _text(found: Report) -> str:
    return markdown(found, partial(address_of, slug=found.slug))


def _around(night: Night, hours: Hours, zone_name: str) -> dict[str, str]:
    zone = zone_named(zone_name)
    following = night_after(night, hours, zone, now=timezone.now())
    return {
        "previous": _query(night_before(night, hours, zone)),
        "following": _query(following) if following else "",
    }


def _query(night: Night) -> str:
    return urlencode({"from": iso(night.start), "to": iso(night.end)})
