"""What a reviewer does on the page of a review.

Each answers a script with JSON or with the page's part, and everybody else with a page to go to.
"""

from __future__ import annotations

import uuid
from datetime import datetime

from django.contrib import messages
from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST

from loomverify.accounts.access import AccessRequest, project_page
from loomverify.accounts.models import Role
from loomverify.errors import Conflict, InputError, NotFound
from loomverify.returning import back
from verification.engine.outcome import Outcome
from verification.reviews import cases, deciding
from verification.reviews.deciding import Said
from verification.reviews.item.item_page import ItemPage, item_page
from verification.reviews.item.views import PARTS, filters_of, found, shown
from verification.reviews.models import Decision
from verification.reviews.queue import claims
from verification.reviews.queue.page import queue_url
from verification.runs import wording
from verification.runs.models import Review
from verification.runs.selectors import waiting_words

FINDING = "finding-"
REFUSALS = {
    "review.held": "Somebody else took it meanwhile.",
    "review.changed": "The run was verified again meanwhile.",
}
"""What a reviewer needs to know, by the refusal's code; of others, their own words."""
STAGES = {"first": True, "confirm": False}
MAX_WITHOUT = 50


@require_POST
@project_page(Role.REVIEWER)
def review_claim(request: AccessRequest, review: uuid.UUID) -> HttpResponse:
    try:
        claims.claim(access=request.access, review=review)
    except InputError as error:
        return _refused(request, error, review)
    return redirect(_address(request, review))


@require_POST
@project_page(Role.REVIEWER)
def review_heartbeat(request: AccessRequest, review: uuid.UUID) -> HttpResponse:
    try:
        held = claims.claim(access=request.access, review=review)
    except InputError as error:
        return _refused(request, error, review)
    return JsonResponse({"review": str(review), **_lease(held)})


@require_POST
@project_page(Role.REVIEWER)
def review_release(request: AccessRequest, review: uuid.UUID) -> HttpResponse:
    """Give it back, unless it was taken anew since the page that says so had it."""
    known = request.POST.get("until", "")
    until = _moment(known)
    if known and until is None:
        return HttpResponse(status=204)
    try:
        claims.release(access=request.access, review=review, until=until)
    except InputError as error:
        return _refused(request, error, review)
    if _is_script(request) or known:
        return HttpResponse(status=204)
    return _back(request)


@require_POST
@project_page(Role.REVIEWER)
def review_skip(request: AccessRequest, review: uuid.UUID) -> HttpResponse:
    try:
        claims.skip(access=request.access, review=review)
    except InputError as error:
        return _refused(request, error, review)
    if _is_script(request):
        return HttpResponse(status=204)
    return _back(request) if "next" in request.POST else _next(request, review)


@require_POST
@project_page(Role.REVIEWER)
def review_decide(request: AccessRequest, review: uuid.UUID) -> HttpResponse:
    try:
        _refuse_another(request)
        decision = deciding.decide(access=request.access, review=review, said=_said(request))
    except InputError as error:
        return _refused(request, error, review)
    if not decision.outcome:  # said blind: now the verdict is shown
        if _is_script(request):
            return render(request, PARTS["item"], shown(found(request, review)))
        return redirect(_address(request, review))
    if _is_script(request):
        return _told(request, review, decision=str(decision.uuid))
    messages.success(
        request,
        f"Decided as {_word(decision)}. You can undo it for {deciding.UNDO_SECONDS} seconds.",
    )
    return _next(request, review)


@require_POST
@project_page(Role.REVIEWER)
def review_undo(request: AccessRequest) -> HttpResponse:
    try:
        _refuse_another(request)
        named = request.POST.get("decision", "")
        decision = uuid.UUID(named) if named else None
        undone = deciding.undo(access=request.access, decision=decision)
    except ValueError as error:
        raise Http404 from error
    except InputError as error:
        return _refused(request, error)
    address = _address(request, undone.review.uuid)
    if not undone.is_erased:
        address += ("&" if "?" in address else "?") + "change=1"
    if _is_script(request):
        return _told(request, undone.review.uuid, url=address, is_erased=undone.is_erased)
    said = "It is undone." if undone.is_erased else "It has taken effect. You can change it."
    messages.success(request, said)
    return redirect(address)


