"""A file from outside: shown for what it will be, then stored, or not at all."""

from __future__ import annotations

import base64
import binascii
from typing import Any

from django.contrib import messages
from django.core.files.uploadedfile import UploadedFile
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from loomverify.accounts.access import AccessRequest, project_page
from loomverify.accounts.models import Project, Role
from loomverify.errors import Conflict, InputError, NotFound
from processes import rule_edits, selectors, services
from processes.checking import check
from processes.comparing import compared
from processes.definition.load import MAX_NAME
from processes.definition.model import Definition
from processes.definition.patch import SetValue
from processes.definition.stream import MAX_SOURCE_BYTES
from processes.definition.vocabulary import PLACES
from processes.forms import TemplateForm
from processes.views.access import number_in
from processes.views.drafts import PAGE
from processes.views.importing_many import preview_many, store_many

PAGE_TEMPLATE = "processes/process_import.html"
WAITS = "It is not published: something speaks against it. Publish says what, and asks why."


@never_cache
@require_http_methods(PAGE)
@project_page(Role.EDITOR)
def process_import(request: AccessRequest) -> HttpResponse:
    if request.method != "POST":
        return _empty_page(request)
    uploads = [*request.FILES.getlist("file"), *request.FILES.getlist("folder")]
    if len(uploads) > 1:
        return _many(request, uploads)
    kept = request.POST.getlist("kept")
    if "many" in request.POST:
        return store_many(request, [_decoded(one) for one in kept])
    source = _decoded(kept[0]) if kept else _sent(request, uploads)
    checked = check(source)
    if checked.definition is None:
        context = {**_choices(request), "checked": checked, "source_text": _shown(source)}
        return render(request, PAGE_TEMPLATE, context, status=422)
    if "kept" not in request.POST:
        return _preview(request, source, checked.definition)
    return _store(request, source, checked.definition)


def _many(request: AccessRequest, uploads: list[UploadedFile[bytes]]) -> HttpResponse:
    try:
        return preview_many(request, uploads)
    except InputError as error:
        context = {**_choices(request), "refusal": str(error)}
        return render(request, PAGE_TEMPLATE, context, status=error.status)


def _store(request: AccessRequest, source: bytes, definition: Definition) -> HttpResponse:
    try:
        version, is_new = services.import_version(
            project=request.access.project,
            source_text=source,
            seen_newest=number_in(request.POST.get("newest", "")),
            actor=request.access.actor,
            role=request.access.role,
            note=request.POST.get("note", "").replace("\0", "")[:300],
        )
    except Conflict as error:
        return _preview(request, source, definition, conflict=str(error))
    messages.success(request, _stored_text(version.number, is_new=is_new))
    if request.access.is_admin and version.process.published_id is None:
        messages.warning(request, WAITS)
    answer = redirect(
        "process_detail", project=request.access.project.slug, slug=version.process.slug
    )
    answer["Location"] += f"?version={version.number}"
    return answer


def _stored_text(number: int, *, is_new: bool) -> str:
    return f"Stored as v{number}." if is_new else f"v{number} says the same: nothing was stored."


def _sent(request: AccessRequest, uploads: list[UploadedFile[bytes]]) -> bytes:
    """An uploaded file as it is; pasted text with the line ends that it most likely had."""
    if uploads:
        return bytes(uploads[0].read(MAX_SOURCE_BYTES + 1))
    text = request.POST.get("source_text", "").replace("\r\n", "\n")
    return text.encode(errors="surrogatepass")[: MAX_SOURCE_BYTES + 1]


def _decoded(kept: str) -> bytes:
    """What the preview carried, byte for byte: a text area would change its line ends."""
    try:
        return base64.b64decode(kept, validate=True)
    except (binascii.Error, ValueError):
        return b""


def _shown(source: bytes) -> str:
    return source[:MAX_SOURCE_BYTES].decode(errors="replace")


def _empty_page(request: AccessRequest) -> HttpResponse:
    """With the text of another process, under a new name, where one is asked for."""
    if "template" not in request.GET:
        return render(request, PAGE_TEMPLATE, _choices(request))
    asked = request.GET.copy()
    if "name" not in asked:
        asked["name"] = _free_name(request.access.project, request.GET.get("template", ""))
    context = _choices(request, TemplateForm(asked))
    form: TemplateForm = context["template_form"]
    if not form.is_valid():
        return render(request, PAGE_TEMPLATE, context, status=422)
    try:
        source = _copy(request.access.project, **form.cleaned_data)
    except NotFound as error:
        raise Http404 from error
    except InputError as error:
        form.add_error("name", str(error))
        return render(request, PAGE_TEMPLATE, context, status=422)
    return render(request, PAGE_TEMPLATE, {**context, "source_text": source})


def _free_name(project: Project, template: str) -> str:
    """What a copy is called until somebody says better."""
    taken = set(project.processes.values_list("slug", flat=True))
    name = f"{template[: MAX_NAME - 10]}-copy"
    others = (f"{name}-{number}" for number in range(2, 1_000))
    return next((one for one in (name, *others) if one not in taken), name)


def _copy(project: Project, template: str, name: str) -> str:
    process = selectors.process_by_slug(project, template)
    version = process.published or services.newest_version(process)
    text = rule_edits.text_of(version.source_text)
    return text.patched([SetValue(("name",), name)])


def _choices(request: AccessRequest, form: TemplateForm | None = None) -> dict[str, Any]:
    slugs = selectors.process_list(request.access.project).values_list("slug", flat=True)
    return {
        "template_form": form or TemplateForm(),
        "templates": list(slugs),
        "vocabulary": PLACES,
    }


def _preview(
    request: AccessRequest, source: bytes, definition: Definition, conflict: str = ""
) -> HttpResponse:
    text = source.decode()
    process = request.access.project.processes.filter(slug=definition.name).first()
    newest = process.versions.order_by("-number").first() if process else None
    context = {
        "conflict": conflict,
        "definition": definition,
        "checked": check(source),
        "process": process,
        "newest": newest,
        "next_number": newest.number + 1 if newest else 1,
        "is_same": newest is not None and newest.source_text == text,
        "shown": newest
        and compared(
            selectors.definition_of(newest.pk),
            definition,
            newest.source_text,
            text,
            names=(f"v{newest.number}", "the file"),
        ),
        "kept": base64.b64encode(source).decode(),
        "lines": text.splitlines()[:2000] if newest is None else [],
    }
    status = 409 if conflict else 200
    return render(request, "processes/process_import_preview.html", context, status=status)
