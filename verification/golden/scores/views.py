"""The pages of scores and of coverage, each of one replay."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from loomverify.accounts.access import AccessRequest, project_page
from loomverify.accounts.models import Project
from loomverify.errors import NotFound
from verification.golden.models import Replay, ReplayState
from verification.golden.replays import selectors
from verification.golden.scores.coverage_page import coverage_page
from verification.golden.scores.page import scores_page


@require_safe
@project_page()
def golden_scores(request: AccessRequest) -> HttpResponse:
    replay = _replay(request)
    shown: dict[str, Any] = {"tab": "scores", "replay": replay}
    if replay:
        shown["page"] = scores_page(replay)
    return render(request, "golden/scores.html", shown)


@require_safe
@project_page()
def golden_coverage(request: AccessRequest) -> HttpResponse:
    replay = _replay(request)
    shown: dict[str, Any] = {"tab": "coverage", "replay": replay}
    if replay:
        shown["page"] = coverage_page(request.access.project, replay)
    return render(request, "golden/coverage.html", shown)


def _replay(request: AccessRequest) -> Replay | None:
    """The one that is named, else the last over the whole corpus by what judges runs."""
    named, project = request.GET.get("replay", ""), request.access.project
    if not named:
        return _last(project)
    try:
        found = selectors.replay_of(project, UUID(named))
    except (ValueError, NotFound) as error:
        raise Http404 from error
    if found.state != ReplayState.FINISHED:
        raise Http404
    return found


def _last(project: Project) -> Replay | None:
    rows = selectors.replays(project).filter(state=ReplayState.FINISHED, total__gt=0, tags=[])
    return rows.filter(is_live_line=True, process=None).first() or rows.first()
