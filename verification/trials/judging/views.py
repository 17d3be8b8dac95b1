"""Comparisons, and what waits to be judged. Reading changes nothing: what changes is in `acts`."""

from __future__ import annotations

import uuid
from typing import Any, Final

from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.functional import SimpleLazyObject
from django.views.decorators.http import require_safe

from loomverify.accounts.access import AccessRequest, project_page
from loomverify.accounts.models import Role
from loomverify.errors import NotFound
from verification.runs.choice import Choice
from verification.trials.judging import services
from verification.trials.judging.asked_beside import differences_of
from verification.trials.judging.blind_page import BlindPage, blind_page
from verification.trials.judging.comparison_page import ComparisonPage, comparison_page
from verification.trials.judging.walking import PARTS, Wish, compared_of, next_of, progress_of
from verification.trials.models import Trial
from verification.trials.selectors import trial_of

WHOLE: Final = "trials/judging.html"
PART: Final = "trials/_judging.html"
TELLING: Final = ("move", "diff_class", "old", "new")
"""Filters that would stand in every address of the page, and tell the sides apart."""
PANES: Final = {"artefact": "runs/_artefact.html", "judging-one": PART}


@require_safe
@project_page()
def comparison_detail(
    request: AccessRequest, trial: uuid.UUID, comparison: uuid.UUID
) -> HttpResponse:
    page = page_named(request, trial, comparison)
    return shown_comparison(request, page)


@require_safe
@project_page()
def comparison_asked(
    request: AccessRequest, trial: uuid.UUID, comparison: uuid.UUID, number: int
) -> HttpResponse:
    """A question of both sides as differences line by line: a page of its own, and a part."""
    page = page_named(request, trial, comparison)
    if page.is_veiled:
        return redirect("comparison_detail", request.access.project.slug, trial, comparison)
    pair = next((one for one in page.asked if one.number == number), None)
    if pair is None:
        raise Http404
    shown = {"page": page, "differences": differences_of(pair), "run": page.row.run}
    is_part = request.headers.get("HX-Target", "").startswith("asked-")
    part = "#differences" if is_part and "HX-History-Restore-Request" not in request.headers else ""
    answer = render(request, f"trials/comparison_asked.html{part}", shown)
    answer["Vary"] = "HX-Target, Cookie"
    return answer


@require_safe
@project_page(Role.REVIEWER)
def trial_judge(request: AccessRequest, trial: uuid.UUID) -> HttpResponse:
    """To the next that waits for this reviewer, or how far people have come."""
    found, wish = trial_named(request, trial), Wish.of(request.GET)
    reviewer = services.reviewer_of(request.access.actor)
    row = next_of(found, reviewer, wish, after=uuid_of(request.GET.get("after", "")))
    if row is None:
        return render(request, "trials/judging_over.html", over(found, wish))
    answer = redirect("comparison_judge", request.access.project.slug, found.uuid, row.uuid)
    answer["Location"] += wish.query
    return answer


@require_safe
@project_page(Role.REVIEWER)
def comparison_judge(
    request: AccessRequest, trial: uuid.UUID, comparison: uuid.UUID
) -> HttpResponse:
    """Or why it is not for this reviewer, and where they may go on."""
    beside = page_named(request, trial, comparison)
    if beside.mine is None and beside.not_for_judging:
        return render(request, "trials/judging_refused.html", {"page": beside})
    page = blind_named(request, trial, comparison)
    if page is None:
        return redirect("comparison_detail", request.access.project.slug, trial, comparison)
    if any(name in request.GET for name in TELLING):
        return redirect(page.url)
    part = PANES.get(request.headers.get("HX-Target", ""), WHOLE)
    if request.headers.get("HX-History-Restore-Request"):
        part = WHOLE
    answer = render(request, part, shown(page))
    answer["Vary"] = "HX-Target, Cookie"
    answer["Cache-Control"] = "no-store"
    return answer


def shown(page: BlindPage) -> dict[str, Any]:
    compared = SimpleLazyObject(lambda: compared_of(page.trial))  # only where nothing is left
    return {"blind": page, "item": page, "page": page.page, "run": page.run, "compared": compared}


def over(trial: Trial, wish: Wish) -> dict[str, Any]:
    names = {"moves": "One side accepts, the other does not", "rejects": "Both sides reject"}
    counted = [(names[part], progress_of(trial, wish, part)) for part in PARTS]
    return {"trial": trial, "wish": wish, "counted": counted, "compared": compared_of(trial)}


def shown_comparison(
    request: AccessRequest, page: ComparisonPage, *, status: int = 200, **more: Any
) -> HttpResponse:
    """`more`: what a form held that was refused, and why."""
    veiled = "trials/comparison_veiled.html"
    name = veiled if page.is_veiled else "trials/comparison_detail.html"
    answer = render(request, name, {"page": page, "run": page.row.run, **more}, status=status)
    answer["Cache-Control"] = "no-store"
    return answer


def trial_named(request: AccessRequest, trial: uuid.UUID) -> Trial:
    try:
        return trial_of(request.access.project, trial)
    except NotFound as error:
        raise Http404 from error


def page_named(request: AccessRequest, trial: uuid.UUID, comparison: uuid.UUID) -> ComparisonPage:
    try:
        return comparison_page(request.access, trial, comparison)
    except NotFound as error:
        raise Http404 from error


def blind_named(
    request: AccessRequest, trial: uuid.UUID, comparison: uuid.UUID
) -> BlindPage | None:
    wish, choice = Wish.of(request.GET), Choice.of(request.GET)
    try:
        return blind_page(request.access, trial, comparison, wish=wish, choice=choice)
    except NotFound as error:
        raise Http404 from error


def uuid_of(text: str) -> uuid.UUID | None:
    """What names nothing leads to the beginning."""
    try:
        return uuid.UUID(text) if text else None
    except ValueError:
        return None
