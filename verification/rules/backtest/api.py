"""`POST /api/v1/processes/{slug}/rules/backtest`."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from ninja import Router

from loomverify.accounts.models import Role
from loomverify.api import access_of, errors
from processes import selectors
from processes.services import newest_version
from verification.rules.backtest import schemas
from verification.rules.backtest.rendering import whole
from verification.rules.backtest.running import backtest
from verification.rules.backtest.services import remember
from verification.rules.backtest.wish import wish_of, with_rule

router = Router(tags=["Rules"])


@router.post(
    "/processes/{slug}/rules/backtest",
    response={200: schemas.BacktestOut} | errors(403, 404, 422, 429),
    summary="Try a rule on past runs; none of them is changed",
)
def backtest_rule(request: HttpRequest, slug: str, body: schemas.BacktestIn) -> dict[str, Any]:
    """The rule stands in for the published one of its name, or beside all, where there is none.

    It takes at most half a minute; what could be looked at until then is told of.
    """
    access = access_of(request)
    process = selectors.process_by_slug(access.project, slug)
    access.need(Role.EDITOR)
    version = process.published or newest_version(process)
    source_text, index = with_rule(version.source_text, body.rule.said)
    wish = wish_of(
        process, source_text, index, phase=body.phase, since=body.since, limit=body.limit
    )
    progress = backtest(wish)
    remember(wish, progress, actor=access.actor)
    return whole(progress)
