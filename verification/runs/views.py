"""Pages of runs. Each reads through selectors and changes through services."""

from __future__ import annotations

import uuid
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.db.models import OuterRef, QuerySet, Subquery
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from loomverify import paging
from loomverify.accounts.access import AccessRequest, project_page
from loomverify.accounts.models import Project, Role
from loomverify.errors import Conflict, InputError
from loomverify.filters import check_choice
from processes.models import Process
from verification.engine.outcome import Outcome, SeverityClass, Verdict
from verification.runs import judge_wording, reverifying, selectors, services, wording
from verification.runs import overview as overview_page
from verification.runs.choice import Choice
from verification.runs.evidence_store import EvidenceLost, read_blob
from verification.runs.exports import attachment
from verification.runs.models import Blob, Evaluation, Run, RunState
from verification.runs.named import file_named, run_named
from verification.runs.overview_judging import COST_HEIGHT, COST_WIDTH
from verification.runs.review_figures import review_figures
from verification.runs.run_page import RunPage
from verification.runs.selectors import OF_A_RULE, Only, ReviewFilter, RunFilters

MAX_LIVE_ROWS = 200
LIST_RELATIONS = ("process", "task")
WHOLE = "runs/run_detail.html"
PARTS = {
    "artefact": "runs/_artefact.html",
    "body": f"{WHOLE}#body",
    "claims": "runs/_run_claims.html",
    "waiting": "runs/_run_waiting.html",
}
SINCE_CHOICES = (("1h", "last hour"), ("24h", "24 hours"), ("7d", "7 days"), ("30d", "30 days"))
ONLY_WORDS = {
    Only.RETRIED: "judge asked again",
    Only.RETRY_RESOLVED: "resolved by asking again",
    Only.FALSE_FAIL: "false-fail candidates",
    Only.OVERTURNED: "overturned by a person",
    Only.APPLIED: "the rule was applied",
    Only.FOUND_RIGHT: "people called the rule right",
    Only.FOUND_WRONG: "people called the rule wrong",
}


@require_safe
@project_page()
def overview(request: AccessRequest) -> HttpResponse:
    project = request.access.project
    processes = list(Process.objects.filter(project=project).order_by("slug"))
    process = next((p for p in processes if p.slug == request.GET.get("process")), None)
    since = check_choice("since", request.GET.get("since", ""), overview_page.WINDOWS)
    window = overview_page.window_of(since or "7d")
    if window is None or (request.GET.get("process") and process is None):
        raise Http404
    figures = overview_page.overview(project, window, processes, process)
    shown: dict[str, Any] = {
        "figures": figures,
        "reviews": review_figures(project, process, now=timezone.now()),
        "processes": processes,
        "process": process,
        "windows": overview_page.WINDOWS,
        "cost_width": COST_WIDTH,
        "cost_height": COST_HEIGHT,
        "is_empty": not figures.total and not overview_page.has_runs(project),
        "base_url": settings.BASE_URL,
    }
    return render(request, "runs/overview.html", shown)


@require_safe
@project_page()
def run_list(request: AccessRequest) -> HttpResponse:
    project = request.access.project
    filters = RunFilters.of(request.GET)
    shown: dict[str, Any] = {
        "filters": filters,
        "runs_url": _runs_url(project),
        **_choices(project, filters),
    }
    try:
        matching = selectors.runs(project, filters)
        rows, cursor = paging.newest_first(_listed(matching), cursor=request.GET.get("cursor", ""))
    except InputError as error:
        return render(request, "runs/run_list.html", {**shown, "error": error}, status=400)
    cap = selectors.SEARCH_COUNT_CAP if filters.q else selectors.COUNT_CAP
    count, capped = selectors.count_capped(matching, cap=cap)
    shown |= {
        "rows": rows,
        "next": cursor,
        "count": count,
        "capped": capped,
        "live": _live(rows, first_page="cursor" not in request.GET),
    }
    return render(request, "runs/run_list.html", shown)


@require_safe
@project_page()
def run_rows(request: AccessRequest) -> HttpResponse:
    """The listed rows that were not over, as they are now; and how many runs came since."""
    project = request.access.project
    try:
        ids = [uuid.UUID(text) for text in request.GET.get("ids", "").split(",") if text]
        after = request.GET.get("after", "")
        found = _listed(selectors.runs(project))
        rows = list(found.filter(uuid__in=ids[:MAX_LIVE_ROWS]))
        newer = 0
        if after:
            newest = selectors.moment("after", after)
            matching = selectors.runs(project, RunFilters.of(request.GET)).filter(
                created_at__gt=newest
            )
            newer, _ = selectors.count_capped(matching, cap=99)
    except (ValueError, InputError) as error:
        raise Http404 from error
    live = {"ids": [row.uuid for row in rows if not row.is_over], "after": after, "newer": newer}
    shown = {"rows": rows, "live": live, "oob": True, "runs_url": _runs_url(project)}
    return render(request, "runs/_rows_live.html", shown)


