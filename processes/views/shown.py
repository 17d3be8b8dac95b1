"""What the matrix and the lists of rules and phases show of a draft, whole or as a part."""

from __future__ import annotations

import hashlib
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import render

from loomverify.accounts.access import AccessRequest
from processes import selectors
from processes.definition.model import Definition, Rule
from processes.models import Draft
from processes.row_forms import IN_PLACE
from processes.views.access import back_to, is_part
from processes.views.drafts import draft_context

VIEWS = ("matrix", "phases", "rules")
KEY_LENGTH = 12


def shown(request: AccessRequest, draft: Draft, view: str, *, refusal: str = "") -> HttpResponse:
    """Answer a change: by the page to go back to, or for htmx by its part."""
    opened = request.POST.get("open", "")
    if not is_part(request):
        if refusal:
            messages.warning(request, refusal)
        answer = back_to(f"draft_{view}", draft)
        if view == "matrix" and opened:
            answer["Location"] += "?" + urlencode({"rule": opened[: 2 * KEY_LENGTH]})
        if name := request.POST.get("seen_name"):
            answer["Location"] += f"#row-{_key(name, 0)}"
        return answer
    return part(request, draft, view, opened=opened, refusal=refusal)


def part(
    request: AccessRequest, draft: Draft, view: str, *, opened: str = "", refusal: str = ""
) -> HttpResponse:
    context = {**context_of(draft, view, opened=opened), "oob": True, "refusal": refusal}
    answer = render(request, f"processes/draft_{view}.html#{view}", context)
    answer["Draft-Version"] = str(draft.lock_version)
    return answer


def context_of(draft: Draft, view: str, *, opened: str = "") -> dict[str, Any]:
    """Opened: the key of the rule whose settings stand above the matrix."""
    context = draft_context(draft, view)
    definition = context["checked"].definition
    if definition is None:
        return context
    if view == "matrix":
        return {**context, **_matrix(definition, opened)}
    if view == "phases":
        return {**context, "rows": _phases(definition)}
    rows = _rules(definition)
    for row in rows:
        row["fields"] = _fields(row["of"].rule)
    return {**context, "rows": rows}


def _matrix(definition: Definition, opened: str) -> dict[str, Any]:
    matrix = selectors.matrix(definition)
    columns = _keyed(matrix.columns, [column.rule.name for column in matrix.columns])
    chosen = None
    for at, column in enumerate(columns):
        if column["key"] == opened:
            chosen = {**column, "at": at, "fields": _fields(column["of"].rule)}
    return {
        "matrix": matrix,
        "columns": columns,
        "rows": _keyed(matrix.rows, [row.phase.id for row in matrix.rows]),
        "chosen": chosen,
    }


def _rules(definition: Definition) -> list[dict[str, Any]]:
    columns = selectors.matrix(definition).columns
    return _keyed(columns, [column.rule.name for column in columns])


def _phases(definition: Definition) -> list[dict[str, Any]]:
    return _keyed(definition.phases, [phase.id for phase in definition.phases])


def _fields(rule: Rule) -> list[dict[str, Any]]:
    return [
        {"name": name, "label": label, "choices": choices, "value": getattr(rule, name) or ""}
        for name, (label, choices) in IN_PLACE.items()
    ]


def _keyed(rows: Any, names: list[str]) -> list[dict[str, Any]]:
    """A row's key follows its name, so that focus follows a row that moves."""
    twins: dict[str, int] = {}
    keyed = []
    for row, name in zip(rows, names, strict=True):
        keyed.append({"of": row, "name": name, "key": _key(name, twins.get(name, 0))})
        twins[name] = twins.get(name, 0) + 1
    return keyed


def _key(name: str, twin: int) -> str:
    digest = hashlib.sha256(name.encode(errors="surrogatepass")).hexdigest()[:KEY_LENGTH]
    return f"{digest}-{twin}" if twin else digest
