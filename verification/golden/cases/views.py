"""Pages of golden cases: the list, one case, and what is done with it."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from loomverify.accounts.access import AccessRequest, project_page
from loomverify.accounts.models import Role
from loomverify.errors import InputError, NotFound
from processes.views.access import number_in
from verification.golden.cases import listing, selectors, services
from verification.golden.cases.page import CasePage, Choice
from verification.golden.cases.selectors import CaseStanding
from verification.golden.cases.texts import ordered
from verification.golden.documents import writing
from verification.golden.models import GoldenCase, GoldenCaseVersion
from verification.golden.wording import NOT_REPLAYED, STANDINGS
from verification.runs.evidence_store import EvidenceLost, read_blob
from verification.runs.exports import attachment

LIST, DETAIL = "golden/cases.html", "golden/case_detail.html"
FILTERS = ("process", "phase", "tag", "q", "origin", "standing", "retired")
STANDING_WORDS = [
    *((value.value, badge.word) for value, badge in STANDINGS.items()),
    (CaseStanding.NOT_REPLAYED.value, NOT_REPLAYED.word),
]
MAX_EXPORTED = 1_000


@require_safe
@project_page()
def golden_cases(request: AccessRequest) -> HttpResponse:
    project = request.access.project
    filters = selectors.CaseFilters.of(request.GET)
    shown: dict[str, Any] = {
        "tab": "cases",
        "filters": filters,
        "is_filtered": any(request.GET.get(name) for name in FILTERS),
        "standings": STANDING_WORDS,
        "base_url": settings.BASE_URL,
        "cases_url": reverse("golden_cases", args=[project.slug]),
    }
    try:
        cases = selectors.cases(project, filters)
        page = listing.page_of(cases, request.GET.get("cursor", ""))
        count, capped = listing.count_of(cases)
    except InputError as error:
        return render(request, LIST, {**shown, "error": error}, status=400)
    shown |= {"rows": page.rows, "next": page.next, "count": count, "capped": capped}
    shown["choices"] = listing.choices_of(project)
    return render(request, LIST, shown)


@require_safe
@project_page()
def golden_case(request: AccessRequest, case: UUID) -> HttpResponse:
    found = case_named(request, case)
    version = version_named(found, request.GET.get("version", ""))
    page = CasePage(found, version, Choice.of(request.GET))
    is_part = request.headers.get("HX-Target") == "material"
    shown = {
        "case": found,
        "page": page,
        "is_just_made": "made" in request.GET,
    }
    if is_part and not request.headers.get("HX-History-Restore-Request"):
        answer = render(request, f"{DETAIL}#material", shown)
    else:
        shown["near"] = () if found.retired_at else selectors.near_duplicates(version)
        answer = render(request, DETAIL, shown)
    answer["Vary"] = "HX-Target, Cookie"
    return answer


@require_safe
@project_page()
def golden_case_download(request: AccessRequest, case: UUID) -> HttpResponse:
    found = case_named(request, case)
    version = version_named(found, request.GET.get("version", ""))
    try:
        document = selectors.document_of(version)
    except EvidenceLost as error:
        raise Http404 from error
    return _file_of([document], found.name, is_json=request.GET.get("format") == "json")


@require_safe
@project_page()
def golden_export(request: AccessRequest) -> HttpResponse:
    """What the filters find, by name, as one file that can be imported again."""
    project = request.access.project
    try:
        cases = selectors.cases(project, selectors.CaseFilters.of(request.GET))
    except InputError:
        return _to_the_list(request)  # which says what is wrong with the filters
    current = cases.order_by("name").values_list("current_id", flat=True)[: MAX_EXPORTED + 1]
    versions = selectors.versions_to_read().filter(pk__in=list(current)).order_by("case__name")
    if len(versions) > MAX_EXPORTED:
        said = f"At most {MAX_EXPORTED:,} cases fit one file: narrow the filters."
        messages.warning(request, said)
        return _to_the_list(request)
    try:
        documents = [selectors.document_of(one) for one in versions]
    except EvidenceLost:
        messages.error(request, "A file of these cases is not in our store any more.")
        return _to_the_list(request)
    is_json = request.GET.get("format") == "json"
    return _file_of(documents, f"{project.slug}-corpus", is_json=is_json)


@require_safe
@project_page()
def golden_case_file(request: AccessRequest, case: UUID, path: str) -> HttpResponse:
    version = version_named(case_named(request, case), request.GET.get("version", ""))
    row = version.files.select_related("blob__project").filter(path=path.replace("\0", "")).first()
    if row is None:
        raise Http404
    try:
        content = read_blob(row.blob)
    except EvidenceLost as error:
        raise Http404 from error
    return attachment(content, path)


@require_POST
@project_page(Role.EDITOR)
def golden_case_retire(request: AccessRequest, case: UUID) -> HttpResponse:
    reason = request.POST.get("reason", "").replace("\0", "")[:1000]
    services.retire(access=request.access, case=case, reason=reason)
    return redirect("golden_case", project=request.access.project.slug, case=case)


@require_POST
@project_page(Role.EDITOR)
def golden_case_restore(request: AccessRequest, case: UUID) -> HttpResponse:
    services.restore(access=request.access, case=case)
    messages.success(request, "It is back: replays take it again.")
    return redirect("golden_case", project=request.access.project.slug, case=case)


def _to_the_list(request: AccessRequest) -> HttpResponse:
    """With its filters."""
    answer = redirect("golden_cases", project=request.access.project.slug)
    query = request.GET.copy()
    query.pop("format", None)
    answer["Location"] += f"?{query.urlencode()}"
    return answer


def case_made(request: AccessRequest, case: GoldenCase) -> HttpResponse:
    """To its page, which offers to take it back."""
    messages.success(request, f"{case.name} is in the corpus.")
    answer = redirect("golden_case", project=request.access.project.slug, case=case.uuid)
    answer["Location"] += "?made"
    return answer


def case_named(request: AccessRequest, case: UUID) -> GoldenCase:
    try:
        return selectors.case_of(request.access.project, case)
    except NotFound as error:
        raise Http404 from error


def version_named(case: GoldenCase, asked: str) -> GoldenCaseVersion:
    """The version of this number; without one, the one that counts."""
    found = case.versions.filter(number=number_in(asked) or 0).first() if asked else case.current
    if found is None:
        raise Http404
    return found


def _file_of(found: list[dict[str, Any]], name: str, *, is_json: bool) -> HttpResponse:
    documents = [ordered(one) for one in found]
    if is_json:
        text = json.dumps(documents, ensure_ascii=False, indent=2) + "\n"
        return attachment(text.encode(), f"{name}.json", "application/json")
    return attachment(writing.to_yaml(documents).encode(), f"{name}.yaml", "application/yaml")
