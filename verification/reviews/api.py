"""`/api/v1/reviews`: the queue, for scripts that read it and keys that decide."""

from __future__ import annotations

from uuid import UUID

from django.db.models import prefetch_related_objects
from django.http import HttpRequest
from django.utils import timezone
from ninja import Query, Router
from ninja.responses import Status

from loomverify.accounts.access import Access
from loomverify.accounts.models import Role, User
from loomverify.api import access_of, errors
from loomverify.errors import InputError
from loomverify.paging import newest_first, paged
from verification.reviews import deciding, labels_api, rendering, schemas
from verification.reviews.disclosure import is_over
from verification.reviews.models import CaseDraft
from verification.reviews.queue import claims
from verification.reviews.queue.selectors import ORDERS, QueueFilters, reviews
from verification.runs.api import refuse_unknown_parameters
from verification.runs.models import ReviewState

router = Router(tags=["Reviews"])
router.add_router("", labels_api.router)
ONE = "/reviews/{uuid:review_id}"


@router.get(
    "/reviews",
    response={200: schemas.ReviewPage} | errors(400, 422),
    summary="The queue, most urgent first",
)
def list_reviews(request: HttpRequest, query: Query[schemas.ReviewQuery]) -> schemas.ReviewPage:
    """What is over comes newest first. A parameter that is none of these is refused."""
    refuse_unknown_parameters(request, schemas.ReviewQuery)
    access, now = access_of(request), timezone.now()
    filters = QueueFilters(**query.dict(exclude={"cursor", "limit"}))
    rows = rendering.shown(reviews(access.project, filters))
    by = ORDERS[ReviewState(filters.state)]
    page, following = paged(rows, by=by, cursor=query.cursor, limit=query.limit)
    items = [rendering.summary(row, access.actor, now=now) for row in page]
    return schemas.ReviewPage(items=items, next=following)


@router.get(
    "/reviews/cases",
    response={200: schemas.CaseDraftPage} | errors(400, 422),
    summary="Runs that reviewers want to be golden cases",
)
def list_case_drafts(
    request: HttpRequest, query: Query[schemas.PageQuery]
) -> schemas.CaseDraftPage:
    """Newest first. What a run should come to is not told before its review is over."""
    refuse_unknown_parameters(request, schemas.PageQuery)
    rows = CaseDraft.objects.filter(project=access_of(request).project)
    rows = rows.select_related("run__project", "review").defer("run__search", "run__result")
    page, following = newest_first(rows, cursor=query.cursor, limit=query.limit)
    items = [
        rendering.case_draft(row, is_outcome_shown=row.review is None or is_over(row.review))
        for row in page
    ]
    return schemas.CaseDraftPage(items=items, next=following)


@router.get(ONE, response={200: schemas.ReviewWork} | errors(404), summary="One review")
def get_review(request: HttpRequest, review_id: UUID) -> schemas.ReviewWork:
    """Others' decisions are told once their round is over; blind, the verdict once one decided."""
    return _whole(access_of(request), review_id)


@router.post(
    "/reviews/claim",
    response={200: schemas.ReviewWork, 204: None} | errors(403, 422),
    summary="Take the next review for five minutes",
)
def claim_next_review(
    request: HttpRequest, body: schemas.NextClaim
) -> schemas.ReviewWork | Status[None]:
    """One's own claims come first, what one skipped last. 204: nothing is left to take."""
    access = _reviewer(request)
    filters = QueueFilters(**body.dict(exclude={"without"}))
    taken = claims.claim_next(access=access, filters=filters, without=body.without)
    return Status(204, None) if taken is None else _whole(access, taken.uuid)


@router.post(
    f"{ONE}/claim",
    response={200: schemas.ReviewWork} | errors(403, 404, 409),
    summary="Take this review for five minutes; again, to keep it longer",
)
def claim_review(request: HttpRequest, review_id: UUID) -> schemas.ReviewWork:
    """Of two that ask at once, one gets it and the other a 409."""
    access = _reviewer(request)
    claims.claim(access=access, review=review_id)
    return _whole(access, review_id)


