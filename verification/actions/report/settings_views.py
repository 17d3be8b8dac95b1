from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from loomverify.accounts.access import AccessRequest, project_page
from loomverify.accounts.models import Role
from loomverify.errors import InputError
from verification.actions.models import NightReport, ReportSettings
from verification.actions.report import preferences
from verification.actions.report.forms import ReportForm
from verification.actions.report.preferences import TIMES, Wanted
from verification.reviews.notices.mailing import is_set_up
from verification.runs.spans import iso

LAST_REPORTS = 14


@require_http_methods(["GET", "HEAD", "POST"])
@project_page(Role.ADMIN)
def settings_reports(request: AccessRequest) -> HttpResponse:
    project = request.access.project
    row = preferences.settings_of(project)
    members = list(preferences.reachable(project))
    if request.method != "POST":
        return _page(request, ReportForm(initial=_initial(row), members=members))
    form = ReportForm(request.POST, members=members)
    if not form.is_valid():
        return _page(request, form, status=422)
    said = form.cleaned_data
    wanted = Wanted(
        is_on=said["is_on"],
        recipients={UUID(one) for one in said["recipients"]},
        **{name: said[name] for name in TIMES},
    )
    try:
        preferences.change(project=project, actor=request.access.actor, wanted=wanted)
    except InputError as error:
        form.add_error("recipients", str(error))
        return _page(request, form, status=422)
    messages.success(request, "Saved.")
    return redirect("settings_reports", project=project.slug)


def _initial(row: ReportSettings) -> dict[str, Any]:
    chosen = row.recipients.values_list("uuid", flat=True) if row.pk else []
    return {
        "is_on": row.is_on,
        "recipients": [str(one) for one in chosen],
        **{name: getattr(row, name) for name in TIMES},
    }


def _page(request: AccessRequest, form: ReportForm, *, status: int = 200) -> HttpResponse:
    project = request.access.project
    rows = NightReport.objects.filter(project=project).order_by("-end", "-id").defer("markdown")
    shown = {
        "form": form,
        "is_set_up": is_set_up(),
        "reports": [
            (row, f"from={iso(row.start)}&to={iso(row.end)}") for row in rows[:LAST_REPORTS]
        ],
    }
    return render(request, "settings/reports.html", shown, status=status)
