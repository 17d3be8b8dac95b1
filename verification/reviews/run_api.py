"""`/api/v1/runs/{id}/review`: decide about a run by its own name."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpRequest
from ninja import Router

from loomverify.accounts.models import Role
from loomverify.api import access_of, errors
from loomverify.errors import NotFound
from verification.reviews import deciding, schemas
from verification.runs import rendering
from verification.runs.api import run_of
from verification.runs.models import Review, Run
from verification.runs.schemas import RunOut

router = Router(tags=["Reviews"])


@router.post(
    "/runs/{uuid:run_id}/review",
    response={200: RunOut} | errors(400, 403, 404, 409, 422),
    summary="Decide about a run that waits for a person",
)
def review_run(request: HttpRequest, run_id: UUID, body: schemas.DecideOne) -> RunOut:
    """At once, whether claimed before or free; one decision per reviewer and round.

    Of a blind review the first call keeps the answer, the second confirms or changes it. What
    was decided before is decided anew: the change of mind is a decision of its own.
    """
    access = access_of(request)
    access.need(Role.REVIEWER)
    run = run_of(access, run_id)
    name = Review.objects.filter(run=run).values_list("uuid", flat=True).first()
    if name is None:
        raise NotFound("review.unknown", "Nobody was asked about this run.")
    deciding.decide(access=access, review=name, said=body.said, at_once=True)
    return rendering.full(rendering.whole(Run.objects.filter(pk=run.pk)).get())
