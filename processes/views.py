"""Pages of processes, to read. What they show comes from the stored source text."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterator

from django.db.models import Count
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from loomverify.accounts.access import AccessRequest, project_page
from loomverify.errors import NotFound
from processes import selectors
from processes.models import Process, ProcessVersion

VIEWS = (("matrix", "Matrix"), ("rules", "Rules"), ("phases", "Phases"), ("source", "YAML"))
KINDS = {"+": "add", "-": "del", "@": "hunk"}
MAX_DIFF_LINES = 4000


@require_safe
@project_page()
def process_list(request: AccessRequest) -> HttpResponse:
    rows = list(
        selectors.process_list(request.access.project)
        .annotate(version_count=Count("versions"))
        .defer("published__source_text")
    )
    shown = [
        {"process": row, "definition": selectors.definition_of(row.published_id)}
        if row.published_id
        else {"process": row, "definition": None}
        for row in rows
    ]
    return render(request, "processes/process_list.html", {"rows": shown})


@require_safe
@project_page()
def process_detail(request: AccessRequest, slug: str) -> HttpResponse:
    process = _process(request, slug)
    version = _version(process, request.GET.get("version", ""))
    view = request.GET.get("view") or "matrix"
    if view not in dict(VIEWS):
        raise Http404
    matrix = selectors.matrix(version)
    shown = {
        "process": process,
        "version": version,
        "versions": list(selectors.versions(process)),
        "definition": selectors.definition_of(version.pk),
        "matrix": matrix,
        "counts": Counter(column.enforcement.value for column in matrix.columns).most_common(),
        "view": view,
        "views": VIEWS,
        "lines": version.source_text.split("\n") if view == "source" else [],
    }
    return render(request, "processes/process_detail.html", shown)


@require_safe
@project_page()
def process_compare(request: AccessRequest, slug: str) -> HttpResponse:
    process = _process(request, slug)
    old = _version(process, request.GET.get("a", ""))
    new = _version(process, request.GET.get("b", ""))
    comparison = selectors.compare_versions(old, new)
    shown = {
        "process": process,
        "old": old,
        "new": new,
        "versions": list(selectors.versions(process)),
        "comparison": comparison,
        "sections": (("Rules", comparison.rules), ("Phases", comparison.phases)),
        "lines": list(_diff(old.source_text, new.source_text)),
    }
    return render(request, "processes/process_compare.html", shown)


@require_safe
@project_page()
def process_source(request: AccessRequest, slug: str, number: int) -> HttpResponse:
    """The stored bytes, as a download."""
    version = _version(_process(request, slug), str(number))
    answer = HttpResponse(version.source_text, content_type="application/octet-stream")
    answer["Content-Disposition"] = f'attachment; filename="{slug}-v{number}.yaml"'
    answer["X-Content-Type-Options"] = "nosniff"
    return answer


def _process(request: AccessRequest, slug: str) -> Process:
    if "\x00" in slug:
        raise Http404
    try:
        return selectors.process_by_slug(request.access.project, slug)
    except NotFound as error:
        raise Http404 from error


def _version(process: Process, asked: str) -> ProcessVersion:
    """The version of this number; without one the published, else the newest."""
    if asked:
        if not (asked.isdecimal() and len(asked) < 10):
            raise Http404
        try:
            return selectors.version_by_number(process, int(asked))
        except NotFound as error:
            raise Http404 from error
    found = process.published or process.versions.order_by("-number").first()
    if found is None:
        raise Http404
    return found


def _diff(old: str, new: str) -> Iterator[tuple[str, str]]:
    before, after = old.splitlines(), new.splitlines()
    if max(len(before), len(after)) > MAX_DIFF_LINES:
        return
    for line in list(difflib.unified_diff(before, after, lineterm="", n=3))[2:]:
        yield KINDS.get(line[:1], ""), line
