"""The page of actions: what landed, what is proposed, what is held, and why."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from loomverify import paging
from loomverify.accounts.access import AccessRequest, project_page
from loomverify.accounts.models import Role
from loomverify.errors import InputError, NotFound
from loomverify.filters import check_choice, uuid_in
from loomverify.returning import back
from verification.actions.landing import selectors, services
from verification.actions.landing.page import Row, diff_lines
from verification.actions.landing.wording import STATES
from verification.actions.models import ActionKind, ActionState, Repository

PER_PAGE = 50
STANDINGS = ("reverted", "committed", "held", "proposed", "under_way")


@require_safe
@project_page()
def action_list(request: AccessRequest) -> HttpResponse:
    project = request.access.project
    filters = _filters(request)
    counts = selectors.counts_of(project)
    shown: dict[str, Any] = {
        "filters": filters,
        "counts": [(state, STATES[ActionState(state)].word, n) for state, n in counts.items()],
        "total": sum(counts.values()),
        "repository": Repository.objects.filter(project=project, is_removed=False).first(),
        "max_reason": services.MAX_REASON,
        "base_url": settings.BASE_URL,
    }
    try:
        found, cursor = paging.newest_first(
            selectors.actions_of(project, **filters),
            cursor=request.GET.get("cursor", ""),
            limit=PER_PAGE,
        )
    except InputError as error:
        return render(request, "actions/action_list.html", {**shown, "error": error}, status=400)
    shown |= {"rows": [Row(action) for action in found], "next": cursor}
    return render(request, "actions/action_list.html", shown)


@require_safe
@project_page()
def action_detail(request: AccessRequest, action: UUID) -> HttpResponse:
    """One action, with the change that it is about, line by line."""
    rows = selectors.actions_of(request.access.project).select_related("change__run__submission")
    row = rows.filter(uuid=action).first()
    if row is None:
        raise Http404
    submission = getattr(row.change.run, "submission", None)
    diff = str((submission.body if submission else {}).get("diff") or "")
    shown = {"one": Row(row), "diff": diff_lines(diff), "max_reason": services.MAX_REASON}
    return render(request, "actions/action_detail.html", shown)


def _filters(request: AccessRequest) -> dict[str, str]:
    """Raises InputError: `filter.invalid`."""
    given = request.GET
    return {
        "state": check_choice("state", given.get("state", ""), ActionState.values),
        "kind": check_choice("kind", given.get("kind", ""), ActionKind.values),
        "repository": given.get("repository", "")[:60].replace("\x00", ""),
        "run": uuid_in(given.get("run", "")),
        "standing": check_choice("standing", given.get("standing", ""), STANDINGS),
        **{name: _moment(given.get(name, "")) for name in ("since", "until")},
    }


def _moment(text: str) -> str:
    """As it is; '' where it is no moment with an offset."""
    try:
        return text if datetime.fromisoformat(text).tzinfo else ""
    except ValueError:
        return ""


@require_POST
@project_page(Role.REVIEWER)
def action_approve(request: AccessRequest, action: UUID) -> HttpResponse:
    return _decided(request, action, approves=True)


@require_POST
@project_page(Role.REVIEWER)
def action_decline(request: AccessRequest, action: UUID) -> HttpResponse:
    return _decided(request, action, approves=False)


def _decided(request: AccessRequest, action_id: UUID, *, approves: bool) -> HttpResponse:
    access = request.access
    who: dict[str, Any] = {
        "project": access.project, "actor": access.actor, "action_id": action_id,
    }  # fmt: skip
    try:
        if approves:
            services.approve(**who)
            messages.success(request, "It is on its way.")
        else:
            services.decline(**who, reason=request.POST.get("reason", "").strip())
            messages.success(request, "Declined. Nothing is done in the repository.")
    except NotFound as error:
        raise Http404 from error
    except InputError as error:
        messages.error(request, str(error))
    return back(request, reverse("action_list", args=[access.project.slug]))
