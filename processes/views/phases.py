"""Phases of a draft as small forms; what they do not show stays as the YAML has it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from loomverify.accounts.access import AccessRequest
from loomverify.errors import Conflict, InputError
from processes import rule_edits, selectors, services
from processes.definition.load import load
from processes.definition.model import Phase
from processes.definition.patch import Edit, Path, Remove, SetValue
from processes.forms import PhaseForm, phase_values
from processes.models import Draft
from processes.views.access import back_to, draft_form, lock_version_of
from processes.views.drafts import PAGE, draft_context
from processes.views.rules import need_loading


@never_cache
@require_http_methods(PAGE)
@draft_form
def draft_phase(request: AccessRequest, draft: Draft, index: int) -> HttpResponse:
    definition = load(draft.source_text).definition
    if definition is None:
        return _page(request, draft, None, None)
    if index >= len(definition.phases):
        raise Http404
    phase = definition.phases[index]
    form = PhaseForm(request.POST or None, phase=phase)
    if request.method != "POST" or not form.is_valid():
        return _page(request, draft, form, phase)
    seen_id, values = request.POST.get("seen_id", ""), form.values()

    def change(source: str) -> str:
        text = rule_edits.text_of(source)
        phases = text.definition.phases
        if index >= len(phases) or phases[index].id != seen_id:
            raise Conflict("draft.stale", f"The phase {seen_id!r} stands in another place by now.")
        return need_loading(text.patched(_edits(text, phases[index], index, values)))

    try:
        services.edit_draft(draft=draft, change=change, lock_version=lock_version_of(request))
    except Conflict:
        return _page(request, draft, form, phase, status=409)
    except InputError as error:
        key = str(error.issues[0].loc[-1]).rsplit(".", 1)[-1] if error.issues[0].loc else ""
        form.add_error(key if key in form.fields else None, str(error))
        return _page(request, draft, form, phase)
    messages.success(request, f"{phase.id} is saved in your draft.")
    return back_to("draft_phases", draft)


def _edits(
    text: rule_edits.Text, phase: Phase, index: int, values: Mapping[str, Any]
) -> list[Edit]:
    path = (*rule_edits.PHASES, index)
    raw, present = text.written(path) or {}, phase_values(phase)
    edits: list[Edit] = []
    for key, value in values.items():
        if value == present[key]:
            continue
        here = (*path, key)
        if key == "deliverables" or isinstance(raw.get(key), list):
            edits += _line_edits(here, raw.get(key), value)
        elif value == "" or (key == "verification_tier" and value == 1 and key not in raw):
            edits += [Remove(here)] if key in raw else []
        else:
            edits.append(SetValue(here, value))
    return edits


def _line_edits(path: Path, present: Any, value: str) -> list[Edit]:
    """A line is an entry; one text alone stays a text."""
    lines = [line.strip() for line in value.split("\n") if line.strip()]
    if isinstance(present, str) and len(lines) == 1:
        return [SetValue(path, lines[0])]
    if present is not None and not lines:
        return [Remove(path)]
    return rule_edits.list_edits(path, present, lines)


def _page(
    request: AccessRequest,
    draft: Draft,
    form: PhaseForm | None,
    phase: Phase | None,
    *,
    status: int = 200,
) -> HttpResponse:
    stored = selectors.draft_of(draft.process, request.user) or draft
    if form is not None and form.is_bound and form.errors and status == 200:
        status = 422
    context = {
        **draft_context(stored, "phases"),
        "form": form,
        "phase": phase,
        "is_stale": status == 409,
    }
    return render(request, "processes/draft_phase.html", context, status=status)
