"""What a draft says of the whole process, as a form."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from loomverify.accounts.access import AccessRequest
from processes import head_edits, selectors
from processes.definition.load import load
from processes.head_forms import HeadForm
from processes.models import Draft
from processes.sent import differences
from processes.views.access import back_to, draft_form
from processes.views.drafts import PAGE, draft_context
from processes.views.saving import SAVED, STALE, saved, shown_lock


@never_cache
@require_http_methods(PAGE)
@draft_form
def draft_process(request: AccessRequest, draft: Draft) -> HttpResponse:
    definition = load(draft.source_text).definition
    if definition is None:
        return _page(request, draft, None)
    form = HeadForm(request.POST or None, definition=definition)
    if request.method != "POST" or not form.is_valid():
        return _page(request, draft, form)
    values = form.values()

    def change(source: str) -> str:
        return head_edits.head_changed(source, values)

    status = saved(request, draft, form, change)
    if status != SAVED:
        return _page(request, draft, form, status=status)
    messages.success(request, "What is said of the process is saved in your draft.")
    return back_to("draft_process", draft)


def _page(
    request: AccessRequest, draft: Draft, form: HeadForm | None, *, status: int = 200
) -> HttpResponse:
    stored = selectors.draft_of(draft.process, request.user) or draft
    if form is not None and form.is_bound and form.errors and status == 200:
        status = 422
    context = {
        **draft_context(stored, "process"),
        "form": form,
        "is_stale": status == STALE,
        "lock_version": shown_lock(request, stored, status),
    }
    saved = context["checked"].definition
    if status == STALE and form is not None and saved is not None:
        context["differences"] = differences(head_edits.head_values(saved), form.values())
    return render(request, "processes/draft_process.html", context, status=status)
