"""The live pane of the rule form: sent whenever the rule changes, stopped when it changes again."""

from __future__ import annotations

from uuid import UUID

from django.core.handlers.asgi import ASGIRequest
from django.http import HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.views.decorators.http import require_POST

from loomverify.accounts.access import AccessRequest, project_page
from loomverify.accounts.models import Role
from loomverify.errors import InputError
from processes.definition.model import RuleType
from processes.models import Draft
from processes.views.access import draft_page, process_of
from verification.reviews.queue import asking
from verification.rules.backtest.pane import drawings, drawings_aside, drawn
from verification.rules.backtest.running import Running
from verification.rules.backtest.typed import wish_typed
from verification.rules.samples.pane import offered

KIND = "text/html; charset=utf-8"
MAX_SENT = 20


@require_POST
@draft_page
def backtest_live(request: AccessRequest, draft: Draft) -> HttpResponseBase:
    try:
        wish = wish_typed(draft, request.POST)
    except InputError as error:
        return _uncached(HttpResponse(drawn({"refusal": str(error)}), content_type=KIND))
    if wish.rule.type is RuleType.LLM:
        return _uncached(HttpResponse(offered(wish, request), content_type=KIND))
    running = Running(wish)
    chunks = drawings(running, wish, request.access)
    is_async = isinstance(request, ASGIRequest)
    content = drawings_aside(running, chunks) if is_async else chunks
    return _uncached(StreamingHttpResponse(content, content_type=KIND))


def _uncached(answer: HttpResponseBase) -> HttpResponseBase:
    answer["Cache-Control"] = "no-store"
    answer["X-Accel-Buffering"] = "no"
    return answer


@require_POST
@project_page(Role.REVIEWER)
def backtest_to_review(request: AccessRequest, slug: str) -> HttpResponse:
    """Ask people about runs that a rule would newly hold back."""
    process = process_of(request, slug)
    try:
        runs = [UUID(one) for one in request.POST.get("runs", "").split(",")[:MAX_SENT] if one]
    except ValueError:
        return HttpResponse("These are no runs.", status=422, content_type="text/plain")
    why = f"A rule of {process.slug} is tried on history."
    asked = asking.ask_about(access=request.access, runs=runs, why=why)
    left = len(runs) - asked
    told = f"{asked} sent to review." + (
        f" {left} left out: asked about before, or gone." if left else ""
    )
    return HttpResponse(told, content_type="text/plain")
