"""Which process and whose draft a page is about."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, cast

from django.contrib import messages
from django.http import Http404, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django_htmx.http import HttpResponseClientRedirect

from loomverify.accounts.access import AccessRequest, project_page
from loomverify.accounts.models import Role
from loomverify.errors import NotFound
from processes import selectors, services
from processes.models import Draft, Process, ProcessVersion

P = ParamSpec("P")


def process_of(request: AccessRequest, slug: str) -> Process:
    try:
        return selectors.process_by_slug(request.access.project, slug)
    except NotFound as error:
        raise Http404 from error


def version_of(process: Process, asked: str) -> ProcessVersion:
    """The version of this number; without one the published, else the newest."""
    if asked:
        number = number_in(asked)
        if number is None:
            raise Http404
        try:
            return selectors.version_by_number(process, number)
        except NotFound as error:
            raise Http404 from error
    found = process.published or process.versions.order_by("-number").first()
    if found is None:
        raise Http404
    return found


View = Callable[Concatenate[AccessRequest, Draft, P], HttpResponseBase]


def draft_page(view: View[P]) -> Callable[..., HttpResponse]:
    """A page of the editor's own draft; where there is none, back to the process."""
    return _page_of_draft(view, keeps_form=False)


def draft_form(view: View[P]) -> Callable[..., HttpResponse]:
    """The same with a form that outlives its draft: sent late, it meets a new draft.

    That one has another lock version, so the view shows the conflict with all that was typed.
    """
    return _page_of_draft(view, keeps_form=True)


def _page_of_draft(view: View[P], *, keeps_form: bool) -> Callable[..., HttpResponse]:
    def wrapper(request: AccessRequest, *args: Any, slug: str, **kwargs: Any) -> HttpResponseBase:
        process = process_of(request, slug)
        draft = selectors.draft_of(process, request.user)
        if draft is None and keeps_form and request.method == "POST":
            actor = request.access.actor
            draft = services.open_draft(process=process, editor=request.user, actor=actor)
        if draft is None:
            return without_draft(request, process)
        return view(request, draft, *args, **kwargs)

    page: Any = wraps(view)(wrapper)
    return cast("Callable[..., HttpResponse]", project_page(Role.EDITOR)(page))


def without_draft(request: AccessRequest, process: Process) -> HttpResponse:
    messages.info(request, "You have no draft of this process: Edit begins one.")
    away = redirect("process_detail", project=request.access.project.slug, slug=process.slug)
    return HttpResponseClientRedirect(away.url) if is_part(request) else away


def is_part(request: AccessRequest) -> bool:
    """Whether htmx asks, which wants a part of the page."""
    return bool(getattr(request, "htmx", False))


def lock_version_of(request: AccessRequest) -> int:
    """What the page was made from. Nothing readable is never the present state."""
    number = number_in(request.POST.get("lock_version", ""))
    return -1 if number is None else number


def number_in(text: str) -> int | None:
    """What a page or an address sent; None: no number, or a longer one than any here."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else None


def back_to(name: str, draft: Draft, **kwargs: Any) -> HttpResponseRedirect:
    process = draft.process
    return HttpResponseRedirect(
        reverse(name, kwargs={"project": process.project.slug, "slug": process.slug, **kwargs})
    )
