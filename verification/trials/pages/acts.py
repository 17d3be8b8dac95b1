"""What editors do with a trial on its page: stop it, take it over past runs or the corpus."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from loomverify.accounts.access import AccessRequest, project_page
from loomverify.accounts.models import Role
from loomverify.errors import InputError, NotFound
from verification.trials.pages.forms import CorpusForm, PastForm, StopForm
from verification.trials.pages.views import trial_named
from verification.trials.replays import cutover
from verification.trials.replays import services as replaying
from verification.trials.replays.selectors import NO_CASE, NO_RUN
from verification.trials.services import stopping


@require_POST
@project_page(Role.EDITOR)
def trial_stop(request: AccessRequest, trial: UUID) -> HttpResponse:
    found, form = trial_named(request, trial), StopForm(request.POST)
    reason = form.cleaned_data["reason"] if form.is_valid() else ""
    try:
        won = stopping.stop(access=request.access, trial=found, reason=reason)
    except InputError as error:
        messages.error(request, str(error))
    else:
        messages.info(request, "It is stopped. What was compared stays." if won else OVER)
    return _back(request, trial)


OVER = "It was over already."


@require_POST
@project_page(Role.EDITOR)
def trial_past(request: AccessRequest, trial: UUID) -> HttpResponse:
    found, form = trial_named(request, trial), PastForm(request.POST)
    if not form.is_valid():
        messages.error(
            request, " ".join(str(text) for texts in form.errors.values() for text in texts)
        )
        return _back(request, trial)
    try:
        replay = replaying.start_past(
            access=request.access,
            trial=found,
            since=form.since_moment,
            limit=form.cleaned_data["limit"],
        )
    except InputError as error:
        messages.error(request, str(error))
    else:
        if not replay.total:
            messages.info(request, NO_RUN)
    return _back(request, trial)


@require_POST
@project_page(Role.EDITOR)
def trial_corpus(request: AccessRequest, trial: UUID) -> HttpResponse:
    """The trial over golden cases: a look of its own, which no criterion counts."""
    found, form = trial_named(request, trial), CorpusForm(request.POST)
    canary = form.is_valid() and form.cleaned_data["canary"]
    try:
        replay = replaying.start_corpus(access=request.access, trial=found, with_canary=canary)
    except InputError as error:
        messages.error(request, str(error))
    else:
        if not replay.total:
            messages.info(request, NO_CASE)
    return _back(request, trial, "?origin=corpus")


@require_POST
@project_page(Role.EDITOR)
def trial_replay_cancel(request: AccessRequest, trial: UUID, replay: UUID) -> HttpResponse:
    found = trial_named(request, trial)
    try:
        won = replaying.cancel(access=request.access, trial=found, replay=replay)
    except NotFound as error:
        raise Http404 from error
    messages.info(request, "It is cancelled. What was compared stays." if won else OVER)
    return _back(request, trial)


@require_POST
@project_page(Role.EDITOR)
def trial_cutover_replay(request: AccessRequest, trial: UUID) -> HttpResponse:
    """The corpus by the candidate, the held set too: what the gate asks for."""
    found = trial_named(request, trial)
    try:
        replay = cutover.replay_corpus(access=request.access, trial=found)
    except InputError as error:
        messages.error(request, str(error))
    else:
        if replay.is_over and not replay.total:
            messages.info(request, NO_CASE)
    if request.POST.get("back") == "promote":
        return redirect("trial_promote", project=request.access.project.slug, trial=trial)
    return _back(request, trial)


def _back(request: AccessRequest, trial: UUID, query: str = "") -> HttpResponse:
    return redirect(reverse("trial", args=[request.access.project.slug, trial]) + query)
