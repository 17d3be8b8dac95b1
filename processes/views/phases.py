"""Phases of a draft as forms; what they do not show stays as the YAML has it."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from loomverify.accounts.access import AccessRequest
from processes import phase_edits, selectors
from processes.definition.load import load
from processes.definition.model import Definition, Phase
from processes.models import Draft
from processes.phase_forms import PhaseForm
from processes.sent import differences
from processes.views.access import back_to, draft_form, draft_page
from processes.views.drafts import PAGE, draft_context
from processes.views.saving import SAVED, STALE, Change, acted, saved, shown_lock


@never_cache
@require_http_methods(PAGE)
@draft_form
def draft_phase(request: AccessRequest, draft: Draft, index: int) -> HttpResponse:
    definition = load(draft.source_text).definition
    if definition is None:
        return _page(request, draft, None)
    seen_id = request.POST.get("seen_id")
    phase = _phase(definition, index, seen_id)
    if phase is None and seen_id is None:
        raise Http404
    form = PhaseForm(request.POST or None, definition=definition, phase=phase)
    if request.method != "POST" or not form.is_valid():
        return _page(request, draft, form, index=index)
    values = form.values()

    def change(source: str) -> str:
        return phase_edits.phase_changed(source, name=seen_id or "", values=values)

    return _save(request, draft, form, change, index=index)


@never_cache
@require_http_methods(PAGE)
@draft_form
def draft_phase_new(request: AccessRequest, draft: Draft) -> HttpResponse:
    definition = load(draft.source_text).definition
    if definition is None:
        return _page(request, draft, None)
    form = PhaseForm(request.POST or None, definition=definition)
    if request.method != "POST" or not form.is_valid():
        return _page(request, draft, form)
    values, after = form.values(), form.cleaned_data["after"]

    def change(source: str) -> str:
        return phase_edits.phase_added(source, values=values, after=after)

    return _save(request, draft, form, change)


@require_POST
@draft_page
def draft_phase_delete(request: AccessRequest, draft: Draft) -> HttpResponse:
    """By its name: its number may be another by now."""
    name = request.POST.get("seen_name", "")

    def change(source: str) -> str:
        return phase_edits.phase_deleted(source, name=name)

    told = f"{name} is deleted. Undo brings it back."
    return acted(request, draft, change, told, back="draft_phases")


def _phase(definition: Definition, index: int, seen_id: str | None) -> Phase | None:
    if seen_id is not None:
        return definition.phase(seen_id)
    return definition.phases[index] if index < len(definition.phases) else None


def _save(
    request: AccessRequest,
    draft: Draft,
    form: PhaseForm,
    change: Change,
    *,
    index: int | None = None,
) -> HttpResponse:
    status = saved(request, draft, form, change)
    if status != SAVED:
        return _page(request, draft, form, index=index, status=status)
    messages.success(request, f"{form.cleaned_data['id']} is saved in your draft.")
    return back_to("draft_phases", draft)


def _page(
    request: AccessRequest,
    draft: Draft,
    form: PhaseForm | None,
    *,
    index: int | None = None,
    status: int = 200,
) -> HttpResponse:
    """A stale form keeps what was typed; of a phase that is gone it makes a new one."""
    stored = selectors.draft_of(draft.process, request.user) or draft
    phase = form.phase if form else None
    if form is not None and form.is_bound and form.errors and status == 200:
        status = 422
    names = {"project": request.access.project.slug, "slug": draft.process.slug}
    context = {
        **draft_context(stored, "phases"),
        "form": form,
        "phase": phase,
        "is_stale": status == STALE,
        "is_gone": phase is None and "seen_id" in request.POST,
        "lock_version": shown_lock(request, stored, status),
        "differences": _differences(stored, form) if status == STALE and form else [],
        "action": reverse("draft_phase_new", kwargs=names)
        if index is None or phase is None
        else reverse("draft_phase", kwargs={**names, "index": index}),
    }
    return render(request, "processes/draft_phase.html", context, status=status)


def _differences(stored: Draft, form: PhaseForm) -> list[dict[str, Any]]:
    """What the saved phase says otherwise than what was typed."""
    definition = load(stored.source_text).definition
    phase = definition.phase(form.phase.id) if definition and form.phase else None
    if phase is None or not form.is_valid():
        return []
    return differences(phase_edits.phase_values(phase), form.values())
