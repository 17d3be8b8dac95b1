from __future__ import annotations

from uuid import UUID

from django.http import HttpResponse
from django.views.decorators.http import require_GET, require_POST

from loomverify.accounts.access import AccessRequest, project_page
from loomverify.accounts.models import Role
from loomverify.errors import Conflict, InputError
from processes.models import Draft
from processes.views.access import draft_page
from verification.rules.backtest.pane import drawn as drawn_pane
from verification.rules.backtest.typed import wish_typed
from verification.rules.samples import services
from verification.rules.samples.forms import AgreedForm, SampleForm
from verification.rules.samples.pane import drawn_sample, offered

CHANGED = "Changed meanwhile: look at the price again."


@require_POST
@draft_page
def sample_start(request: AccessRequest, draft: Draft) -> HttpResponse:
    """Ask the judge about what is typed, for the price that was shown."""
    try:
        wish = wish_typed(draft, request.POST)
    except InputError as error:
        return _uncached(drawn_pane({"refusal": str(error)}))
    agreed, refusal = AgreedForm(request.POST), CHANGED
    if agreed.is_valid():
        how, size = SampleForm.of(request.POST).chosen
        most, refusal = agreed.cleaned_data["max_usd"], ""
        try:
            services.start(access=request.access, wish=wish, drawn=how, size=size, max_usd=most)
        except Conflict as error:
            refusal = str(error)
    return _uncached(offered(wish, request, refusal))


@require_GET
@project_page(Role.VIEWER)
def sample_live(request: AccessRequest, uuid: UUID) -> HttpResponse:
    sample = services.sample_of(request.access.project, uuid)
    return _uncached(drawn_sample(sample, request.access))


@require_POST
@project_page(Role.EDITOR)
def sample_cancel(request: AccessRequest, uuid: UUID) -> HttpResponse:
    sample = services.sample_of(request.access.project, uuid)
    services.cancel(access=request.access, sample=sample)
    sample.refresh_from_db()
    return _uncached(drawn_sample(sample, request.access))


def _uncached(content: bytes | str) -> HttpResponse:
    answer = HttpResponse(content)
    answer["Cache-Control"] = "no-store"
    return answer