@require_POST
@project_page(Role.REVIEWER)
def review_case(request: AccessRequest, review: uuid.UUID) -> HttpResponse:
    try:
        is_case = cases.toggle_draft(access=request.access, review=review)
    except InputError as error:
        return _refused(request, error, review)
    if _is_script(request):
        return JsonResponse({"is_case": is_case})
    return redirect(_address(request, review))


@require_POST
@project_page(Role.REVIEWER)
def review_prefetch(request: AccessRequest) -> HttpResponse:
    """Take the next one, and show it as it will be shown. 204: there is none."""
    item = _take_next(request, _without(request))
    if item is None:
        return HttpResponse(status=204)
    return render(request, PARTS["item"], shown(item))


def _take_next(request: AccessRequest, without: list[uuid.UUID]) -> ItemPage | None:
    filters = filters_of(request)
    taken = claims.claim_next(access=request.access, filters=filters, without=without)
    return item_page(request.access, taken.uuid, filters=filters) if taken else None


def _next(request: AccessRequest, review: uuid.UUID) -> HttpResponse:
    taken = claims.claim_next(access=request.access, filters=filters_of(request), without=[review])
    if taken is not None:
        return redirect(_address(request, taken.uuid))
    messages.success(request, "Nothing is left that you can take.")
    return redirect(queue_url(request.access))


def _said(request: AccessRequest) -> Said:
    given = request.POST.get("outcome", "")
    try:
        outcome = Outcome(given) if given else None
    except ValueError as error:
        raise InputError("outcome.invalid", "This is no outcome.", loc=("outcome",)) from error
    findings = {
        name.removeprefix(FINDING): value == "right"
        for name, value in request.POST.items()
        if name.startswith(FINDING) and value in ("right", "wrong")
    }
    return Said(
        outcome=outcome,
        comment=request.POST.get("comment", ""),
        findings=findings,
        is_first=STAGES.get(request.POST.get("stage", "")),
        evaluation=_uuid(request.POST.get("evaluation", "")),
        anew=not request.POST.get("stage"),  # the form that changes a decision has none
    )


def _uuid(text: str) -> uuid.UUID | None:
    try:
        return uuid.UUID(text) if text else None
    except ValueError as error:
        raise InputError("evaluation.invalid", "This names no evaluation.") from error


def _refuse_another(request: AccessRequest) -> None:
    """What one person said is never sent as another's, who signed in meanwhile."""
    said_by = request.POST.get("person", "")
    if said_by and said_by != str(request.user.pk):
        raise Conflict("review.not_you", "Somebody else is signed in now.")


def _without(request: AccessRequest) -> list[uuid.UUID]:
    try:
        return [uuid.UUID(one) for one in request.POST.getlist("without")[:MAX_WITHOUT]]
    except ValueError as error:
        raise Http404 from error


def _told(request: AccessRequest, review: uuid.UUID, **more: str | bool) -> JsonResponse:
    waiting = waiting_words(request.access.project)
    return JsonResponse({"review": str(review), "waiting": waiting, **more})


def _lease(held: Review) -> dict[str, str | int]:
    until = held.lease_until or timezone.now()
    seconds = int((until - timezone.now()).total_seconds())
    return {"until": until.isoformat(), "seconds": max(0, seconds)}


def _moment(text: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo else None


def _refused(
    request: AccessRequest, error: InputError, review: uuid.UUID | None = None
) -> HttpResponse:
    words = REFUSALS.get(error.code, str(error))
    if _is_script(request):
        return JsonResponse({"code": error.code, "message": words}, status=error.status)
    if isinstance(error, NotFound) and review is not None:
        raise Http404 from error
    messages.error(request, words)
    return redirect(_address(request, review)) if review else _back(request)


def _is_script(request: AccessRequest) -> bool:
    return request.headers.get("Accept", "").startswith("application/json")


def _address(request: AccessRequest, review: uuid.UUID) -> str:
    where = reverse("review_item", args=[request.access.project.slug, review])
    query = request.GET.urlencode()
    return f"{where}?{query}" if query else where


def _back(request: AccessRequest) -> HttpResponse:
    return back(request, queue_url(request.access))


def _word(decision: Decision) -> str:
    return wording.OUTCOMES[Outcome(decision.outcome)].word
