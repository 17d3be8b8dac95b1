"""Pages of processes, to read. What they show comes from the stored source text."""

from __future__ import annotations

import io
import zipfile
from collections import Counter
from typing import Any

from django.conf import settings
from django.core.exceptions import BadRequest
from django.db.models import Count
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from loomverify.accounts.access import AccessRequest, project_page
from loomverify.errors import InputError
from loomverify.paging import DEFAULT_LIMIT
from processes import publications, selectors
from processes.comparing import compared
from processes.models import Process
from processes.review_words import sentences
from processes.views.access import process_of, version_of

VIEWS = (("matrix", "Matrix"), ("rules", "Rules"), ("phases", "Phases"), ("source", "YAML"))


@require_safe
@project_page()
def process_list(request: AccessRequest) -> HttpResponse:
    rows = list(
        selectors.process_list(request.access.project)
        .annotate(version_count=Count("versions"))
        .defer("published__source_text")
    )
    definitions = selectors.definitions_of(row.published_id for row in rows if row.published_id)
    shown = [{"process": row, "definition": definitions.get(row.published_id or 0)} for row in rows]
    return render(request, "processes/process_list.html", {"rows": shown})


@require_safe
@project_page()
def process_detail(request: AccessRequest, slug: str) -> HttpResponse:
    process = process_of(request, slug)
    version = version_of(process, request.GET.get("version", ""))
    view = request.GET.get("view") or "matrix"
    if view not in dict(VIEWS):
        raise Http404
    definition = selectors.definition_of(version.pk)
    matrix = selectors.matrix(definition)
    shown = {
        "process": process,
        "version": version,
        "versions": list(selectors.versions(process)),
        "definition": definition,
        "matrix": matrix,
        "counts": Counter(column.enforcement.value for column in matrix.columns).most_common(),
        "view": view,
        "views": VIEWS,
        **_drafts(request, process),
        **_history(process),
        "review": sentences(
            definition.policy.review, usual_sample_rate=settings.REVIEW_SAMPLE_RATE
        ),
        "lines": version.source_text.split("\n") if view == "source" else [],
    }
    return render(request, "processes/process_detail.html", shown)


def _drafts(request: AccessRequest, process: Process) -> dict[str, Any]:
    """What this editor has begun, and what they put away and can take back."""
    if not request.access.is_editor:
        return {}
    draft = process.drafts.filter(editor=request.user).select_related("base").first()
    if draft is None or draft.discarded_at is None:
        return {"draft": draft}
    return {"discarded": draft if draft.source_text != draft.base.source_text else None}


def _history(process: Process) -> dict[str, Any]:
    """The last publications; the newest of them can be taken back."""
    found, following = publications.page(process)
    shown: dict[str, Any] = {"history": found, "has_more": bool(following)}
    if found and process.published and found[0].number == process.published.number:
        shown["back_to"] = found[0].before
    return shown


@require_safe
@project_page()
def process_history(request: AccessRequest, slug: str) -> HttpResponse:
    """Every publication, with who and why."""
    process = process_of(request, slug)
    cursor = request.GET.get("cursor", "")
    try:
        found, following = publications.page(process, cursor=cursor, limit=DEFAULT_LIMIT)
    except InputError as error:
        raise BadRequest(str(error)) from error
    shown = {"process": process, "history": found, "next": following, "is_newest_first": True}
    return render(request, "processes/process_history.html", shown)


@require_safe
@project_page()
def process_compare(request: AccessRequest, slug: str) -> HttpResponse:
    process = process_of(request, slug)
    old = version_of(process, request.GET.get("a", ""))
    new = version_of(process, request.GET.get("b", ""))
    definitions = selectors.definitions_of([old.pk, new.pk])
    shown = {
        "process": process,
        "old": old,
        "new": new,
        "versions": list(selectors.versions(process)),
        "shown": compared(
            definitions[old.pk],
            definitions[new.pk],
            old.source_text,
            new.source_text,
            names=(f"v{old.number}", f"v{new.number}"),
        ),
    }
    return render(request, "processes/process_compare.html", shown)


@require_safe
@project_page()
def process_source(request: AccessRequest, slug: str, number: int) -> HttpResponse:
    """The stored bytes, as a download."""
    version = version_of(process_of(request, slug), str(number))
    answer = HttpResponse(version.source_text, content_type="application/octet-stream")
    answer["Content-Disposition"] = f'attachment; filename="{slug}-v{number}.yaml"'
    answer["X-Content-Type-Options"] = "nosniff"
    return answer


@require_safe
@project_page()
def process_archive(request: AccessRequest) -> HttpResponse:
    """The published text of every process, as a folder that can be imported again."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        published = selectors.process_list(request.access.project).filter(published__isnull=False)
        for process in published.iterator(chunk_size=50):
            if process.published:
                archive.writestr(f"{process.slug}.yaml", process.published.source_text.encode())
    answer = HttpResponse(packed.getvalue(), content_type="application/zip")
    name = f"{request.access.project.slug}-processes.zip"
    answer["Content-Disposition"] = f'attachment; filename="{name}"'
    answer["X-Content-Type-Options"] = "nosniff"
    return answer
