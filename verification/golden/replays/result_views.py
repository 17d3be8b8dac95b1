"""One case in one replay, and what editors make of it."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from loomverify.accounts.access import AccessRequest, project_page
from loomverify.accounts.models import Role
from loomverify.errors import InputError, NotFound
from verification.golden.cases.services import MAX_REASON_CHARS, accept
from verification.golden.models import ReplayResult
from verification.golden.replays import selectors
from verification.golden.replays.recording import record_anew
from verification.golden.replays.side_by_side import ResultPage

NO_REASON = "Say why what came is right: whoever looks at this later has nothing else."


@require_safe
@project_page()
def golden_result(request: AccessRequest, replay: UUID, case: UUID) -> HttpResponse:
    return _page(request, _result(request, replay, case))


@require_POST
@project_page(Role.EDITOR)
def golden_accept(request: AccessRequest, replay: UUID, case: UUID) -> HttpResponse:
    found = _result(request, replay, case)
    reason = request.POST.get("reason", "").strip()[:MAX_REASON_CHARS]
    if not reason:
        return _page(request, found, reason_error=NO_REASON)
    try:
        version = accept(access=request.access, result=found, reason=reason)
    except InputError as error:
        return _page(request, found, reason=reason, reason_error=str(error))
    messages.success(request, f"Accepted: the case expects this from v{version.number} on.")
    return _back(request, replay, case)


@require_POST
@project_page(Role.EDITOR)
def golden_record_anew(request: AccessRequest, replay: UUID, case: UUID) -> HttpResponse:
    found = _result(request, replay, case)
    reason = request.POST.get("reason", "").strip()[:MAX_REASON_CHARS]
    try:
        version = record_anew(access=request.access, result=found, reason=reason)
    except InputError as error:
        messages.error(request, str(error))
    else:
        messages.success(
            request, f"Recorded: these answers are the case's from v{version.number} on."
        )
    return _back(request, replay, case)


def _result(request: AccessRequest, replay: UUID, case: UUID) -> ReplayResult:
    try:
        return selectors.result_of(selectors.replay_of(request.access.project, replay), case)
    except NotFound as error:
        raise Http404 from error


def _page(
    request: AccessRequest, found: ReplayResult, *, reason: str = "", reason_error: str = ""
) -> HttpResponse:
    shown = {
        "tab": "replays",
        "page": ResultPage(found),
        "result": found,
        "replay": found.replay,
        "reason": reason,
        "reason_error": reason_error,
    }
    return render(request, "golden/result.html", shown, status=422 if reason_error else 200)


def _back(request: AccessRequest, replay: UUID, case: UUID) -> HttpResponse:
    return redirect("golden_result", project=request.access.project.slug, replay=replay, case=case)
