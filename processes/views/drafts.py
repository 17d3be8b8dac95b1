"""An editor's own draft: begun, written as YAML, saved, put away and taken back."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from loomverify.accounts.access import AccessRequest, project_page
from loomverify.accounts.models import Role
from loomverify.errors import Conflict, InputError, NotFound
from processes import selectors, services, texts
from processes.checking import check
from processes.definition.stream import MAX_SOURCE_BYTES
from processes.definition.vocabulary import PLACES
from processes.merging import merged
from processes.models import Draft, ProcessVersion
from processes.side_by_side import beside
from processes.views.access import (
    back_to,
    draft_page,
    is_part,
    lock_version_of,
    number_in,
    process_of,
    without_draft,
)

PAGE = ["GET", "HEAD", "POST"]


def draft_context(draft: Draft, view: str) -> dict[str, Any]:
    """What the frame around every page of a draft shows."""
    newest = services.newest_version(draft.process)
    is_behind = newest.pk != draft.base_id
    return {
        "process": draft.process,
        "draft": draft,
        "view": view,
        "checked": check(draft.source_text, draft.process),
        "newest": newest,
        "is_behind": is_behind,
        "other_published": None if is_behind else _other_published(draft),
        "can_merge": is_behind and _both(draft, newest) is not None,
        "is_changed": draft.source_text != draft.base.source_text,
    }


def _other_published(draft: Draft) -> ProcessVersion | None:
    """After going back, the published version is older than what a draft begins with."""
    published = draft.process.published
    return published if published and published.pk != draft.base_id else None


def _both(draft: Draft, newest: ProcessVersion) -> str | None:
    return merged(draft.base.source_text, draft.source_text, newest.source_text)


@require_POST
@project_page(Role.EDITOR)
def draft_open(request: AccessRequest, slug: str) -> HttpResponse:
    process = process_of(request, slug)
    try:
        draft = services.open_draft(
            process=process, editor=request.user, actor=request.access.actor
        )
    except NotFound as error:
        raise Http404 from error
    return back_to(_page_named(request.POST.get("then", "")), draft)


def _page_named(then: str) -> str:
    pages = ("matrix", "rules", "phases", "process", "review", "publish")
    return f"draft_{then}" if then in pages else "draft_yaml"


@never_cache
@require_http_methods(PAGE)
@project_page(Role.EDITOR)
def draft_yaml(request: AccessRequest, slug: str) -> HttpResponse:
    process = process_of(request, slug)
    draft = selectors.draft_of(process, request.user)
    if draft is None and "source_text" in request.POST:  # published or put away in another window
        actor = request.access.actor
        draft = services.open_draft(process=process, editor=request.user, actor=actor)
        return _both_texts(request, draft, posted_text(request, draft))
    if draft is None:
        return without_draft(request, process)
    if request.method != "POST":
        return render(request, "processes/draft_yaml.html", _yaml_context(draft))
    posted = posted_text(request, draft)
    try:
        saved = services.save_draft(
            draft=draft, lock_version=lock_version_of(request), source_text=posted
        )
    except Conflict:
        return _both_texts(request, draft, posted)
    except InputError as error:
        return _refused(request, draft, posted, error)
    if not is_part(request):
        messages.success(request, "Saved.")
        return back_to("draft_yaml", draft)
    return render(request, "processes/draft_yaml.html#saved", _yaml_context(saved))


def _refused(request: AccessRequest, draft: Draft, posted: str, error: InputError) -> HttpResponse:
    context = {**_yaml_context(draft), "refusal": str(error), "source_text": posted}
    template = "processes/draft_yaml.html" + ("#refusal" if is_part(request) else "")
    answer = render(request, template, context, status=error.status)
    if is_part(request):
        answer["HX-Retarget"], answer["HX-Reswap"] = "#refusal", "outerHTML"
    return answer


def posted_text(request: AccessRequest, draft: Draft) -> str:
    """Browsers turn every line end of a text area into CR LF."""
    text = request.POST.get("source_text", "")[: MAX_SOURCE_BYTES * 2]
    return texts.with_line_ends_of(draft.source_text, text)


def _yaml_context(draft: Draft) -> dict[str, Any]:
    return {
        **draft_context(draft, "yaml"),
        "source_text": draft.source_text,
        "lines": draft.source_text.splitlines(),
        "vocabulary": PLACES,
    }


def _both_texts(request: AccessRequest, draft: Draft, mine: str) -> HttpResponse:
    """Nothing is lost: the answer carries the text that came too late beside the stored one."""
    stored = selectors.draft_of(draft.process, request.user) or draft
    context = {
        **draft_context(stored, "yaml"),
        "mine": mine,
        "lines": beside(stored.source_text, mine),
    }
    template = "processes/draft_conflict.html" + ("#body" if is_part(request) else "")
    answer = render(request, template, context, status=409)
    if is_part(request):
        answer["HX-Retarget"], answer["HX-Reswap"] = "#main", "innerHTML show:window:top"
    return answer


@require_POST
@project_page(Role.EDITOR)
def draft_check(request: AccessRequest, slug: str) -> HttpResponse:
    """What the lint says about a text while it is typed. Nothing is stored."""
    process = process_of(request, slug)
    text = request.POST.get("source_text", "").replace("\r\n", "\n")
    context = {"checked": check(text, process)}
    return render(request, "processes/_problems.html", context)


@require_POST
@draft_page
def draft_undo(request: AccessRequest, draft: Draft) -> HttpResponse:
    try:
        services.undo_edit(draft=draft, lock_version=lock_version_of(request))
    except Conflict as error:
        messages.warning(request, f"{error} Nothing was undone.")
    else:
        messages.success(request, "The last change is undone. Undo once more brings it back.")
    return redirect(_came_from(request, draft))


def _came_from(request: AccessRequest, draft: Draft) -> str:
    name = _page_named(request.POST.get("then", ""))
    return back_to(name, draft).url


@require_POST
@draft_page
def draft_discard(request: AccessRequest, draft: Draft) -> HttpResponse:
    try:
        services.discard_draft(
            draft=draft, lock_version=lock_version_of(request), actor=request.access.actor
        )
    except Conflict as error:
        messages.warning(request, f"{error} It was kept.")
        return back_to("draft_yaml", draft)
    messages.success(request, "The draft is put away.")
    return back_to("process_detail", draft)


@require_POST
@project_page(Role.EDITOR)
def draft_restore(request: AccessRequest, slug: str) -> HttpResponse:
    process = process_of(request, slug)
    services.restore_draft(process=process, editor=request.user, actor=request.access.actor)
    return redirect("draft_yaml", project=request.access.project.slug, slug=slug)


@require_POST
@draft_page
def draft_rebase(request: AccessRequest, draft: Draft) -> HttpResponse:
    """Go on from the newest version, with the draft's text, with that version's, or with both.

    The text of an older version that is published can be taken, too.
    """
    newest = services.newest_version(draft.process)
    published = draft.process.published or newest
    choices = {
        "mine": (draft.source_text, f"Your text goes on from v{newest.number} now."),
        "theirs": (newest.source_text, f"The draft holds the text of v{newest.number} now."),
        "both": (_both(draft, newest), f"Your changes stand in the text of v{newest.number} now."),
        "published": (
            published.source_text,
            f"The draft holds the text of v{published.number} now. Undo brings yours back.",
        ),
    }
    source_text, said = choices.get(request.POST.get("text", ""), (None, ""))
    if source_text is None:
        messages.warning(request, "The two changes meet: choose one of the texts.")
        return back_to("draft_publish", draft)
    try:
        services.rebase_draft(
            draft=draft,
            lock_version=lock_version_of(request),
            number=number_in(request.POST.get("number", "")) or -1,
            source_text=source_text,
        )
    except Conflict as error:
        messages.warning(request, str(error))
    else:
        messages.success(request, said)
    return back_to("draft_publish", draft)
