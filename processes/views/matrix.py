"""Phases down, rules across: where each rule applies, switched cell by cell."""

from __future__ import annotations

import json
from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from loomverify.accounts.access import AccessRequest
from loomverify.errors import InputError
from processes import rule_edits, services
from processes.forms import SwitchForm
from processes.models import Draft
from processes.views.access import draft_page, is_part
from processes.views.shown import context_of, part, shown


@never_cache
@require_safe
@draft_page
def draft_matrix(request: AccessRequest, draft: Draft) -> HttpResponse:
    """`rule` opens the settings of a rule above it."""
    opened = request.GET.get("rule", "")
    if is_part(request):
        return part(request, draft, "matrix", opened=opened)
    return render(
        request, "processes/draft_matrix.html", context_of(draft, "matrix", opened=opened)
    )


@require_POST
@draft_page
def draft_toggle(request: AccessRequest, draft: Draft) -> HttpResponse:
    """Right whatever else was edited meanwhile: it says what is wanted, for a rule by its name."""
    refusal = ""
    try:
        changed, left = _toggle(draft, _asked(request.POST.get("switch", "")))
        if left:
            refusal = f"Left on, because it is the only phase they name: {', '.join(left)}."
    except InputError as error:
        changed, refusal = draft, str(error)
    return shown(request, changed, "matrix", refusal=refusal)


def _asked(text: str) -> dict[str, Any]:
    """Read what a button sent.

    Raises:
        InputError
    """
    try:
        sent = json.loads(text)
    except (ValueError, RecursionError):
        sent = None
    form = SwitchForm(sent if isinstance(sent, dict) else {})
    if not form.is_valid():
        raise InputError("switch.unknown", "The page asked for something that is not here.")
    return dict(form.cleaned_data)


def _toggle(draft: Draft, asked: dict[str, Any]) -> tuple[Draft, list[str]]:
    """Return the draft and the rules that were left alone.

    Raises:
        InputError
    """
    rule = {"index": -1 if asked["index"] is None else asked["index"], "name": asked["rule"]}
    left: list[str] = []

    def change(source: str) -> str:
        if asked["kind"] == "column":
            return rule_edits.column_toggled(source, **rule)
        if asked["kind"] == "row":
            changed, kept = rule_edits.row_toggled(source, phase=asked["phase"], on=asked["on"])
            left.extend(kept)
            return changed
        return rule_edits.toggled(source, phase=asked["phase"], on=asked["on"], **rule)

    return services.edit_draft(draft=draft, change=change), left
