"""The queue: what waits for a person, by urgency, and what became of the rest."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from loomverify import paging
from loomverify.accounts.access import Access, AccessRequest, project_page
from loomverify.accounts.models import Role
from loomverify.errors import InputError, NotFound
from loomverify.returning import back
from verification.engine.outcome import Verdict
from verification.reviews.disclosure import with_decisions
from verification.reviews.queue import arranging, claims, selectors, standstill
from verification.reviews.queue.page import STATES, Row, queue_url
from verification.reviews.queue.selectors import QueueFilters
from verification.reviews.reasons import reason_words
from verification.runs.models import Review, ReviewState
from verification.runs.selectors import moment, waiting_words

PER_PAGE = 50
MAX_LIVE_ROWS = 100
NEWER_CAP = 99
PAGE = "reviews/queue.html"


@require_safe
@project_page()
def review_queue(request: AccessRequest) -> HttpResponse:
    access, now = request.access, timezone.now()
    shown: dict[str, Any] = {"queue_url": queue_url(access), "base_url": settings.BASE_URL}
    try:
        filters = QueueFilters.of(request.GET)
        found, cursor = paging.paged(
            with_decisions(selectors.reviews(access.project, filters, user=access.actor.user)),
            by=selectors.ORDERS[ReviewState(filters.state)],
            cursor=request.GET.get("cursor", ""),
            limit=PER_PAGE,
        )
    except InputError as error:
        return render(request, PAGE, {**shown, "error": error}, status=400)
    counts = selectors.counts(access.project, filters, user=access.actor.user)
    choices = selectors.choices(access.project, filters, user=access.actor.user)
    shown |= {
        "here": request.get_full_path(),
        "filters": filters,
        "rows": _rows(access, found, filters, now),
        "next": cursor,
        "is_empty": not any(counts.values()) and not filters.given(),
        "choices": choices,
        "reasons": [(code, reason_words(code)) for code in choices.reason],
        "verdicts": [verdict.value for verdict in Verdict],
        "reviewers": arranging.reviewers_of(access.project) if access.is_reviewer else [],
        **_live(counts, filters, [row.uuid for row in found], after=now),
    }
    return render(request, PAGE, shown)


@require_safe
@project_page()
def review_rows(request: AccessRequest) -> HttpResponse:
    """The rows that are shown, as they are now; the tabs' counts; and how many came since."""
    access, user, now = request.access, request.access.actor.user, timezone.now()
    try:
        filters = QueueFilters.of(request.GET)
        ids = [UUID(text) for text in request.GET.get("ids", "").split(",") if text]
        after = moment("after", request.GET.get("after", ""))
    except (ValueError, InputError) as error:
        raise Http404 from error
    everything = Review.objects.filter(project=access.project, uuid__in=ids[:MAX_LIVE_ROWS])
    found = list(with_decisions(everything.select_related(*selectors.RELATED)))
    newer = selectors.reviews(access.project, filters, user=user).filter(created_at__gt=after)
    shown = {
        "filters": filters,
        "queue_url": queue_url(access),
        "rows": _rows(access, found, filters, now),
        "newer": newer.order_by()[:NEWER_CAP].count(),
        "oob": True,
        "waiting": waiting_words(access.project),
        "here": _here(access, request),
        **_live(
            selectors.counts(access.project, filters, user=user),
            filters,
            [row.uuid for row in found],
            after=after,
        ),
    }
    return render(request, "reviews/_queue_live.html", shown)


@require_POST
@project_page(Role.REVIEWER)
def review_next(request: AccessRequest) -> HttpResponse:
    """Take the next one and go there; say why, where there is none."""
    access = request.access
    try:
        filters = QueueFilters.of(request.GET)
    except InputError as error:
        raise Http404 from error
    taken = claims.claim_next(access=access, filters=filters)
    if taken is None:
        messages.info(request, standstill.why_nothing(access, filters))
        return redirect(queue_url(access) + filters.query)
    return redirect(f"{queue_url(access)}{taken.uuid}/{filters.query}")


@require_POST
@project_page(Role.REVIEWER)
def review_assign(request: AccessRequest, review: UUID) -> HttpResponse:
    named = request.POST.get("to", "").strip()
    able = arranging.reviewers_of(request.access.project)
    to = next((user for user in able if user.username.lower() == named.lower()), None)
    if named and to is None:
        messages.error(request, "No reviewer of this project has this name.")
        return _back(request)
    try:
        claims.assign(access=request.access, review=review, to=to)
    except NotFound as error:
        raise Http404 from error
    except InputError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, f"It is for {to}." if to else "It is anybody's again.")
    return _back(request)


@require_POST
@project_page(Role.REVIEWER)
def review_pass(request: AccessRequest, review: UUID) -> HttpResponse:
    claims.skip(access=request.access, review=review)
    messages.success(request, "Skipped: you get the others first.")
    return _back(request)


@require_POST
@project_page(Role.REVIEWER)
def review_take_in(request: AccessRequest, review: UUID) -> HttpResponse:
    try:
        claims.take_in(access=request.access, review=review)
    except NotFound as error:
        raise Http404 from error
    except InputError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, "It waits for a person now.")
    return _back(request)


def _rows(
    access: Access, found: Sequence[Review], filters: QueueFilters, now: datetime
) -> list[Row]:
    tab = ReviewState(filters.state)
    asked = [row.fingerprint for row in found if row.state in arranging.OPEN]
    alike = selectors.alike(access.project, asked)
    skipped = selectors.skipped(access.actor, found) if tab == ReviewState.PENDING else set()
    return [
        Row(row, access, tab, now, alike.get(row.fingerprint, 0), row.pk in skipped)
        for row in found
    ]


def _live(
    counts: dict[ReviewState, int], filters: QueueFilters, ids: Sequence[UUID], *, after: datetime
) -> dict[str, Any]:
    """What the tabs show, and what they ask for next."""
    tabs = [
        (state.value, STATES[state], min(count, selectors.COUNT_CAP), count > selectors.COUNT_CAP)
        for state, count in counts.items()
        if count or state != ReviewState.WITHDRAWN or filters.state == state
    ]
    return {"tabs": tabs, "ids": ",".join(map(str, ids)), "after": after.isoformat()}


def _here(access: Access, request: AccessRequest) -> str:
    """The list that these rows belong to."""
    query = request.GET.copy()
    for name in ("ids", "after"):
        query.pop(name, None)
    return f"{queue_url(access)}?{query.urlencode()}"


def _back(request: AccessRequest) -> HttpResponse:
    """To the list as it was filtered."""
    return back(request, queue_url(request.access))
