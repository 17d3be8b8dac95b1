"""`/api/v1/shadow/acceptance`: the rollout's targets with their live figures."""

from __future__ import annotations

from django.http import HttpRequest
from ninja import Query, Router

from loomverify.api import access_of, errors
from verification.runs.api import refuse_unknown_parameters
from verification.trials.acceptance.schemas import AcceptanceOut, AcceptanceQuery
from verification.trials.acceptance.scope import Scope
from verification.trials.acceptance.selectors import targets

router = Router(tags=["Shadow"])


@router.get(
    "/shadow/acceptance",
    response={200: AcceptanceOut} | errors(404, 422),
    summary="The rollout's targets, with their live figures",
)
def get_acceptance(request: HttpRequest, query: Query[AcceptanceQuery]) -> AcceptanceOut:
    """Runs submitted in the last days. A parameter that is none of these is refused."""
    refuse_unknown_parameters(request, AcceptanceQuery)
    wanted = {"days": str(query.days), "process": query.process}
    scope = Scope.of(access_of(request).project, wanted)
    return AcceptanceOut.of(targets(scope), scope)
