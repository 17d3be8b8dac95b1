"""From a draft to a version, and which version counts."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from loomverify.accounts.access import AccessRequest, project_page
from loomverify.accounts.models import Role
from loomverify.errors import Conflict, InputError
from loomverify.guarding import REASON, Objected
from processes import selectors, services
from processes.checking import check
from processes.comparing import compared
from processes.forms import PublishForm
from processes.guards import PUBLISHING, Publication
from processes.models import Draft, Process, ProcessVersion
from processes.views.access import (
    back_to,
    draft_page,
    lock_version_of,
    number_in,
    process_of,
    version_of,
)
from processes.views.drafts import PAGE, draft_context

ASKED = "Say why it is to judge runs all the same. Nothing was published."


@never_cache
@require_http_methods(PAGE)
@draft_page
def draft_publish(request: AccessRequest, draft: Draft) -> HttpResponse:
    form = PublishForm(request.POST if request.method == "POST" else None)
    if not form.is_valid():
        status = 422 if form.is_bound else 200
        return render(request, "processes/draft_publish.html", _context(draft, form), status=status)
    try:
        stored = services.publish_draft(
            draft=draft,
            lock_version=lock_version_of(request),
            actor=request.access.actor,
            role=request.access.role,
            reason=form.cleaned_data["reason"],
            corpus_reason=form.cleaned_data[REASON],
        )
    except Objected:
        form.add_error(REASON, ASKED)
        return render(request, "processes/draft_publish.html", _context(draft, form), status=409)
    except InputError as error:
        if not isinstance(error, Conflict):
            form.add_error(None, [issue.msg for issue in error.issues[:20]])
        context = {**_context(draft, form), "conflict": isinstance(error, Conflict) and str(error)}
        return render(request, "processes/draft_publish.html", context, status=error.status)
    messages.success(request, _stored_text(stored))
    answer = back_to("process_detail", draft)
    answer["Location"] += f"?version={stored.version.number}"
    return answer


def _context(draft: Draft, form: PublishForm) -> dict[str, Any]:
    stored = selectors.draft_of(draft.process, draft.editor) or draft
    context = draft_context(stored, "publish")
    base = stored.base
    can_be_stored = context["is_changed"] and not context["is_behind"]
    is_readable = context["checked"].definition is not None
    return {
        **context,
        "form": form,
        "words": PUBLISHING.words(Publication(stored.process, stored.source_text))
        if can_be_stored and is_readable
        else (),
        "shown": compared(
            selectors.definition_of(base.pk),
            context["checked"].definition,
            base.source_text,
            stored.source_text,
            names=(f"v{base.number}", "your draft"),
        ),
        "next_number": context["newest"].number + 1,
    }


def _stored_text(stored: services.Stored) -> str:
    number = stored.version.number
    if stored.is_published:
        return f"v{number} is published. Runs submitted from now on are judged by it."
    return (
        f"v{number} is stored. An admin of the project publishes it; until then it judges no run."
    )


@never_cache
@require_http_methods(PAGE)
@project_page(Role.ADMIN)
def version_publish(request: AccessRequest, slug: str, number: int) -> HttpResponse:
    """Publish any version: also the way back. What would change is shown first."""
    process = process_of(request, slug)
    version = version_of(process, str(number))
    form = PublishForm(request.POST if request.method == "POST" else None)
    if not form.is_valid():
        context = _publication(process, version, form)
        status = 422 if form.is_bound else 200
        return render(request, "processes/version_publish.html", context, status=status)
    try:
        services.publish(
            process=process,
            number=version.number,
            actor=request.access.actor,
            reason=form.cleaned_data["reason"],
            instead_of=number_in(request.POST.get("published", "")),
            corpus_reason=form.cleaned_data[REASON],
        )
    except Objected:
        form.add_error(REASON, ASKED)
        context = _publication(process, version, form)
        return render(request, "processes/version_publish.html", context, status=409)
    except Conflict:
        context = {**_publication(process, version, form), "is_stale": True}
        return render(request, "processes/version_publish.html", context, status=409)
    messages.success(request, f"v{number} is published. Runs submitted from now on use it.")
    return redirect("process_detail", project=request.access.project.slug, slug=slug)


def _publication(process: Process, version: ProcessVersion, form: PublishForm) -> dict[str, Any]:
    published = process.published
    if published is not None and published.pk == version.pk and not form.is_bound:
        raise Http404
    args = [process.project.slug, process.slug]
    definitions = selectors.definitions_of(one.pk for one in (published, version) if one)
    return {
        "process": process,
        "version": version,
        "published": published,
        "is_back": published is not None and published.number > version.number,
        "form": form,
        "words": PUBLISHING.words(Publication(process, version.source_text, version)),
        "places_url": f"{reverse('process_detail', args=args)}?version={version.number}&view=source",
        "checked": check(version.source_text, process, is_stored=True),
        "shown": published
        and compared(
            definitions[published.pk],
            definitions[version.pk],
            published.source_text,
            version.source_text,
            names=(f"v{published.number}", f"v{version.number}"),
        ),
    }
