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
from verification.rules.samples.price import Price, price

OFFER, SAMPLE = "rules/_sample_offer.html", "rules/_sample.html"


def offered(wish: Wish, request: AccessRequest, refusal: str = "") -> bytes:
    """The price of what is chosen, and the last sample of a rule that looks for the same."""
    form = SampleForm.of(request.POST)
    context = {"access": request.access, "wish": wish, "form": form, "refusal": refusal}
    sample = services.newest_of(wish)
    try:
        priced = price(wish, *form.chosen)
        context |= {"price": priced, "is_answer_shown": sample and _answers(sample, priced, form)}
    except Conflict as error:
        context["refusal"] = refusal or str(error)
    if sample:
        context |= shown_of(sample, request.access)
    return (render_to_string(OFFER, context, request=request) + NEXT).encode()


def _answers(sample: Sample, priced: Price, form: SampleForm) -> bool:
    """Whether its answers are all that would be heard now."""
    is_alike = sample.drawn == form.chosen[0] and sample.total == priced.runs
    return is_alike and not priced.asked and not sample.stopped


def drawn_sample(sample: Sample, access: Access) -> str:
    return render_to_string(SAMPLE, shown_of(sample, access))


def shown_of(sample: Sample, access: Access) -> dict[str, object]:
    return {
        "access": access,
        "sample": sample,
        "process": sample.process,
        "shown": Shown(results.progress_of(sample)),
    }
