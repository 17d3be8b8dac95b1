"""Where the drafts of golden cases were listed before there was a corpus."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_safe

from loomverify.accounts.access import AccessRequest, project_page


@require_safe
@project_page()
def review_cases(request: AccessRequest) -> HttpResponse:
    return redirect("golden_drafts", project=request.access.project.slug, permanent=True)
