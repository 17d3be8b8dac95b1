"""`/api/v1/remediations`: the queue that agents work from."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpRequest
from ninja import Query, Router

from loomverify.accounts.models import Role
from loomverify.api import access_of, errors
from loomverify.paging import newest_first
from verification.runs.api import refuse_unknown_parameters
from verification.runs.remediations import claims, rows, selectors
from verification.runs.remediations.schemas import (
    RemediationAnswer,
    RemediationPage,
    RemediationQuery,
    RemediationReason,
    RemediationWork,
)

router = Router(tags=["Remediations"])
ONE = "/remediations/{uuid:remediation_id}"


@router.get(
    "/remediations",
    response={200: RemediationPage} | errors(400, 422),
    summary="Work that unconfirmed content asks for",
)
def list_remediations(request: HttpRequest, query: Query[RemediationQuery]) -> RemediationPage:
    """Newest first. A parameter that is none of these is refused."""
    refuse_unknown_parameters(request, RemediationQuery)
    filters = selectors.RemediationFilters(**query.dict(exclude={"cursor", "limit"}))
    found = selectors.remediations(access_of(request).project, filters)
    page, following = newest_first(found, cursor=query.cursor, limit=query.limit)
    return RemediationPage(items=[RemediationWork.of(row) for row in page], next=following)


@router.get(ONE, response={200: RemediationWork} | errors(404), summary="One remediation")
def get_remediation(request: HttpRequest, remediation_id: UUID) -> RemediationWork:
    return RemediationWork.of(rows.of_project(access_of(request), remediation_id))


@router.post(
    f"{ONE}/claim",
    response={200: RemediationWork} | errors(403, 404, 409),
    summary="Take it for half an hour; again, to keep it longer",
)
def claim_remediation(request: HttpRequest, remediation_id: UUID) -> RemediationWork:
    """Of two that ask at once, one gets it and the other a 409."""
    access = access_of(request)
    access.need(Role.AGENT)
    return RemediationWork.of(claims.claim(access=access, remediation=remediation_id))


@router.post(
    f"{ONE}/release",
    response={200: RemediationWork} | errors(403, 404, 409),
    summary="Give a claim back",
)
def release_remediation(request: HttpRequest, remediation_id: UUID) -> RemediationWork:
    """One's own; a reviewer may give back anybody's."""
    access = access_of(request)
    access.need(Role.AGENT)
    return RemediationWork.of(claims.release(access=access, remediation=remediation_id))


@router.post(
    f"{ONE}/resolve",
    response={200: RemediationWork} | errors(400, 403, 404, 409, 422),
    summary="Answer with an accepted run",
)
def resolve_remediation(
    request: HttpRequest, remediation_id: UUID, body: RemediationAnswer
) -> RemediationWork:
    """The same answer again changes nothing. A run that was not accepted counts an attempt, once."""
    access = access_of(request)
    access.need(Role.AGENT)
    found = claims.resolve(access=access, remediation=remediation_id, run=body.run)
    return RemediationWork.of(found)


@router.post(
    f"{ONE}/give-up",
    response={200: RemediationWork} | errors(400, 403, 404, 409, 422),
    summary="End it unanswered, with a reason",
)
def give_up_remediation(
    request: HttpRequest, remediation_id: UUID, body: RemediationReason
) -> RemediationWork:
    """One's own claim; a reviewer may end any that is open."""
    access = access_of(request)
    access.need(Role.AGENT)
    found = claims.give_up(access=access, remediation=remediation_id, reason=body.reason)
    return RemediationWork.of(found)