@require_safe
@project_page()
def run_detail(request: AccessRequest, run: uuid.UUID) -> HttpResponse:
    found = run_named(request, run)
    page = RunPage(found, _evaluation(request, found), Choice.of(request.GET))
    part = PARTS.get(request.headers.get("HX-Target", ""), WHOLE)
    if part == PARTS["body"] and request.GET.get("seen") == page.mark:
        return HttpResponse(status=204)  # nothing is exchanged under somebody's hands
    shown = {
        "page": page,
        "run": found,
        "may_act": request.access.may(Role.AGENT),
        "can_reverify": found.state in (RunState.FINISHED, RunState.ERRORED),
    }
    if request.headers.get("HX-History-Restore-Request"):
        part = WHOLE
    shown["oob"] = part == PARTS["body"]
    answer = render(request, part, shown)
    answer["Vary"] = "HX-Target, Cookie"
    if part == PARTS["waiting"] and not page.is_waiting:
        answer["HX-Refresh"] = "true"  # what it waited for has begun: all of the page is new
    return answer


@require_safe
@project_page()
def run_file_download(request: AccessRequest, run: uuid.UUID, path: str) -> HttpResponse:
    row = file_named(run_named(request, run), path)
    return attachment(_content(row.blob), path)


def _content(blob: Blob) -> bytes:
    try:
        return read_blob(blob)
    except EvidenceLost as error:
        raise Http404 from error


@require_POST
@project_page(Role.AGENT)
def run_cancel(request: AccessRequest, run: uuid.UUID) -> HttpResponse:
    found = run_named(request, run)
    if services.cancel_run(run=found, actor=request.access.actor):
        messages.success(request, "The run is cancelled.")
    else:
        messages.warning(request, "The run was over already.")
    return _back(request, found)


@require_POST
@project_page(Role.AGENT)
def run_reverify(request: AccessRequest, run: uuid.UUID) -> HttpResponse:
    found = run_named(request, run)
    try:
        reverifying.reverify_run(run=found, actor=request.access.actor)
    except Conflict as error:
        messages.warning(request, str(error))
    else:
        messages.success(request, "The run is being verified again.")
    return _back(request, found)


def _back(request: AccessRequest, run: Run) -> HttpResponse:
    return redirect("run_detail", project=request.access.project.slug, run=run.uuid)


def _evaluation(request: AccessRequest, run: Run) -> Evaluation | None:
    asked = request.GET.get("evaluation", "")
    if not asked:
        return run.live_evaluation
    try:
        found = run.evaluations.filter(uuid=uuid.UUID(asked)).first()
    except ValueError as error:
        raise Http404 from error
    if found is None:
        raise Http404
    return found


def _listed(runs: QuerySet[Run]) -> QuerySet[Run]:
    """With what a row shows: of a run in doubt, why it is."""
    live = Evaluation.objects.filter(pk=OuterRef("live_evaluation_id"))
    return runs.select_related(*LIST_RELATIONS).annotate(
        doubt_code=Subquery(live.values("reason_code")[:1])
    )


def _runs_url(project: Project) -> str:
    return reverse("run_list", args=[project.slug])


def _choices(project: Project, filters: RunFilters) -> dict[str, Any]:
    slugs = Process.objects.filter(project=project).order_by("slug").values_list("slug", flat=True)
    return {
        "process_slugs": list(slugs),
        "outcomes": [(value.value, wording.OUTCOMES[value].word) for value in Outcome],
        "verdicts": [value.value for value in Verdict],
        "states": [value.value for value in RunState],
        "reviews": [(value.value, value.value.replace("_", " ")) for value in ReviewFilter],
        "since_choices": SINCE_CHOICES,
        "reason_codes": sorted(wording.REASONS),
        "severity_classes": [value.value for value in SeverityClass],
        "stages": [(stage.value, words.short) for stage, words in judge_wording.STAGES.items()],
        "onlys": [
            (value.value, ONLY_WORDS[value])
            for value in Only
            if filters.rule or value not in OF_A_RULE
        ],
    }


def _live(rows: list[Run], *, first_page: bool) -> dict[str, Any]:
    newest = rows[0].created_at if rows else timezone.now()
    after = newest.isoformat().replace("+00:00", "Z") if first_page else ""
    return {"ids": [row.uuid for row in rows if not row.is_over], "after": after, "newer": 0}
