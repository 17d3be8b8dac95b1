"""Reviews whose leading finding is the same, and deciding them together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_safe

from loomverify.accounts.access import AccessRequest, project_page
from loomverify.errors import InputError
from verification.engine.outcome import Outcome, Verdict
from verification.reviews import deciding, saying
from verification.reviews.deciding import UNDO_SECONDS, Said, Together
from verification.reviews.queue import groups, selectors
from verification.reviews.queue.page import queue_url
from verification.reviews.queue.selectors import QueueFilters
from verification.runs import wording
from verification.runs.models import Review

OUTCOMES = [(outcome.value, badge) for outcome, badge in wording.OUTCOMES.items()]
RIGHT = {"right": True, "wrong": False}
MAX_TOLD = 5
REFUSALS = {
    "review.held": "somebody else has it",
    "review.over": "it waits no longer",
    "review.decided_by_you": "you have decided it",
    "review.one_by_one": "it is decided alone",
    "review.unknown": "there is no such review",
    "review.changed": "it was verified again meanwhile",
    "finding.unknown": "it has this finding no more",
    "outcome.required": "the verifier came to no outcome: choose one",
    "review.unlike": "it is not in this group any more",
}


@require_safe
@project_page()
def review_groups(request: AccessRequest) -> HttpResponse:
    access = request.access
    filters = QueueFilters.of(request.GET)
    found = selectors.groups(access.project, filters, user=access.actor.user)
    shown = {"groups": found, "filters": filters, "queue_url": queue_url(access)}
    return render(request, "reviews/groups.html", shown)


@require_http_methods(["GET", "HEAD", "POST"])
@project_page()
def review_group(request: AccessRequest, fingerprint: str) -> HttpResponse:
    """The group; posted, what was ticked of it is decided."""
    try:
        if request.method == "POST":
            return _decide(request, fingerprint)
        return _page(request, fingerprint)
    except InputError as error:
        raise Http404 from error


def _decide(request: AccessRequest, fingerprint: str) -> HttpResponse:
    access = request.access
    if not access.is_reviewer:
        raise PermissionDenied("Reviewers decide.")
    ticked = _ticked(request)
    if not ticked:
        return _page(request, fingerprint, error="Tick what is to be decided.")
    here = {row.uuid: row for row in groups.waiting(access, fingerprint).filter(uuid__in=ticked)}
    try:
        said = _said(request, fingerprint)
        if said.outcome is None:
            _refuse_doubt(here.values())
        told = deciding.decide_together(
            access=access, reviews=[name for name in ticked if name in here], said=said
        )
    except InputError as error:
        return _page(request, fingerprint, error=str(error))
    for name in ticked:
        if name not in here:
            told.refused[name] = "review.unlike"
    _tell(request, told, here)
    return redirect("review_group", project=access.project.slug, fingerprint=fingerprint)


def _refuse_doubt(rows: Iterable[Review]) -> None:
    """Nobody rejects work by leaving the choice to a verifier that had none."""
    undecided = sum(row.evaluation.verdict == Verdict.UNDECIDED for row in rows)
    if undecided:
        raise InputError(
            "outcome.required",
            f"Choose an outcome: the verifier could not decide {undecided} of these.",
        )


def _said(request: AccessRequest, fingerprint: str) -> Said:
    """An empty outcome is the verifier's own."""
    outcome = request.POST.get("outcome", "")
    is_right = RIGHT.get(request.POST.get("finding", ""))
    if outcome and outcome not in list(Outcome):
        raise InputError("outcome.unknown", "Choose one of the outcomes.")
    said = Said(
        outcome=Outcome(outcome) if outcome else None,
        comment=request.POST.get("comment", ""),
        findings={} if is_right is None else {fingerprint: is_right},
    )
    return saying.checked(said)


def _ticked(request: AccessRequest) -> list[UUID]:
    try:
        return [UUID(text) for text in dict.fromkeys(request.POST.getlist("review"))]
    except ValueError as error:
        raise Http404 from error


def _tell(request: AccessRequest, told: Together, here: Mapping[UUID, Review]) -> None:
    if told.decided:
        messages.success(
            request,
            f"{len(told.decided)} decided together. This takes effect in {UNDO_SECONDS} seconds.",
        )
    for name, code in list(told.refused.items())[:MAX_TOLD]:
        task = here[name].run.task.external_id[:60] if name in here else str(name)
        messages.warning(request, f"Not decided: {task}, {REFUSALS.get(code, code)}.")
    more = len(told.refused) - MAX_TOLD
    if more > 0:
        messages.warning(request, f"And {more} more were not decided.")


def _page(request: AccessRequest, fingerprint: str, *, error: str = "") -> HttpResponse:
    access = request.access
    group = groups.shown(access, fingerprint, timezone.now())
    shown: dict[str, Any] = {
        "group": group,
        "error": error,
        "outcomes": OUTCOMES,
        "queue_url": queue_url(access),
        "given": request.POST,
        "ticked": request.POST.getlist("review"),
    }
    status = 422 if error else 200
    return render(request, "reviews/group.html", shown, status=status)