@router.post(
    f"{ONE}/release",
    response={200: schemas.ReviewWork} | errors(403, 404),
    summary="Give a claim back",
)
def release_review(request: HttpRequest, review_id: UUID) -> schemas.ReviewWork:
    """A claim that is not one's own any more is left alone."""
    access = _reviewer(request)
    claims.release(access=access, review=review_id)
    return _whole(access, review_id)


@router.post(
    f"{ONE}/skip",
    response={200: schemas.ReviewWork} | errors(403, 404),
    summary="Give it back, and have the others first",
)
def skip_review(request: HttpRequest, review_id: UUID) -> schemas.ReviewWork:
    access = _reviewer(request)
    claims.skip(access=access, review=review_id)
    return _whole(access, review_id)


@router.post(
    f"{ONE}/assign",
    response={200: schemas.ReviewWork} | errors(403, 404, 409, 422),
    summary="Have one person do it, or anybody",
)
def assign_review(
    request: HttpRequest, review_id: UUID, body: schemas.Assignment
) -> schemas.ReviewWork:
    """Of a member with the role reviewer or above. Who holds it keeps it until the lease ends."""
    access = _reviewer(request)
    to = None if body.user is None else _member(access, body.user)
    claims.assign(access=access, review=review_id, to=to)
    return _whole(access, review_id)


@router.post(
    f"{ONE}/take-in",
    response={200: schemas.ReviewWork} | errors(403, 404, 409),
    summary="Ask people about a run that the day's cap held back",
)
def take_in_review(request: HttpRequest, review_id: UUID) -> schemas.ReviewWork:
    access = _reviewer(request)
    claims.take_in(access=access, review=review_id)
    return _whole(access, review_id)


@router.post(
    f"{ONE}/decide",
    response={200: schemas.Decided} | errors(403, 404, 409, 422),
    summary="Decide it: at once, whether claimed before or free",
)
def decide_review(
    request: HttpRequest, review_id: UUID, body: schemas.DecideOne
) -> schemas.Decided:
    """Of a blind review the first call reveals the verdict, the second confirms or changes.

    What was decided before is decided anew: the change of mind is a decision of its own.
    """
    access = _reviewer(request)
    decided = deciding.decide(access=access, review=review_id, said=body.said, at_once=True)
    prefetch_related_objects([decided], "labels__finding")
    decision = rendering.decision(decided, access.actor)
    return schemas.Decided(decision=decision, review=_whole(access, review_id))


@router.post(
    "/reviews/decide",
    response={200: schemas.DecidedTogether} | errors(403, 422),
    summary="Decide up to 200 alike",
)
def decide_reviews(request: HttpRequest, body: schemas.DecideTogether) -> schemas.DecidedTogether:
    """Each by itself: what is refused keeps none of the others from being decided."""
    access = _reviewer(request)
    done = deciding.decide_together(
        access=access, reviews=body.reviews, said=body.said, at_once=True
    )
    refused = {str(review): code for review, code in done.refused.items()}
    return schemas.DecidedTogether(decided=done.decided, refused=refused)


@router.post(
    "/reviews/undo",
    response={200: schemas.Undone} | errors(403, 404, 409, 422),
    summary="Take back one of one's last ten decisions",
)
def undo_decision(request: HttpRequest, body: schemas.Undo) -> schemas.Undone:
    """What has taken effect stays, and may be decided anew: `erased` says which."""
    access = _reviewer(request)
    undone = deciding.undo(access=access, decision=body.decision)
    review = _whole(access, undone.review.uuid)
    return schemas.Undone(review=review, erased=undone.is_erased)


def _reviewer(request: HttpRequest) -> Access:
    access = access_of(request)
    access.need(Role.REVIEWER)
    return access


def _whole(access: Access, review: UUID) -> schemas.ReviewWork:
    return rendering.whole(access, review, now=timezone.now())


def _member(access: Access, name: str) -> User:
    members = User.objects.filter(memberships__project=access.project, username__iexact=name)
    found = members.first()
    if found is None:
        raise InputError("user.unknown", "This project has no such member.", loc=("body", "user"))
    return found
