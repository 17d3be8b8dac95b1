"""Writing and changing a case: as YAML, or the common fields as a form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from loomverify.accounts.access import AccessRequest, project_page
from loomverify.accounts.models import Project, Role
from loomverify.errors import Conflict, InputError
from processes.models import Process
from processes.selectors import definition_of
from processes.side_by_side import beside
from processes.views.access import number_in
from verification.golden.cases import selectors, services
from verification.golden.cases.checking import Checked, check, refused
from verification.golden.cases.forms import FieldsForm, initial_of, other_findings, written
from verification.golden.cases.services import MAX_REASON_CHARS
from verification.golden.cases.texts import text_of
from verification.golden.cases.views import case_made, case_named, version_named
from verification.golden.models import GoldenCase
from verification.runs.evidence_store import EvidenceLost

PAGE = ["GET", "HEAD", "POST"]
EDIT, FIELDS = "golden/case_edit.html", "golden/case_fields.html"
MAX_TEXT_CHARS = 16 * 1024 * 1024
BEGINNING = """\
id: what-it-is-about
guards: One sentence that says what must stay so.
process: {process}
phase: {phase}
tier: 1
run:
  task:
    id: what-it-is-about
    description: What was asked for.
  output: |
    What the agent answered.
files: {{}}
expected:
  outcome: pass
  verdict: accept
"""


@dataclass(frozen=True, slots=True)
class Posted:
    text: str
    reason: str
    instead_of: int | None

    @classmethod
    def of(cls, request: AccessRequest) -> Posted:
        """Browsers turn every line end of a text area into CR LF."""
        text = request.POST.get("source_text", "")[:MAX_TEXT_CHARS].replace("\r\n", "\n")
        reason = request.POST.get("reason", "").strip()[:MAX_REASON_CHARS]
        return cls(text, reason, number_in(request.POST.get("instead_of", "")))


@never_cache
@require_http_methods(PAGE)
@project_page(Role.EDITOR)
def golden_case_new(request: AccessRequest) -> HttpResponse:
    if request.method != "POST":
        text = _beginning(request)
        return _page(
            request, None, {"source_text": text, "checked": check(text, request.access.project)}
        )
    posted = Posted.of(request)
    checked = check(posted.text, request.access.project)
    if checked.document is None:
        return _refused(request, None, posted, checked)
    try:
        case = services.create_case(
            access=request.access, document=checked.document, reason=posted.reason
        )
    except InputError as error:
        return _refused(request, None, posted, refused(posted.text, error))
    return case_made(request, case)


@never_cache
@require_http_methods(PAGE)
@project_page(Role.EDITOR)
def golden_case_edit(request: AccessRequest, case: UUID) -> HttpResponse:
    found = case_named(request, case)
    if request.method != "POST":
        text = _text_of(found)
        shown = {"source_text": text, "checked": check(text, request.access.project)}
        return _page(request, found, shown)
    posted = Posted.of(request)
    checked = check(posted.text, request.access.project)
    if checked.document is None:
        return _refused(request, found, posted, checked)
    try:
        services.change_case(
            access=request.access,
            case=case,
            document=checked.document,
            reason=posted.reason,
            instead_of=posted.instead_of,
        )
    except Conflict as error:
        return _both(request, case, posted, error)
    except InputError as error:
        return _refused(request, found, posted, refused(posted.text, error))
    return _changed(request, found)


@require_POST
@project_page(Role.EDITOR)
def golden_case_check(request: AccessRequest) -> HttpResponse:
    """What is wrong with a text while it is typed. Nothing is stored."""
    checked = check(Posted.of(request).text, request.access.project)
    return render(request, "golden/case_problems.html", {"checked": checked})


@never_cache
@require_http_methods(PAGE)
@project_page(Role.EDITOR)
def golden_case_fields(request: AccessRequest, case: UUID) -> HttpResponse:
    found = case_named(request, case)
    document = _document_of(found)
    if request.method != "POST":
        return _form_page(request, found, document, FieldsForm(initial=initial_of(document)))
    form = FieldsForm(request.POST)
    if not form.is_valid():
        return _form_page(request, found, document, form, status=422)
    try:
        services.change_case(
            access=request.access,
            case=case,
            document=written(document, form.cleaned_data),
            reason=form.cleaned_data["reason"],
            instead_of=Posted.of(request).instead_of,
        )
    except InputError as error:
        for issue in error.issues:
            form.add_error(_field_of(issue.loc), issue.msg)
        found = case_named(request, case)
        return _form_page(request, found, document, form, status=error.status)
    return _changed(request, found)


def _field_of(loc: tuple[str | int, ...]) -> str | None:
    """The form's field for a place in the document; None: no field shows it."""
    return next((str(part) for part in reversed(loc) if part in FieldsForm.base_fields), None)


