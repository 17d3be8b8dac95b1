"""The pane beside a judge's rule: what asking would cost, and what came of the last sample."""

from __future__ import annotations

from django.template.loader import render_to_string

from loomverify.accounts.access import Access, AccessRequest
from loomverify.errors import Conflict, FaultError
from verification.rules.backtest.pane import NEXT, Shown
from verification.rules.backtest.wish import Wish
from verification.rules.models import Sample
from verification.rules.samples import results, services
from verification.rules.samples.cast import Candidate
from verification.rules.samples.forms import SampleForm
from verification.rules.samples.price import Price, price

OFFER, SAMPLE = "rules/_sample_offer.html", "rules/_sample.html"


def offered(wish: Wish, request: AccessRequest, refusal: str = "") -> bytes:
    """The price of what is chosen, and the last sample of a rule that looks for the same."""
    form = SampleForm.of(request.POST)
    context = {"access": request.access, "wish": wish, "form": form, "refusal": refusal}
    if sample := _sample_of(wish):
        context |= shown_of(sample, request.access)
    if sample is None or not sample.is_open:
        context |= _priced(wish, form, sample)
    return (render_to_string(OFFER, context, request=request) + NEXT).encode()


def _sample_of(wish: Wish) -> Sample | None:
    """The last one of what is typed; one that counts otherwise, or elsewhere, is another."""
    sample = services.newest_of(wish)
    if sample is None:
        return None
    try:
        asked = Candidate.of(sample.candidate_text, sample.rule_index)
    except FaultError:
        return None
    typed = Candidate.of(wish.source_text, wish.index)
    return sample if asked.rule.content_sha256 == typed.rule.content_sha256 else None


def _priced(wish: Wish, form: SampleForm, sample: Sample | None) -> dict[str, object]:
    try:
        priced = price(wish, *form.chosen)
    except Conflict as error:
        return {"unpriced": str(error)}
    is_shown = sample is not None and not sample.stopped and _asked(sample, priced)
    return {"price": priced, "is_answer_shown": is_shown and not priced.asked}


def _asked(sample: Sample, priced: Price) -> bool:
    """Whether it asked about these very runs."""
    runs = set(sample.runs.values_list("run_id", flat=True))
    return runs == set(priced.drawn.run_ids)


def drawn_sample(sample: Sample, access: Access) -> str:
    return render_to_string(SAMPLE, shown_of(sample, access))


def shown_of(sample: Sample, access: Access) -> dict[str, object]:
    return {
        "access": access,
        "sample": sample,
        "process": sample.process,
        "shown": Shown(results.progress_of(sample)),
    }
