"""`/api/v1/processes/{slug}/rules/samples` and `/api/v1/samples`."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import HttpRequest
from ninja import Router
from ninja.responses import Status

from loomverify.accounts.access import Access
from loomverify.accounts.models import Role
from loomverify.api import access_of, errors
from processes import selectors
from processes.services import newest_version
from verification.rules.backtest.rendering import whole
from verification.rules.backtest.wish import Wish, wish_of, with_rule
from verification.rules.models import Sample
from verification.rules.samples import schemas, services
from verification.rules.samples.price import price
from verification.rules.samples.results import progress_of

router = Router(tags=["Rules"])


@router.post(
    "/processes/{slug}/rules/samples/price",
    response={200: schemas.SamplePriceOut} | errors(403, 404, 409, 422),
    summary="What asking a judge about past runs would cost",
)
def price_sample(request: HttpRequest, slug: str, body: schemas.RuleSampleWish) -> dict[str, Any]:
    """Nothing is asked and nothing is stored."""
    access = access_of(request)
    wish = _wish(access, slug, body)
    access.need(Role.EDITOR)
    found = price(wish, body.drawn, body.size)
    own = ("judge", "model", "runs", "asked", "usd", "max_usd", "left_usd", "is_estimated")
    return {**{name: getattr(found, name) for name in own}, "drawn_from": found.drawn.of}


@router.post(
    "/processes/{slug}/rules/samples",
    response={202: schemas.RuleSampleOut} | errors(403, 404, 409, 422),
    summary="Ask a judge what it says of a rule in past runs; none of them is changed",
)
def start_sample(
    request: HttpRequest, slug: str, body: schemas.RuleSampleIn
) -> Status[dict[str, Any]]:
    """The rule stands in for the published one of its name, beside all others of the phase."""
    access = access_of(request)
    wish = _wish(access, slug, body)
    access.need(Role.EDITOR)
    sample = services.start(
        access=access, wish=wish, drawn=body.drawn, size=body.size, max_usd=body.max_usd
    )
    return Status(202, _whole(sample))


@router.get(
    "/samples/{sample_id}",
    response={200: schemas.RuleSampleOut} | errors(404, 422),
    summary="What came of a sample so far",
)
def get_sample(request: HttpRequest, sample_id: UUID) -> dict[str, Any]:
    """By what people have decided until now."""
    return _whole(services.sample_of(access_of(request).project, sample_id))


@router.post(
    "/samples/{sample_id}/cancel",
    response={200: schemas.RuleSampleOut} | errors(403, 404, 422),
    summary="Ask no further; what was answered stays",
)
def cancel_sample(request: HttpRequest, sample_id: UUID) -> dict[str, Any]:
    access = access_of(request)
    services.cancel(access=access, sample=services.sample_of(access.project, sample_id))
    return _whole(services.sample_of(access.project, sample_id))


def _wish(access: Access, slug: str, body: schemas.RuleSampleWish) -> Wish:
    process = selectors.process_by_slug(access.project, slug)
    version = process.published or newest_version(process)
    source_text, index = with_rule(version.source_text, body.rule.said)
    return wish_of(process, source_text, index, phase=body.phase, since=body.since)


def _whole(sample: Sample) -> dict[str, Any]:
    own = ("state", "drawn", "cost_usd", "max_usd", "created_at", "finished_at")
    told = whole(progress_of(sample))
    return {**told, **{name: getattr(sample, name) for name in own}, "id": sample.uuid}
