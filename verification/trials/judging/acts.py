"""What people do about comparisons on their pages.

Judging answers a script with JSON or with the page's part, and everybody else with a page to go to.
"""

from __future__ import annotations

import uuid

from django.contrib import messages
from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST

from loomverify.accounts.access import AccessRequest, project_page
from loomverify.accounts.models import Role
from loomverify.errors import Conflict, InputError, NotFound
from loomverify.returning import back
from verification.trials.judging import acknowledging, services
from verification.trials.judging.blind_page import blind_page
from verification.trials.judging.blinding import is_old_first, said_of
from verification.trials.judging.views import (
    PART,
    page_named,
    shown,
    shown_comparison,
    trial_named,
    uuid_of,
)
from verification.trials.judging.walking import Wish, next_of, part_of, progress_of
from verification.trials.judging.wording import ANSWERS
from verification.trials.models import Trial

MAX_WITHOUT = 50
TAKEN_BACK = {
    True: "It is taken back. You can judge it again.",
    False: "It is taken back. You have seen the sides since: somebody else has to judge it.",
    None: "You have said nothing of this one.",
}


@require_POST
@project_page(Role.REVIEWER)
def comparison_said(
    request: AccessRequest, trial: uuid.UUID, comparison: uuid.UUID
) -> HttpResponse:
    row, answer = page_named(request, trial, comparison).row, request.POST.get("answer", "")
    old_first = is_old_first(services.reviewer_of(request.access.actor), row)
    try:
        _refuse_another(request)
        services.judge(
            access=request.access,
            comparison=row,
            said=said_of(answer, old_first=old_first),
            is_old_first=old_first,
            note=request.POST.get("note", ""),
        )
    except InputError as error:
        return _refused(request, error, _address(request, trial, comparison))
    if _is_script(request):
        part = part_of(row)
        progress = progress_of(row.trial, Wish.of(request.GET), part)
        return JsonResponse({"part": part, "judged": progress.judged, "total": progress.total})
    messages.success(request, f"{ANSWERS[answer]}: kept. You can take it back.")
    return redirect(_walk(request, row.trial, after=comparison))


@require_POST
@project_page(Role.REVIEWER)
def trial_judge_next(request: AccessRequest, trial: uuid.UUID) -> HttpResponse:
    """The next one, as it will be shown. 204: nothing else waits."""
    found, wish = trial_named(request, trial), Wish.of(request.GET)
    without = [one for one in map(uuid_of, request.POST.getlist("without")[:MAX_WITHOUT]) if one]
    row = next_of(
        found,
        services.reviewer_of(request.access.actor),
        wish,
        after=uuid_of(request.POST.get("after", "")),
        without=without,
    )
    page = blind_page(request.access, trial, row.uuid, wish=wish) if row else None
    if page is None:
        return HttpResponse(status=204)
    return render(request, PART, shown(page))


@require_POST
@project_page(Role.REVIEWER)
def trial_judge_undo(request: AccessRequest, trial: uuid.UUID) -> HttpResponse:
    found = trial_named(request, trial)
    try:
        _refuse_another(request)
        undone = services.undo(access=request.access, trial=found)
    except InputError as error:
        return _refused(request, error, _walk(request, found))
    name = "comparison_judge" if undone.is_blind else "comparison_detail"
    where = [request.access.project.slug, found.uuid, undone.comparison.uuid]
    address = reverse(name, args=where) + Wish.of(request.GET).query
    if _is_script(request):
        return JsonResponse(
            {"url": address, "is_blind": undone.is_blind, "message": TAKEN_BACK[undone.is_blind]}
        )
    messages.success(request, TAKEN_BACK[undone.is_blind])
    return redirect(address)


@require_POST
@project_page(Role.REVIEWER)
def comparison_reveal(
    request: AccessRequest, trial: uuid.UUID, comparison: uuid.UUID
) -> HttpResponse:
    services.reveal(access=request.access, comparison=page_named(request, trial, comparison).row)
    return redirect(_address(request, trial, comparison))


@require_POST
@project_page(Role.REVIEWER)
def comparison_take_back(
    request: AccessRequest, trial: uuid.UUID, comparison: uuid.UUID
) -> HttpResponse:
    row = page_named(request, trial, comparison).row
    is_blind = services.withdraw(access=request.access, comparison=row)
    messages.success(request, TAKEN_BACK[is_blind])
    return redirect(_address(request, trial, comparison))


@require_POST
@project_page(Role.REVIEWER)
def comparison_note(
    request: AccessRequest, trial: uuid.UUID, comparison: uuid.UUID
) -> HttpResponse:
    page, text = page_named(request, trial, comparison), request.POST.get("note", "")
    try:
        services.add_note(access=request.access, comparison=page.row, text=text)
    except InputError as error:
        return shown_comparison(request, page, status=422, note=text, note_error=str(error))
    return redirect(_address(request, trial, comparison) + "#notes")


@require_POST
@project_page(Role.EDITOR)
def comparison_acknowledge(
    request: AccessRequest, trial: uuid.UUID, comparison: uuid.UUID
) -> HttpResponse:
    page, reason = page_named(request, trial, comparison), request.POST.get("reason", "")
    days = request.POST.get("days", "")
    try:
        acknowledging.acknowledge(
            access=request.access,
            trial=page.trial,
            kind=page.row.kind,
            reason=reason,
            days=int(days) if days.isdecimal() and len(days) < 5 else 0,
        )
    except InputError as error:
        return shown_comparison(request, page, status=422, reason=reason, reason_error=str(error))
    messages.success(request, f"Acknowledged for {days} days. It counts all the same.")
    return redirect(_address(request, trial, comparison))


@require_POST
@project_page(Role.EDITOR)
def acknowledgement_end(request: AccessRequest, trial: uuid.UUID, number: int) -> HttpResponse:
    found = trial_named(request, trial)
    try:
        acknowledging.withdraw(access=request.access, trial=found, number=number)
    except NotFound as error:
        raise Http404 from error
    messages.success(request, "It is looked at again.")
    seen = uuid_of(request.POST.get("comparison", ""))
    return back(request, _address(request, trial, seen) if seen else _walk(request, found))


def _refuse_another(request: AccessRequest) -> None:
    """What one person said is never taken for another's, who sees the sides in another order."""
    said_by = request.POST.get("person", "")
    if said_by and said_by != str(request.user.pk):
        raise Conflict("comparison.not_you", "Somebody else is signed in now.")


def _refused(request: AccessRequest, error: InputError, where: str) -> HttpResponse:
    if _is_script(request):
        return JsonResponse({"code": error.code, "message": str(error)}, status=error.status)
    messages.error(request, str(error))
    return redirect(where)


def _is_script(request: AccessRequest) -> bool:
    return request.headers.get("Accept", "").startswith("application/json")


def _address(request: AccessRequest, trial: uuid.UUID, comparison: uuid.UUID) -> str:
    where = [request.access.project.slug, trial, comparison]
    return reverse("comparison_detail", args=where)


def _walk(request: AccessRequest, trial: Trial, *, after: uuid.UUID | None = None) -> str:
    query = Wish.of(request.GET).query
    if after:
        query += f"{'&' if query else '?'}after={after}"
    return reverse("trial_judge", args=[request.access.project.slug, trial.uuid]) + query
