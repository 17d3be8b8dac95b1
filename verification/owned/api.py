from __future__ import annotations

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from ninja import Router

from loomverify.accounts.models import Role
from loomverify.api import access_of, errors
from verification.owned.export import exported
from verification.runs.export_api import ZIP

router = Router(tags=["Project"])


@router.get(
    "/project.zip",
    response=errors(403),
    openapi_extra=ZIP,
    summary="Everything that the project owns, as one zip file",
)
def export_project(request: HttpRequest) -> HttpResponseBase:
    """Written while it is read: `manifest.json` comes last, and says what is in it."""
    access = access_of(request)
    access.need(Role.ADMIN)
    return exported(request, access)
