"""`/api/v1/waivers`: security findings that people accept for a time."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpRequest
from django.utils import timezone
from ninja import Query, Router
from ninja.responses import Status

from loomverify.accounts.models import Role
from loomverify.api import access_of, errors
from loomverify.paging import newest_first
from verification.runs.api import refuse_unknown_parameters
from verification.runs.waivers import selectors, services
from verification.runs.waivers.schemas import WaiverOut, WaiverPage, WaiverQuery, WaiverWish

router = Router(tags=["Waivers"])


@router.get(
    "/waivers",
    response={200: WaiverPage} | errors(400, 422),
    summary="Security findings that are accepted for a time",
)
def list_waivers(request: HttpRequest, query: Query[WaiverQuery]) -> WaiverPage:
    """Newest first. A parameter that is none of these is refused."""
    refuse_unknown_parameters(request, WaiverQuery)
    now = timezone.now()
    filters = selectors.WaiverFilters(
        state=query.state or "", process=query.process, finding=query.finding or "", q=query.q
    )
    found = selectors.waivers(access_of(request).project, filters, now)
    page, following = newest_first(found, cursor=query.cursor, limit=query.limit)
    return WaiverPage(items=[WaiverOut.of(row, now) for row in page], next=following)


@router.post(
    "/waivers",
    response={201: WaiverOut} | errors(400, 403, 404, 409, 422),
    summary="Accept a security finding for a time",
)
def create_waiver(request: HttpRequest, wish: WaiverWish) -> Status[WaiverOut]:
    """It holds for all later work of the run's process. Verify the run again to have it counted."""
    access = access_of(request)
    access.need(Role.REVIEWER)
    made = services.waive(access=access, **wish.dict())
    return Status(201, WaiverOut.of(made, timezone.now()))


@router.post(
    "/waivers/{uuid:waiver_id}/end",
    response={200: WaiverOut} | errors(403, 404, 409),
    summary="Count the finding again",
)
def end_waiver(request: HttpRequest, waiver_id: UUID) -> WaiverOut:
    """What was concluded before stays as it is."""
    access = access_of(request)
    access.need(Role.REVIEWER)
    ended = services.end(access=access, waiver=waiver_id)
    return WaiverOut.of(ended, timezone.now())
