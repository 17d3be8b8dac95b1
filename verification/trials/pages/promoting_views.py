"""The cutover and the way back: what they rest on is shown before they are done."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from loomverify.accounts.access import AccessRequest, project_page
from loomverify.accounts.models import Role
from loomverify.errors import Conflict, InputError
from loomverify.guarding import REASON, Objected, Word
from verification.engine.cutover import Gate
from verification.golden.guards.words import NAME
from verification.golden.replays.selectors import progress
from verification.trials import selectors
from verification.trials.figures import figures_of
from verification.trials.models import Trial
from verification.trials.pages.criteria import panel_of
from verification.trials.pages.forms import PromoteForm, ReasonForm
from verification.trials.pages.trial_page import standing_of
from verification.trials.pages.views import trial_named
from verification.trials.replays import cutover as corpus
from verification.trials.services import cutovers, promoting
from verification.trials.services.cutovers import Cutover

ASKED = "Say why it is to judge runs all the same. Nothing was promoted."
PAGE = ["GET", "HEAD", "POST"]


@never_cache
@require_http_methods(PAGE)
@project_page(Role.ADMIN)
def trial_promote(request: AccessRequest, trial: UUID) -> HttpResponse:
    found = trial_named(request, trial)
    if request.method != "POST":
        return _promote_page(request, found, PromoteForm())
    form = PromoteForm(request.POST)
    if not form.is_valid():
        return _promote_page(request, found, form, status=422)
    told = form.cleaned_data
    try:
        promoting.promote(
            access=request.access,
            trial=found,
            reason=told["reason"],
            override=told["override"],
            corpus_reason=told[REASON],
            watch_days=told["watch_days"],
        )
    except Objected:
        form.add_error(REASON, ASKED)
        return _promote_page(request, found, form, status=409)
    except InputError as error:
        form.add_error(None, str(error))
        return _promote_page(request, found, form, status=error.status)
    messages.success(
        request,
        "It is promoted: runs submitted from now on are judged by the new one, and the old one "
        "shadows it.",
    )
    return redirect("trial", project=request.access.project.slug, trial=trial)


def _promote_page(
    request: AccessRequest, trial: Trial, form: PromoteForm, *, status: int = 200
) -> HttpResponse:
    trial.refresh_from_db()
    figures = figures_of(trial)
    gate = selectors.gate_of(trial, figures)
    change, stands_in_the_way = _change(trial)
    running = corpus.under_way(trial)
    replay = running or selectors.cutover_replay(trial)
    words = _words(trial, change, gate)
    shown: dict[str, Any] = {
        "tab": "trials",
        "trial": trial,
        "standing": standing_of(trial),
        "form": form,
        "panel": panel_of(trial, gate, figures, replay),
        "corpus_replay": running,
        "corpus_progress": progress(running) if running else None,
        "change": change,
        "stands_in_the_way": stands_in_the_way,
        "not_compared": cutovers.not_compared(trial, change) if change else (),
        "words": words,
        "is_reason_asked": any(word.objection for word in words),
    }
    is_part = request.headers.get("HX-Target") == "promote-gate"
    part = "#gate" if is_part and "HX-History-Restore-Request" not in request.headers else ""
    shown["is_followed"] = bool(part)
    answer = render(request, f"trials/trial_promote.html{part}", shown, status=status)
    answer["Vary"] = "HX-Target, Cookie"
    return answer


def _change(trial: Trial) -> tuple[Cutover | None, str]:
    """What a promotion changes now; or what stands in its way, in words."""
    try:
        return cutovers.cutover_of(trial), ""
    except Conflict as error:
        return None, str(error)


def _words(trial: Trial, change: Cutover | None, gate: Gate) -> Sequence[Word]:
    """What guards say, where the gate's replay of the corpus does not answer them."""
    if change is None:
        return ()
    is_heard = bool(cutovers.heard_already(trial, change, gate))
    return [word for word in cutovers.words_of(change) if not (is_heard and word.name == NAME)]


@never_cache
@require_http_methods(PAGE)
@project_page(Role.ADMIN)
def trial_roll_back(request: AccessRequest, trial: UUID) -> HttpResponse:
    found = trial_named(request, trial)
    form = ReasonForm(request.POST if request.method == "POST" else None)
    if not form.is_valid():
        return _roll_back_page(request, found, form, status=422 if form.is_bound else 200)
    try:
        promoting.roll_back(access=request.access, trial=found, reason=form.cleaned_data["reason"])
    except InputError as error:
        form.add_error(None, str(error))
        return _roll_back_page(request, found, form, status=error.status)
    messages.success(
        request, "It is rolled back: what judged before judges runs submitted from now on."
    )
    return redirect("trial", project=request.access.project.slug, trial=trial)


def _roll_back_page(
    request: AccessRequest, trial: Trial, form: ReasonForm, *, status: int
) -> HttpResponse:
    shown = {"tab": "trials", "trial": trial, "standing": standing_of(trial), "form": form}
    return render(request, "trials/trial_roll_back.html", shown, status=status)
