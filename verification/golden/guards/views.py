"""The part of a publishing or activating page that tells what the golden cases say."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from loomverify.accounts.access import AccessRequest, project_page
from loomverify.accounts.models import Role
from loomverify.errors import InputError
from loomverify.guarding import Word
from processes.guards import PUBLISHING, Publication
from processes.models import Draft
from processes.views.access import draft_page, is_part, process_of, version_of
from verification.golden.guards.asking import Heard, heard_of_process, heard_of_verifier
from verification.golden.guards.starting import start_for_process, start_for_verifier
from verification.golden.guards.words import TEMPLATE, word_of
from verification.verifiers.guards import ACTIVATING
from verification.verifiers.models import VerifierVersion

PART = ["GET", "HEAD", "POST"]


@never_cache
@require_http_methods(PART)
@draft_page
def golden_guard_draft(request: AccessRequest, draft: Draft) -> HttpResponse:
    wish = Publication(draft.process, draft.source_text)
    page = reverse("draft_publish", args=[request.access.project.slug, draft.process.slug])
    return _of_publication(request, wish, page)


@never_cache
@require_http_methods(PART)
@project_page(Role.ADMIN)
def golden_guard_version(request: AccessRequest, slug: str, number: int) -> HttpResponse:
    process = process_of(request, slug)
    version = version_of(process, str(number))
    page = reverse("version_publish", args=[request.access.project.slug, slug, number])
    return _of_publication(request, Publication(process, version.source_text, version), page)


@never_cache
@require_http_methods(PART)
@project_page(Role.ADMIN)
def golden_guard_verifier(request: AccessRequest, number: int) -> HttpResponse:
    version = VerifierVersion.objects.filter(project=request.access.project, number=number).first()
    if version is None:
        raise Http404
    return _answer(
        request,
        start=lambda: start_for_verifier(access=request.access, version=version),
        hear=lambda: heard_of_verifier(version),
        words=lambda: ACTIVATING.words(version),
        page=reverse("verifier_detail", args=[request.access.project.slug, number]),
    )


def _of_publication(request: AccessRequest, wish: Publication, page: str) -> HttpResponse:
    return _answer(
        request,
        start=lambda: start_for_process(access=request.access, wish=wish),
        hear=lambda: heard_of_process(wish),
        words=lambda: PUBLISHING.words(wish),
        page=page,
    )


def _answer(
    request: AccessRequest,
    *,
    start: Callable[[], bool],
    hear: Callable[[], Heard | None],
    words: Callable[[], Sequence[Word]],
    page: str,
) -> HttpResponse:
    """The part for htmx; back to the page for everybody else.

    The question for a reason goes once no guard, of the `words` of all, objects any more.
    """
    problem = ""
    if request.method == "POST":
        try:
            start()
        except InputError as error:
            problem = str(error)
    if not is_part(request):
        if problem:
            messages.error(request, problem)
        return redirect(page)
    heard = hear()
    if heard is None:
        return HttpResponse()
    word = word_of(heard, request.path, problem=problem)
    is_asked = bool(word.objection) or any(one.objection for one in words())
    shown = {"word": word, "is_part": True, "is_reason_asked": is_asked}
    return render(request, TEMPLATE, shown)
