"""Rows of the rules' and phases' lists: fields set in place, and the order."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from loomverify.accounts.access import AccessRequest
from loomverify.errors import InputError
from processes import row_edits, selectors, services
from processes.models import Draft
from processes.row_forms import IN_PLACE, RowForm
from processes.views.access import back_to, draft_page, is_part, number_in
from processes.views.drafts import draft_context
from processes.views.rules import need_loading

Change = Callable[[str], str]
STEPS = {"up": -1, "down": 1}


@never_cache
@require_safe
@draft_page
def draft_rules(request: AccessRequest, draft: Draft) -> HttpResponse:
    return render(request, "processes/draft_rules.html", _context(draft, "rules"))


@never_cache
@require_safe
@draft_page
def draft_phases(request: AccessRequest, draft: Draft) -> HttpResponse:
    return render(request, "processes/draft_phases.html", _context(draft, "phases"))


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
    refusal, changed = "", draft
    try:
        changed = services.edit_draft(draft=draft, change=lambda text: need_loading(change(text)))
    except InputError as error:
        refusal = str(error)
    if not is_part(request):
        if refusal:
            messages.warning(request, refusal)
        answer = back_to(f"draft_{view}", draft)
        answer["Location"] += f"#row-{_key(request.POST.get('seen_name', ''), 0)}"
        return answer
    context = {**_context(changed, view), "oob": True, "refusal": refusal}
    part = render(request, f"processes/draft_{view}.html#{view}", context)
    part["Draft-Version"] = str(changed.lock_version)
    return part


def _context(draft: Draft, view: str) -> dict[str, Any]:
    context = draft_context(draft, view)
    definition = context["checked"].definition
    if definition is None:
        return context
    if view == "phases":
        return {**context, "rows": _keyed(definition.phases, [one.id for one in definition.phases])}
    columns = selectors.matrix(definition).columns
    rows = _keyed(columns, [column.rule.name for column in columns])
    for row in rows:
        row["fields"] = [_field(name, row["of"].rule) for name in IN_PLACE]
    return {**context, "rows": rows}


def _field(name: str, rule: Any) -> dict[str, Any]:
    value = getattr(rule, name)
    label, choices = IN_PLACE[name]
    return {"name": name, "label": label, "choices": choices, "value": value or ""}


def _keyed(rows: Any, names: list[str]) -> list[dict[str, Any]]:
    """A row's key follows its name, so that focus follows a row that moves."""
    return [
        {"of": row, "name": name, "key": _key(name, names[:at].count(name))}
        for at, (row, name) in enumerate(zip(rows, names, strict=True))
    ]


def _key(name: str, twin: int) -> str:
    digest = hashlib.sha256(name.encode(errors="surrogatepass")).hexdigest()[:12]
    return f"{digest}-{twin}" if twin else digest


def _first_error(form: forms.Form) -> str:
    field, errors = next(iter(form.errors.items()))
    return f"{field}: {errors[0]}"
