"""Where a trial is started: two sides, the terms, and past runs at once if wanted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from loomverify.accounts.access import AccessRequest, project_page
from loomverify.accounts.models import Role
from loomverify.errors import InputError
from verification.runs.models import Run, RunState
from verification.trials.models import Trial
from verification.trials.pages.forms import StartForm
from verification.trials.replays import services as replaying
from verification.trials.services import starting
from verification.verifiers.comparing import Line, differing

FIELDS = {
    "baseline_verifier": "baseline",
    "candidate_verifier": "candidate",
    "baseline_process_version": "baseline_version",
    "candidate_process_version": "candidate_version",
    "process": "process",
    "sample_rate": "rate",
    "aa_rate": "aa",
    "budget_usd": "budget",
    "ends_at": "ends",
}
"""Where the service's complaints belong."""


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@project_page(Role.EDITOR)
def trial_start(request: AccessRequest) -> HttpResponse:
    """The form, filled from the address; what differs is told whenever a side is chosen."""
    project = request.access.project
    if request.method == "POST":
        form = StartForm(project, request.POST)
        if form.is_valid() and (trial := _started(request, form)):
            return redirect("trial", project=project.slug, trial=trial.uuid)
        return _start_page(request, form, status=422)
    usual = StartForm(project).usual()
    given = {**usual, "past": "on", **request.GET.dict()}
    if "baseline" in request.GET:
        given["past"] = request.GET.get("past", "")
    elif given["candidate"] == usual["baseline"]:
        given["baseline"] = usual["candidate"]
    return _start_page(request, StartForm(project, given))


def _started(request: AccessRequest, form: StartForm) -> Trial | None:
    access = request.access
    try:
        trial = starting.start(access=access, **form.sides, **form.terms)
    except InputError as error:
        _show(form, error)
        return None
    if form.cleaned_data["past"]:
        _over_past(request, form, trial)
    return trial


def _over_past(request: AccessRequest, form: StartForm, trial: Trial) -> None:
    replay = replaying.start_past(
        access=request.access,
        trial=trial,
        since=form.since_moment,
        limit=form.cleaned_data["limit"],
    )
    if not replay.total:
        messages.info(request, "No finished run fits yet. Runs that finish from now on are taken.")


def _show(form: StartForm, error: InputError) -> None:
    for issue in error.issues:
        name = FIELDS.get(str(issue.loc[-1]) if issue.loc else "")
        form.add_error(name, issue.msg)


def _start_page(request: AccessRequest, form: StartForm, *, status: int = 200) -> HttpResponse:
    is_valid = form.is_valid() if status == 200 else False
    part = "#differs" if request.headers.get("HX-Target") == "differs" else ""
    shown: dict[str, Any] = {
        "tab": "trials",
        "form": form,
        "differing": _differing(form),
        "same": _same(form),
        "past": _past_count(request, form) if is_valid and form.cleaned_data["past"] else None,
    }
    return render(request, f"trials/trial_start.html{part}", shown, status=status)


def _differing(form: StartForm) -> Sequence[Line]:
    old = form.verifiers.get(form.data.get("baseline", ""))
    new = form.verifiers.get(form.data.get("candidate", ""))
    return differing(old, new) if old and new else ()


def _same(form: StartForm) -> str:
    """Why there is nothing to compare, in words; '' where there is something."""
    told = form.data
    old = form.verifiers.get(told.get("baseline", ""))
    new = form.verifiers.get(told.get("candidate", ""))
    if told.get("baseline_version", "") != told.get("candidate_version", "") or not (old and new):
        return ""
    issue = starting.same_verifiers(old, new)
    return issue.msg if issue else ""


def _past_count(request: AccessRequest, form: StartForm) -> int:
    """Past runs that it would be taken over."""
    rows = Run.objects.filter(
        project=request.access.project, state=RunState.FINISHED, finished_at__isnull=False
    )
    sides = form.sides
    named = (sides["candidate_process_version"], sides["baseline_process_version"])
    process = sides["process"] or next((one.process for one in named if one), None)
    if process:
        rows = rows.filter(process=process)
    if since := form.since_moment:
        rows = rows.filter(finished_at__gte=since)
    return int(rows.order_by()[: form.cleaned_data["limit"]].count())
