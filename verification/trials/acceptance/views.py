"""The acceptance page, the rows behind its numbers, and its part of the overview."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from loomverify.accounts.access import AccessRequest, project_page
from loomverify.errors import InputError, NotFound
from loomverify.filters import check_choice
from processes.models import Process
from verification.trials.acceptance import page, rows, selectors
from verification.trials.acceptance.behind import Which
from verification.trials.acceptance.measures import ABOUT, by_state
from verification.trials.acceptance.scope import CHOICES, Scope
from verification.trials.acceptance.wording import PARTS, STATES


@require_safe
@project_page()
def acceptance(request: AccessRequest) -> HttpResponse:
    scope, shown = _frame(request)
    if scope is None:
        return render(request, "trials/acceptance.html", shown, status=400)
    found = selectors.targets(scope)
    shown |= {
        "lines": page.lines(found, scope),
        "counts": [(STATES[state], count) for state, count in by_state(found).items()],
    }
    return render(request, "trials/acceptance.html", shown)


@require_safe
@project_page()
def acceptance_part(request: AccessRequest) -> HttpResponse:
    """The same, short, for the overview. It is asked for once the overview is there."""
    scope, shown = _frame(request)
    if scope is None:
        raise Http404
    shown["lines"] = page.lines(selectors.targets(scope), scope)
    return render(request, "trials/_acceptance_part.html", shown)


@require_safe
@project_page()
def acceptance_rows(request: AccessRequest, target: str) -> HttpResponse:
    scope, shown = _frame(request)
    if target not in ABOUT:
        raise Http404
    shown["about"] = ABOUT[target]
    if scope is None:
        return render(request, "trials/acceptance_rows.html", shown, status=400)
    which = check_choice("which", request.GET.get("which", ""), selectors.PARTS[target])
    which = which or Which.ALL.value
    cursor = request.GET.get("cursor", "")
    try:
        until = rows.time_of(cursor)
        parts = selectors.page_rows(scope, target, Which(which), until=until, limit=rows.PER_PAGE)
        listed, following = rows.page_of(scope.project, parts, cursor)
    except InputError as error:
        shown["error"] = error
        return render(request, "trials/acceptance_rows.html", shown, status=400)
    shown |= {
        "rows": listed,
        "next": following,
        "count": selectors.count_of(scope, target, Which(which)),
        "which": which,
        "words": PARTS[target][Which(which)],
        "parts": [(one.value, PARTS[target][one]) for one in selectors.PARTS[target]],
    }
    return render(request, "trials/acceptance_rows.html", shown)


def _frame(request: AccessRequest) -> tuple[Scope | None, dict[str, Any]]:
    project = request.access.project
    slugs = Process.objects.filter(project=project).order_by("slug")
    shown: dict[str, Any] = {
        "processes": list(slugs.values_list("slug", flat=True)),
        "choices": CHOICES,
    }
    try:
        scope = Scope.of(project, request.GET.dict())
    except NotFound as error:
        raise Http404 from error
    except InputError as error:
        return None, {**shown, "error": error}
    return scope, {**shown, "scope": scope}
