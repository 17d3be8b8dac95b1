from __future__ import annotations

import csv
import io
import json
from urllib.parse import urlencode

from django.core.exceptions import BadRequest
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from loomverify.accounts import selectors
from loomverify.accounts.access import AccessRequest, project_page
from loomverify.accounts.forms import AuditFilterForm
from loomverify.accounts.models import AuditEntry, Role
from loomverify.errors import InputError
from loomverify.spreadsheets import plain_cell

MAX_EXPORTED = 100_000
COLUMNS = ("at", "actor", "verb", "object_type", "object_id", "object_name", "diff", "reason")


@require_safe
@project_page(Role.ADMIN)
def audit(request: AccessRequest) -> HttpResponse:
    chosen = _filters(request)
    project = request.access.project
    try:
        entries, cursor = selectors.audit_page(project, **chosen)
    except InputError as error:
        raise BadRequest(str(error)) from error
    filters = {name: value for name, value in chosen.items() if value and name != "cursor"}
    context = {
        "entries": entries,
        "chosen": chosen,
        "verbs": selectors.audit_verbs(project),
        "query": urlencode(filters),
        "older": urlencode({**filters, "cursor": cursor}) if cursor else "",
    }
    return render(request, "settings/audit.html", context)


@require_safe
@project_page(Role.ADMIN)
def audit_export(request: AccessRequest) -> HttpResponse:
    chosen = _filters(request)
    entries = selectors.audit_entries(
        request.access.project, verb=chosen["verb"], actor=chosen["actor"]
    )
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(COLUMNS)
    for number, entry in enumerate(entries.order_by("-at", "-id").iterator(chunk_size=2000)):
        if number == MAX_EXPORTED:
            writer.writerow([f"Cut after {MAX_EXPORTED} entries: narrow the filters."])
            break
        writer.writerow([plain_cell(value) for value in _row(entry)])
    answer = HttpResponse(text.getvalue(), content_type="text/csv; charset=utf-8")
    name = f"audit-{request.access.project.slug}.csv"
    answer["Content-Disposition"] = f'attachment; filename="{name}"'
    return answer


def _row(entry: AuditEntry) -> list[object]:
    return [
        entry.at.isoformat(),
        entry.actor,
        entry.verb,
        entry.object_type,
        entry.object_id,
        entry.object_name,
        json.dumps(entry.diff, ensure_ascii=False),
        entry.reason,
    ]


def _filters(request: AccessRequest) -> dict[str, str]:
    form = AuditFilterForm(request.GET)
    if not form.is_valid():
        raise BadRequest("These filters cannot be read.")
    return form.cleaned_data
