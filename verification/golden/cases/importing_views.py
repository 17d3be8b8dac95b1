"""A file of cases: shown for what it would change, then stored, or not at all."""

from __future__ import annotations

import base64
import binascii
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from loomverify.accounts.access import AccessRequest, project_page
from loomverify.accounts.models import Role
from loomverify.errors import Conflict, InputError
from verification.golden.cases.checking import problems_of, warnings_of
from verification.golden.cases.importing import Imported, import_cases
from verification.golden.documents.parsing import MAX_FILE_BYTES, CaseFile, parse_cases
from verification.golden.documents.writing import sha256_of

PAGE = ["GET", "HEAD", "POST"]
FORM, PREVIEW = "golden/import.html", "golden/import_preview.html"
MAX_SHOWN_CHARS = 1_000_000


@never_cache
@require_http_methods(PAGE)
@project_page(Role.EDITOR)
def golden_import(request: AccessRequest) -> HttpResponse:
    if request.method != "POST":
        return render(request, FORM)
    raw = _kept(request) if "kept" in request.POST else _sent(request)
    try:
        file = parse_cases(raw)
    except InputError as error:
        return _refused(request, raw, error)
    try:
        planned = import_cases(access=request.access, documents=file.documents, dry_run=True)
        if "kept" not in request.POST:
            return _preview(request, raw, planned, file)
        if _digest(planned) != request.POST.get("seen"):
            return _preview(
                request, raw, planned, file, conflict="The corpus has changed meanwhile."
            )
        stored = import_cases(access=request.access, documents=file.documents)
    except InputError as error:
        return _refused(request, raw, file.placed(error))
    return _stored(request, stored)


def _stored(request: AccessRequest, stored: Imported) -> HttpResponse:
    made, changed = len(stored.created), len(stored.changed)
    parts = [f"{made:,} made"] * bool(made) + [f"{changed:,} changed"] * bool(changed)
    messages.success(request, f"Cases: {', '.join(parts)}." if parts else "Nothing was to store.")
    return redirect("golden_cases", project=request.access.project.slug)


def _preview(
    request: AccessRequest, raw: bytes, planned: Imported, file: CaseFile, *, conflict: str = ""
) -> HttpResponse:
    groups = [
        ("New", "Each begins without a past.", planned.created),
        ("Changed", "Each gets its next version.", planned.changed),
        ("As they are", "Nothing is stored of these.", planned.same),
    ]
    shown: dict[str, Any] = {
        "conflict": conflict,
        "warnings": warnings_of(file, request.access.project),
        "groups": [
            (title, said, [{"name": name, "near": planned.near.get(name, ())} for name in names])
            for title, said, names in groups
            if names
        ],
        "total": len(planned.created) + len(planned.changed) + len(planned.same),
        "writes": len(planned.created) + len(planned.changed),
        "kept": base64.b64encode(raw).decode(),
        "seen": _digest(planned),
    }
    return render(request, PREVIEW, shown, status=Conflict.status if conflict else 200)


def _refused(request: AccessRequest, raw: bytes, error: InputError) -> HttpResponse:
    shown = {
        "problems": problems_of(error, is_one=False),
        "source_text": raw.decode(errors="replace")[:MAX_SHOWN_CHARS],
    }
    return render(request, FORM, shown, status=error.status)


def _digest(planned: Imported) -> str:
    return sha256_of([planned.created, planned.changed])


def _sent(request: AccessRequest) -> bytes:
    """An uploaded file as it is; pasted text with the line ends that it most likely had."""
    upload = request.FILES.get("file")
    if upload is not None:
        return bytes(upload.read(MAX_FILE_BYTES + 1))
    text = request.POST.get("source_text", "").replace("\r\n", "\n")
    return text.encode(errors="surrogatepass")[: MAX_FILE_BYTES + 1]


def _kept(request: AccessRequest) -> bytes:
    """What the preview carried, byte for byte: a text area would change its line ends."""
    try:
        return base64.b64decode(request.POST["kept"], validate=True)
    except (binascii.Error, ValueError):
        return b""
