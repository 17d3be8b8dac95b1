"""What people choose about replays: what the next one runs over, and when one runs by itself."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from loomverify.accounts.access import AccessRequest, project_page
from loomverify.accounts.models import Role
from loomverify.errors import InputError
from verification.golden.replays import notices, schedule, services
from verification.golden.replays.forms import ScheduleForm, StartForm
from verification.golden.replays.price import Price, price
from verification.golden.replays.views import known_tags
from verification.reviews.notices import mailing

PAGE = ["GET", "HEAD", "POST"]


@never_cache
@require_http_methods(PAGE)
@project_page(Role.EDITOR)
def golden_replay_start(request: AccessRequest) -> HttpResponse:
    """The form, filled from the address; its price again whenever something is chosen."""
    project = request.access.project
    if request.method == "POST":
        form = StartForm(project, request.POST)
        if form.is_valid() and (started := _started(request, form)):
            return started
        return _start_page(request, form, status=422)
    usual = StartForm(project)
    given = {"verifier": next(iter(usual.versions), ""), **request.GET.dict()}
    process = usual.processes.get(request.GET.get("process", ""))
    if process and process.published:
        given.setdefault("over", f"{process.slug}:")
    return _start_page(request, StartForm(project, given))


def _started(request: AccessRequest, form: StartForm) -> HttpResponse | None:
    access, chosen = request.access, form.chosen
    try:
        replay = services.start(
            project=access.project,
            actor=access.actor,
            verifier=form.verifier_version,
            process=chosen.process,
            process_version=chosen.version,
            tags=form.cleaned_data["tags"],
            is_live=form.cleaned_data["live"],
            with_canary=form.cleaned_data["canary"],
        )
    except InputError as error:
        form.add_error(None, str(error))
        return None
    return redirect("golden_replay", project=access.project.slug, replay=replay.uuid)


def _start_page(request: AccessRequest, form: StartForm, *, status: int = 200) -> HttpResponse:
    part = "#price" if request.headers.get("HX-Target") == "price" else ""
    shown = {
        "tab": "replays",
        "form": form,
        "price": _price(request, form) if form.is_valid() else None,
        "tags": known_tags(request.access.project),
    }
    return render(request, f"golden/replay_start.html{part}", shown, status=status)


def _price(request: AccessRequest, form: StartForm) -> Price:
    return price(
        request.access.project,
        process=form.chosen.process,
        tags=form.cleaned_data["tags"],
        with_canary=form.cleaned_data["canary"],
        now=timezone.now(),
    )


@never_cache
@require_http_methods(PAGE)
@project_page()
def golden_schedule(request: AccessRequest) -> HttpResponse:
    access, is_sent = request.access, request.method == "POST"
    if is_sent and not access.is_admin:
        raise PermissionDenied("Admins choose when the corpus is replayed.")
    row = schedule.schedule_of(access.project)
    chosen = {"is_enabled": row.is_enabled, "hour": row.hour, "tags": " ".join(row.tags)}
    form = ScheduleForm(request.POST if is_sent else None, initial=chosen)
    if is_sent and form.is_valid() and _is_changed(request, form):
        messages.success(request, "Saved.")
        return redirect("golden_schedule", project=access.project.slug)
    shown: dict[str, Any] = {
        "tab": "schedule",
        "schedule": row,
        "form": form,
        "is_told": notices.is_told(access),
        "is_set_up": mailing.is_set_up(),
    }
    return render(request, "golden/schedule.html", shown, status=422 if is_sent else 200)


def _is_changed(request: AccessRequest, form: ScheduleForm) -> bool:
    try:
        schedule.change(access=request.access, **form.cleaned_data)
    except InputError as error:
        form.add_error(None, str(error))
        return False
    return True


@require_POST
@project_page()
def golden_schedule_mail(request: AccessRequest) -> HttpResponse:
    notices.choose(access=request.access, is_told=request.POST.get("wanted") == "on")
    messages.success(request, "Saved.")
    return redirect("golden_schedule", project=request.access.project.slug)
