"""Pages of one content, and what they show in a frame or as a picture."""

from __future__ import annotations

import base64
import uuid
from typing import Any, Final

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from loomverify.accounts.access import AccessRequest, project_page
from verification.adapters.viewing import WAIT_SECONDS
from verification.runs.named import file_named, run_named
from verification.runs.run_page import RunPage
from verification.runs.viewing.kinds import Kind
from verification.runs.viewing.panes import viewable_of
from verification.runs.viewing.selectors import Wish, view_of
from verification.runs.viewing.viewer import places_of, viewer_of

WHOLE: Final = "runs/run_file.html"
PART: Final = "runs/_viewer.html"
FRAME_POLICY: Final = (
    "sandbox; default-src 'none'; img-src data:; "
    "frame-ancestors 'self'; base-uri 'none'; form-action 'none'"
)


@require_safe
@project_page()
def run_file_page(request: AccessRequest, run: uuid.UUID, path: str = "") -> HttpResponse:
    """A file, or with no path the output. Places in the address are marked instead of the run's own."""
    found = run_named(request, run)
    page = RunPage(found, None if "places" in request.GET else found.live_evaluation)
    if path:
        file_named(found, path)
    pane = page.material.whole(
        path,
        first=_first(request.GET.get("from", "")),
        places=places_of(request.GET.get("places", "")),
    )
    shown: dict[str, Any] = {"run": found, "file": page.files.get(path), "pane": pane}
    if pane.viewable:
        where = (request.access.project.slug, found.uuid)
        shown["viewer"] = viewer_of(where, pane.viewable, request.GET, seconds=WAIT_SECONDS)
    if pane.text and pane.text.after and ("viewer" not in shown or shown["viewer"].is_source):
        shown["next_line"] = pane.text.lines[-1].number + 1
    is_part = request.headers.get("HX-Target") == "view"
    if is_part and "HX-History-Restore-Request" not in request.headers:
        answer = render(request, PART, shown)
    else:
        answer = render(request, WHOLE, shown)
    answer["Vary"] = "HX-Target, Cookie"
    return answer


@require_safe
@project_page()
def run_picture(request: AccessRequest, run: uuid.UUID, path: str) -> HttpResponse:
    """The pixels of a picture, painted anew."""
    row = file_named(run_named(request, run), path)
    viewable = viewable_of(row)
    if viewable is None or viewable.source.kind is not Kind.IMAGE:
        raise Http404
    opened = view_of(viewable.source, Wish())
    if opened.refusal or not opened.parts or opened.told["type"] not in ("image/png", "image/jpeg"):
        raise Http404
    answer = HttpResponse(opened.parts[0], content_type=opened.told["type"])
    answer["Content-Security-Policy"] = "sandbox; default-src 'none'; frame-ancestors 'none'"
    return _guarded(answer)


@require_safe
@project_page()
def run_pages(request: AccessRequest, run: uuid.UUID, path: str) -> HttpResponse:
    """Pages of a PDF for a frame without rights: pictures, which its document holds itself."""
    row = file_named(run_named(request, run), path)
    viewable = viewable_of(row)
    if viewable is None or viewable.source.kind is not Kind.PAGES:
        raise Http404
    opened = view_of(viewable.source, Wish.of(request.GET))
    pictures = iter(opened.parts)
    pages = [
        {**page, "src": _as_text(page["type"], next(pictures)) if page["type"] else ""}
        for page in opened.told.get("pages", ())
    ]
    shown = {"pages": pages, "refusal": opened.refusal}
    answer = render(request, "runs/_viewer_pages.html", shown)
    answer["Content-Security-Policy"] = FRAME_POLICY
    answer["X-Frame-Options"] = "SAMEORIGIN"
    return _guarded(answer)


def _first(text: str) -> int:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 9 else 1


def _guarded(answer: HttpResponse) -> HttpResponse:
    answer["X-Content-Type-Options"] = "nosniff"
    answer["Cross-Origin-Resource-Policy"] = "same-origin"
    answer["Cache-Control"] = "private, max-age=600"
    return answer


def _as_text(kind: str, picture: bytes) -> str:
    return f"data:{kind};base64,{base64.b64encode(picture).decode()}"
