"""The pane beside a judge's rule: what asking would cost, and what came of the last sample."""

from __future__ import annotations

from django.template.loader import render_to_string

from loomverify.accounts.access import Access, AccessRequest
from loomverify.errors import Conflict
from verification.rules.backtest.pane import NEXT, Shown
from verification.rules.backtest.wish import Wish
from verification.rules.models import Sample
from verification.rules.samples import results, services
from verification.rules.samples.forms import SampleForm
from verification.rules.samples.price import price

OFFER, SAMPLE = "rules/_sample_offer.html", "rules/_sample.html"


def offered(wish: Wish, request: AccessRequest, refusal: str = "") -> bytes:
    """The price of what is chosen, and the last sample of a rule that looks for the same."""
    form = SampleForm(request.POST)
    if not form.is_valid():
        form = SampleForm({"sample-size": "", "sample-drawn": ""})
    context = {"access": request.access, "wish": wish, "form": form, "refusal": refusal}
    try:
        context["price"] = price(wish, *form.chosen)
    except Conflict as error:
        context["refusal"] = refusal or str(error)
    if sample := services.newest_of(wish):
        context |= shown_of(sample, request.access)
    return (render_to_string(OFFER, context, request=request) + NEXT).encode()


def drawn_sample(sample: Sample, access: Access) -> str:
    return render_to_string(SAMPLE, shown_of(sample, access))


def shown_of(sample: Sample, access: Access) -> dict[str, object]:
    return {
        "access": access,
        "sample": sample,
        "process": sample.process,
        "shown": Shown(results.progress_of(sample)),
    }
