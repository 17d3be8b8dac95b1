"""What an admin does with a whole project: take it along, or remove it."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from loomverify.accounts.access import AccessRequest, project_page
from loomverify.accounts.models import Role
from loomverify.errors import InputError
from verification.owned import removal
from verification.owned.export import exported
from verification.runs.models import Run

MANY = 10_000
"""More are not counted for a sentence."""


@require_safe
@project_page(Role.ADMIN)
def project_export(request: AccessRequest) -> HttpResponseBase:
    return exported(request, request.access)


@require_http_methods(["GET", "HEAD", "POST"])
@project_page(Role.ADMIN)
def project_remove(request: AccessRequest) -> HttpResponse:
    project = request.access.project
    shown: dict[str, Any] = {
        "runs": Run.objects.filter(project=project).order_by()[: MANY + 1].count(),
        "many": MANY,
    }
    if request.method != "POST":
        return render(request, "owned/project_remove.html", shown)
    confirmation = request.POST.get("confirmation", "")
    try:
        removal.remove_project(
            project=project, actor=request.access.actor, confirmation=confirmation
        )
    except InputError as error:
        shown |= {"error": error, "typed": confirmation[:60]}
        return render(request, "owned/project_remove.html", shown, status=422)
    messages.success(request, f"{project.name} is removed. What it owned is being deleted.")
    return redirect("home")
