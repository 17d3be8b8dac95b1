"""Pages of replays: all of them beside each other, one, and how they went over time."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.db.models import F, Func
from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe
from django_htmx.http import reswap, retarget

from loomverify.accounts.access import AccessRequest, project_page
from loomverify.accounts.models import Project, Role
from loomverify.errors import Conflict, NotFound
from processes.models import Process
from processes.views.access import number_in
from verification.engine.golden.standing import Change
from verification.golden.models import GoldenCase, Replay
from verification.golden.replays import exports, selectors, services
from verification.golden.replays.grid import GridFilters, grid
from verification.golden.replays.page import Narrowed, replay_page, same_again
from verification.golden.replays.recent import recent
from verification.golden.replays.shown import MARKS
from verification.golden.replays.trend import trend

MAX_CHOICES = 200


@require_safe
@project_page()
def golden_replays(request: AccessRequest) -> HttpResponse:
    """Cases down, verifier versions and states of the processes across."""
    project, filters = request.access.project, GridFilters.of(request.GET)
    shown: dict[str, Any] = {
        "tab": "replays",
        "filters": filters,
        "grid": grid(project, filters, page=number_in(request.GET.get("page", "")) or 1),
        "recent": recent(project),
        "processes": _processes(project),
        "tags": known_tags(project),
        "base_url": settings.BASE_URL,
        "changes": [(change.value, MARKS[change.value]) for change in Change],
    }
    return render(request, "golden/replays.html", shown)


@require_safe
@project_page()
def golden_trend(request: AccessRequest) -> HttpResponse:
    project = request.access.project
    process = request.GET.get("process", "").replace("\0", "")
    shown = {
        "tab": "replays",
        "trend": trend(project, process),
        "process": process,
        "processes": _processes(project),
    }
    return render(request, "golden/trend.html", shown)


@require_safe
@project_page()
def golden_replay(request: AccessRequest, replay: UUID) -> HttpResponse:
    """Asked every second while it runs; the first answer after its end is all of the page."""
    found = _replay(request, replay)
    narrowed = Narrowed.of(request.GET)
    page = replay_page(found, narrowed, number=number_in(request.GET.get("page", "")) or 1)
    shown: dict[str, Any] = {
        "tab": "replays",
        "replay": found,
        "narrowed": narrowed,
        "page": page,
        "again": same_again(page),
    }
    is_part = request.headers.get("HX-Target") == "replay-progress"
    if not is_part or request.headers.get("HX-History-Restore-Request"):
        return render(request, "golden/replay.html", shown)
    if not found.is_over:
        return render(request, "golden/replay.html#progress", shown)
    answer = render(request, "golden/replay.html#body", shown)
    return reswap(retarget(answer, "#replay-body"), "outerHTML")


@require_POST
@project_page(Role.EDITOR)
def golden_replay_cancel(request: AccessRequest, replay: UUID) -> HttpResponse:
    won = services.cancel(access=request.access, replay=replay)
    if won:
        messages.success(request, "It is cancelled.")
    else:
        messages.info(request, "It was over already.")
    return redirect("golden_replay", project=request.access.project.slug, replay=replay)


@require_safe
@project_page()
def golden_replay_export(request: AccessRequest, replay: UUID, name: str) -> HttpResponse:
    found = _replay(request, replay)
    try:
        if name == "junit.xml":
            answer = HttpResponse(exports.junit(found), content_type="application/xml")
        elif name == "report.json":
            answer = JsonResponse(exports.report(found), json_dumps_params={"ensure_ascii": False})
        else:
            raise Http404
    except Conflict as error:
        messages.warning(request, str(error))
        return redirect("golden_replay", project=request.access.project.slug, replay=replay)
    answer["Content-Disposition"] = f'attachment; filename="replay-{found.uuid.hex[:8]}-{name}"'
    return answer


def _replay(request: AccessRequest, replay: UUID) -> Replay:
    try:
        return selectors.replay_of(request.access.project, replay)
    except NotFound as error:
        raise Http404 from error


def _processes(project: Project) -> list[str]:
    rows = Process.objects.filter(project=project).order_by("slug")
    return list(rows.values_list("slug", flat=True)[:MAX_CHOICES])


def known_tags(project: Project) -> list[str]:
    rows = GoldenCase.objects.filter(project=project, retired_at=None)
    tags = rows.annotate(tag=Func(F("tags"), function="unnest")).order_by("tag")
    return list(tags.values_list("tag", flat=True).distinct()[:MAX_CHOICES])