def _form_page(
    request: AccessRequest,
    case: GoldenCase,
    document: dict[str, Any],
    form: FieldsForm,
    status: int = 200,
) -> HttpResponse:
    shown = {"case": case, "form": form, "others": other_findings(document)}
    return render(request, FIELDS, shown, status=status)


def _changed(request: AccessRequest, before: GoldenCase) -> HttpResponse:
    after = case_named(request, before.uuid)
    if after.current_id == before.current_id:
        messages.info(request, "It says the same as before: nothing was stored.")
    else:
        number = after.current.number if after.current else 1
        messages.success(request, f"Stored as version {number}. Its past begins anew.")
    return redirect("golden_case", project=request.access.project.slug, case=before.uuid)


def _page(
    request: AccessRequest, case: GoldenCase | None, shown: dict[str, Any], status: int = 200
) -> HttpResponse:
    number = case.current.number if case and case.current else None
    known = {"case": case, "instead_of": number, "max_reason": MAX_REASON_CHARS}
    return render(request, EDIT, {**known, **shown}, status=status)


def _refused(
    request: AccessRequest, case: GoldenCase | None, posted: Posted, checked: Checked
) -> HttpResponse:
    shown = {
        "source_text": posted.text,
        "reason": posted.reason,
        "checked": checked,
        "is_refused": True,
    }
    if case is not None:
        shown["instead_of"] = posted.instead_of
    return _page(request, case, shown, status=422)


def _both(request: AccessRequest, uuid: UUID, posted: Posted, error: Conflict) -> HttpResponse:
    """Nothing is lost: the text that came too late stands here beside what was stored."""
    case = case_named(request, uuid)
    shown = {
        "source_text": posted.text,
        "reason": posted.reason,
        "checked": check(posted.text, request.access.project),
        "conflict": str(error),
        "is_refused": True,
        "lines": beside(_text_of(case), posted.text),
    }
    return _page(request, case, shown, status=409)


def _beginning(request: AccessRequest) -> str:
    """A copy of the case that is named, else the least that a case holds."""
    project = request.access.project
    if "like" not in request.GET:
        return BEGINNING.format(**_first_phase(project))
    try:
        like = case_named(request, UUID(request.GET["like"]))
    except ValueError as error:
        raise Http404 from error
    document = {**_document_of(like), "id": f"{like.name[:115]}-copy"}
    return text_of(document)


def _first_phase(project: Project) -> dict[str, str]:
    process = Process.objects.filter(project=project, published__isnull=False).order_by("slug")
    found = process.first()
    if found is None or found.published_id is None:
        return {"process": "general", "phase": "work"}
    phases = definition_of(found.published_id).phases
    return {"process": found.slug, "phase": phases[0].id if phases else "work"}


def _text_of(case: GoldenCase) -> str:
    return text_of(_document_of(case))


def _document_of(case: GoldenCase) -> dict[str, Any]:
    try:
        return selectors.document_of(version_named(case, ""))
    except EvidenceLost as error:
        raise Http404 from error
