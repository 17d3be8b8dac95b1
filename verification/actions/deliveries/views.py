"""The page of deliveries: what was sent, what waits, what was given up."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.template.defaultfilters import pluralize
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from loomverify import paging
from loomverify.accounts.access import AccessRequest, project_page
from loomverify.accounts.models import Role
from loomverify.errors import InputError
from loomverify.filters import check_choice, uuid_in
from loomverify.returning import back
from verification.actions import services
from verification.actions.deliveries import selectors
from verification.actions.deliveries.page import STATES, Row
from verification.actions.models import DeliveryState
from verification.actions.services.redelivering import MAX_AT_ONCE
from verification.runs import outbox

PER_PAGE = 50


@require_safe
@project_page(Role.ADMIN)
def delivery_list(request: AccessRequest) -> HttpResponse:
    project = request.access.project
    filters = _filters(request)
    troubled = selectors.troubled_of(project)
    shown: dict[str, Any] = {
        "filters": filters,
        "states": [(state, badge.word, troubled.get(state)) for state, badge in STATES.items()],
        "given_up": troubled[DeliveryState.DEAD],
        "at_once": MAX_AT_ONCE,
        "topics": outbox.TOPICS,
        "webhooks": project.webhooks.all(),
    }
    try:
        found, cursor = paging.newest_first(
            selectors.deliveries_of(project, **filters),
            cursor=request.GET.get("cursor", ""),
            limit=PER_PAGE,
        )
    except InputError as error:
        return render(request, "actions/delivery_list.html", {**shown, "error": error}, status=400)
    shown |= {"rows": [Row(delivery) for delivery in found], "next": cursor}
    return render(request, "actions/delivery_list.html", shown)


@require_safe
@project_page(Role.ADMIN)
def delivery_detail(request: AccessRequest, delivery: UUID) -> HttpResponse:
    found = selectors.deliveries_of(request.access.project).filter(uuid=delivery).first()
    if found is None:
        raise Http404
    return render(request, "actions/delivery_detail.html", {"one": Row(found)})


@require_POST
@project_page(Role.ADMIN)
def delivery_repeat(request: AccessRequest, delivery: UUID) -> HttpResponse:
    access = request.access
    is_sent = services.redeliver(project=access.project, actor=access.actor, delivery_id=delivery)
    messages.success(request, "It is sent once more." if is_sent else "It is under way already.")
    return back(request, reverse("delivery_list", args=[access.project.slug]))


@require_POST
@project_page(Role.ADMIN)
def deliveries_repeat(request: AccessRequest) -> HttpResponse:
    """All that was given up and fits the page's filter."""
    access = request.access
    count = services.redeliver_given_up(
        project=access.project, actor=access.actor, filters=_filters(request)
    )
    messages.success(request, f"{count:,} {pluralize(count, 'is,are')} sent once more.")
    return back(request, reverse("delivery_list", args=[access.project.slug]))


def _filters(request: AccessRequest) -> dict[str, str]:
    """Raises InputError: `filter.invalid`."""
    given = request.GET
    return {
        "state": check_choice("state", given.get("state", ""), DeliveryState.values),
        "topic": check_choice("topic", given.get("topic", ""), services.DELIVERED_TOPICS),
        "webhook": uuid_in(given.get("webhook", "")),
    }
