"""Shadow trials: all of them, one, and one over time. Reading changes nothing."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.conf import settings
from django.http import Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe
from django_htmx.http import HttpResponseClientRefresh

from loomverify.accounts.access import AccessRequest, project_page
from loomverify.errors import InputError, NotFound
from loomverify.filters import check_choice
from processes.views.access import number_in
from verification.runs.exporting.answers import streamed
from verification.trials import differences, selectors
from verification.trials.filters import ComparisonFilters
from verification.trials.judging.wording import FINER
from verification.trials.models import Trial, TrialState
from verification.trials.pages import exports
from verification.trials.pages.comparison_rows import (
    WORDS,
    chips_of,
    comparison_list,
    narrowed_words,
    newer_count,
)
from verification.trials.pages.forms import PastForm
from verification.trials.pages.listing import trial_list, usual_pair
from verification.trials.pages.over_time import over_time
from verification.trials.pages.trial_page import ORIGINS, live_of, standing_of

PAGE, PART = "trials/trial.html", "trials/trial.html#live"
EXPORTS = {"csv": "text/csv; charset=utf-8", "json": "application/json"}


@require_safe
@project_page()
def trials(request: AccessRequest) -> HttpResponse:
    project = request.access.project
    state = check_choice("state", request.GET.get("state", ""), TrialState.values)
    shown: dict[str, Any] = {
        "tab": "trials",
        "state": state,
        "states": TrialState.choices,
        "base_url": settings.BASE_URL,
    }
    try:
        shown["listed"] = trial_list(project, state=state, cursor=request.GET.get("cursor", ""))
    except InputError as error:
        return render(request, "trials/trials.html", {**shown, "error": error}, status=error.status)
    if not shown["listed"].rows:
        shown["pair"] = usual_pair(project)
    return render(request, "trials/trials.html", shown)


@require_safe
@project_page()
def trial(request: AccessRequest, trial: UUID) -> HttpResponse:
    """Its figures are asked for again while anything moves; the list says how many came since."""
    found = trial_named(request, trial)
    filters = ComparisonFilters.of(request.GET).checked()
    is_part = request.headers.get("HX-Target") == "trial-live"
    if is_part and "HX-History-Restore-Request" not in request.headers:
        answer = _part(request, found, filters)
    else:
        answer = _page(request, found, filters)
    answer["Vary"] = "HX-Target, Cookie"
    return answer


def _part(request: AccessRequest, trial: Trial, filters: ComparisonFilters) -> HttpResponse:
    after = number_in(request.GET.get("newest", ""))
    newer = 0 if after is None else newer_count(trial, filters, after)
    if newer and not after:
        return HttpResponseClientRefresh()
    shown = {
        "trial": trial,
        "filters": filters,
        "live": live_of(trial, filters.origin),
        "newest": request.GET.get("newest", ""),
        "newer": newer,
        "oob": True,
    }
    return render(request, PART, shown)


def _page(request: AccessRequest, trial: Trial, filters: ComparisonFilters) -> HttpResponse:
    try:
        listed = comparison_list(trial, filters, request.GET.get("cursor", ""))
    except InputError as error:
        shown = {"tab": "trials", "trial": trial, "error": error}
        return render(request, PAGE, shown, status=error.status)
    live = live_of(trial, filters.origin)
    origins = ORIGINS.get(filters.origin, ())
    shown = {
        "tab": "trials",
        "trial": trial,
        "filters": filters,
        "standing": standing_of(trial),
        "live": live,
        "listed": listed,
        "chips": chips_of(live.figures),
        "narrowed": narrowed_words(filters),
        "rules": differences.differences_by_rule(trial, origins),
        "kinds": differences.differences_by_kind(trial, origins),
        "acknowledged": list(selectors.acknowledgements(trial)),
        "newest": listed.newest if not request.GET.get("cursor") else "",
        "past_form": PastForm(),
        "finer_choices": FINER.items(),
        "judged_choices": WORDS["judged"].items(),
        "is_corpus": filters.origin == "corpus",
    }
    return render(request, PAGE, shown)


@require_safe
@project_page()
def trial_over_time(request: AccessRequest, trial: UUID) -> HttpResponse:
    found = trial_named(request, trial)
    shown = {"tab": "trials", "trial": found, "chart": over_time(found)}
    return render(request, "trials/over_time.html", shown)


@require_safe
@project_page()
def trial_export(request: AccessRequest, trial: UUID, kind: str) -> HttpResponseBase:
    """What the filters find, as it stands in the list."""
    found = trial_named(request, trial)
    if kind not in EXPORTS:
        raise Http404
    table = exports.table_of(found, ComparisonFilters.of(request.GET).checked(), kind)
    return streamed(request, table, suffix=kind, kind=EXPORTS[kind])


def trial_named(request: AccessRequest, trial: UUID) -> Trial:
    try:
        return selectors.trial_of(request.access.project, trial)
    except NotFound as error:
        raise Http404 from error
