"""Rows of the rules' and phases' lists: fields set in place, and the order."""

from __future__ import annotations

from django import forms
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from loomverify.accounts.access import AccessRequest
from loomverify.errors import InputError
from processes import row_edits, services
from processes.models import Draft
from processes.row_forms import RowForm
from processes.views.access import draft_page, number_in
from processes.views.saving import Change, need_loading
from processes.views.shown import context_of, shown

STEPS = {"up": -1, "down": 1}


@never_cache
@require_safe
@draft_page
def draft_rules(request: AccessRequest, draft: Draft) -> HttpResponse:
    return render(request, "processes/draft_rules.html", context_of(draft, "rules"))


@never_cache
@require_safe
@draft_page
def draft_phases(request: AccessRequest, draft: Draft) -> HttpResponse:
    return render(request, "processes/draft_phases.html", context_of(draft, "phases"))


@require_POST
@draft_page
def draft_rule_set(request: AccessRequest, draft: Draft, index: int) -> HttpResponse:
    """Only what was chosen is changed: the row also sends what it showed before."""
    name = request.POST.get("seen_name", "")

    def change(source: str) -> str:
        form = RowForm(request.POST)
        if not form.is_valid():
            raise InputError("row.unknown", _first_error(form))
        return row_edits.fields_set(
            source, index=index, name=name, fields=form.chosen(), seen=form.seen
        )

    return _changed(request, draft, change, view="rules")


@require_POST
@draft_page
def draft_rule_move(request: AccessRequest, draft: Draft, index: int) -> HttpResponse:
    sent = request.POST
    name, step = sent.get("seen_name", ""), STEPS.get(sent.get("step", ""))

    def change(source: str) -> str:
        if step is not None:
            return row_edits.rule_moved(source, index=index, name=name, step=step)
        at = number_in(sent.get("beside", ""))
        beside = (-1 if at is None else at, sent.get("beside_name", ""))
        return row_edits.rule_moved_to(source, rule=(index, name), beside=beside)

    return _changed(request, draft, change, view="rules")


@require_POST
@draft_page
def draft_phase_move(request: AccessRequest, draft: Draft, index: int) -> HttpResponse:
    sent = request.POST
    name, step = sent.get("seen_name", ""), STEPS.get(sent.get("step", ""))

    def change(source: str) -> str:
        if step is not None:
            return row_edits.phase_moved(source, name=name, step=step)
        return row_edits.phase_moved_to(source, name=name, beside=sent.get("beside_name", ""))

    return _changed(request, draft, change, view="phases")


def _changed(request: AccessRequest, draft: Draft, change: Change, *, view: str) -> HttpResponse:
    """The matrix sends the same as the lists, and says that it wants to be shown."""
    refusal, changed = "", draft
    try:
        changed = services.edit_draft(draft=draft, change=lambda text: need_loading(change(text)))
    except InputError as error:
        refusal = str(error)
    view = "matrix" if request.POST.get("view") == "matrix" else view
    return shown(request, changed, view, refusal=refusal)


def _first_error(form: forms.Form) -> str:
    field, errors = next(iter(form.errors.items()))
    return f"{field}: {errors[0]}"
