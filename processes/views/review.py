"""The review policy of a draft as a form."""

from __future__ import annotations

from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from loomverify.accounts.access import AccessRequest
from processes import rule_edits, selectors
from processes.definition.load import load
from processes.definition.review import PLACE
from processes.models import Draft
from processes.review_edits import review_edits
from processes.review_forms import ReviewForm, percent_of
from processes.review_words import sentences
from processes.views.access import back_to, draft_form
from processes.views.drafts import PAGE, draft_context
from processes.views.saving import SAVED, STALE, saved, shown_lock


@never_cache
@require_http_methods(PAGE)
@draft_form
def draft_review(request: AccessRequest, draft: Draft) -> HttpResponse:
    definition = load(draft.source_text).definition
    if definition is None:
        return _page(request, draft, None)
    form = ReviewForm(request.POST or None, policy=definition.policy.review)
    if request.method != "POST" or not form.is_valid():
        return _page(request, draft, form)
    wanted = form.wanted()

    def change(source: str) -> str:
        text = rule_edits.text_of(source)
        return text.patched(review_edits(text, wanted))

    status = saved(request, draft, form, change)
    if status != SAVED:
        return _page(request, draft, form, status=status)
    messages.success(request, "The review policy is saved in your draft.")
    return back_to("draft_review", draft)


def _page(
    request: AccessRequest, draft: Draft, form: ReviewForm | None, *, status: int = 200
) -> HttpResponse:
    stored = selectors.draft_of(draft.process, request.user) or draft
    if form is not None and form.is_bound and form.errors and status == 200:
        status = 422
    context = draft_context(stored, "review")
    definition = context["checked"].definition
    usual: float = settings.REVIEW_SAMPLE_RATE
    context |= {
        "form": form,
        "is_stale": status == STALE,
        "lock_version": shown_lock(request, stored, status),
        "usual_percent": percent_of(usual),
        "words": sentences(definition.policy.review, usual_sample_rate=usual) if definition else (),
        "line": definition.place(PLACE)[0] if definition else 1,
    }
    return render(request, "processes/draft_review.html", context, status=status)
