"""A rule that stands in a draft alone: what is known of it, and its first step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST

from loomverify.accounts.access import AccessRequest
from loomverify.errors import InputError
from loomverify.guarding import REASON, Objected
from processes.definition.compare import compare
from processes.forms import PublishForm
from processes.guards import PUBLISHING, Publication
from processes.models import Draft, Process
from processes.selectors import definition_of
from processes.services.drafts import newest_version
from processes.views.access import draft_page, lock_version_of
from verification.rules.pages.unpublished import Unpublished, unpublished
from verification.rules.steps.services import observe_draft, observed_text

ASKED = "Say why it is to judge runs all the same. Nothing was published."


def page(
    request: AccessRequest,
    process: Process,
    known: Unpublished,
    form: PublishForm,
    *,
    refusal: str = "",
    status: int = 200,
) -> HttpResponse:
    context: dict[str, Any] = {"process": process, "known": known}
    draft = known.draft
    is_new = known.rule is not None and not known.formerly
    if draft and is_new and request.access.is_admin and process.published_id:
        newest = newest_version(process)
        context |= {
            "form": form,
            "refusal": refusal,
            "newest": newest,
            "is_behind": newest.pk != draft.base_id,
            "others": _others(draft, known),
            "words": _words(process, draft, known.name),
        }
    return render(request, "rules/rule_unpublished.html", context, status=status)


@require_POST
@draft_page
def rule_observe(request: AccessRequest, draft: Draft) -> HttpResponse:
    """Publish the draft with this rule observed."""
    if not request.access.is_admin:
        raise PermissionDenied
    name, form = request.POST.get("rule", ""), PublishForm(request.POST)
    refusal, status = "", 422
    if form.is_valid():
        try:
            stored = observe_draft(
                draft=draft,
                lock_version=lock_version_of(request),
                name=name,
                actor=request.access.actor,
                reason=form.cleaned_data["reason"],
                corpus_reason=form.cleaned_data[REASON],
            )
        except Objected as error:
            form.add_error(REASON, ASKED)
            status = error.status
        except InputError as error:
            refusal, status = str(error), error.status
        else:
            told = (
                f"v{stored.version.number} is published: the rule is observed, and rejects nothing."
            )
            messages.success(request, told)
            path = redirect("rule_named", request.access.project.slug, draft.process.slug)
            path["Location"] += f"?{urlencode({'rule': name})}"
            return path
    known = unpublished(draft.process, name, request.user)
    if known is None:
        raise Http404
    return page(request, draft.process, known, form, refusal=refusal, status=status)


def _others(draft: Draft, known: Unpublished) -> int:
    """How many other changes the draft holds: they are published as well."""
    if known.definition is None:
        return 0
    changes = compare(definition_of(draft.base_id), known.definition)
    others = sum(one.name != known.name for one in (*changes.rules, *changes.phases))
    return others + bool(changes.process)


def _words(process: Process, draft: Draft, name: str) -> Sequence[Any]:
    try:
        return PUBLISHING.words(Publication(process, observed_text(draft.source_text, name)))
    except InputError:
        return ()
