"""The pages of agreement and calibration."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from loomverify import paging
from loomverify.accounts.access import AccessRequest, project_page
from loomverify.errors import InputError, NotFound
from processes.models import Process
from verification.reviews.agreement import page, rows
from verification.reviews.agreement.calibrating import calibration
from verification.reviews.agreement.calibration_page import (
    SURE,
    error_shown,
    floor_rows,
    tenth_rows,
)
from verification.reviews.agreement.diagram import diagram
from verification.reviews.agreement.filters import AgreementFilters
from verification.reviews.agreement.selectors import agreement_figures
from verification.reviews.agreement.shown import kappa_shown, share_shown
from verification.runs import wording
from verification.runs.models import Review

PER_PAGE = 50
SPANS = (("30d", "30 days"), ("90d", "90 days"), ("365d", "a year"), ("", "ever"))
NARROWED = ("phase", "rule", "model", "until")


@require_safe
@project_page()
def review_agreement(request: AccessRequest) -> HttpResponse:
    filters = AgreementFilters.of(request.GET)
    shown = _frame(request, filters)
    try:
        found = agreement_figures(request.access.project, filters)
    except NotFound as error:
        raise Http404 from error
    except InputError as error:
        shown |= {"error": error}
        return render(request, "reviews/agreement.html", shown, status=400)
    shown |= {
        "figures": found,
        "tiles": page.tiles(found, filters),
        "matrix": page.matrix(found.people, filters),
        "heads": [wording.OUTCOMES[outcome] for outcome in wording.OUTCOMES],
        "verdict_matrix": page.verdict_matrix(found.people, filters),
        "exact": share_shown(found.people.outcomes.percentage),
        "exact_kappa": kappa_shown(found.people.outcomes.kappa),
        "precision": share_shown(found.people.precision),
        "recall": share_shown(found.people.recall),
        "rules": page.rule_rows(found.rules, filters),
        "phases": page.phase_rows(found.phases, filters),
        "models": page.model_rows(found.models, filters),
        "pairs": page.pair_rows(found.among),
        "is_empty": not found.people.n and not found.sample.drawn and not filters.given(),
        "base_url": settings.BASE_URL,
    }
    return render(request, "reviews/agreement.html", shown)


@require_safe
@project_page()
def review_agreement_runs(request: AccessRequest) -> HttpResponse:
    project = request.access.project
    filters = AgreementFilters.of(request.GET)
    shown = _frame(request, filters)
    try:
        cell = rows.Cell.of(request.GET)
        matching = rows.reviews(project, filters, cell)
        found, cursor = paging.newest_first(
            matching, cursor=request.GET.get("cursor", ""), limit=PER_PAGE
        )
    except NotFound as error:
        raise Http404 from error
    except InputError as error:
        shown |= {"error": error}
        return render(request, "reviews/agreement_runs.html", shown, status=400)
    count = rows.count(matching)
    shown |= {
        "rows": [_row(review) for review in found],
        "next": cursor,
        "count": min(count, rows.COUNT_CAP),
        "capped": count > rows.COUNT_CAP,
        "cell": cell,
        "which_words": rows.WHICH_WORDS[rows.Which(cell.which)] if cell.which else "",
        "tenth": int(cell.tenth) / 10 if cell.tenth else None,
    }
    return render(request, "reviews/agreement_runs.html", shown)


@require_safe
@project_page()
def review_calibration(request: AccessRequest) -> HttpResponse:
    project = request.access.project
    filters = AgreementFilters.of(request.GET)
    shown = _frame(request, filters)
    try:
        found = calibration(project, filters)
    except NotFound as error:
        raise Http404 from error
    except InputError as error:
        shown |= {"error": error}
        return render(request, "reviews/calibration.html", shown, status=400)
    shown |= {
        "found": found,
        "error_shown": error_shown(found.error),
        "diagram": diagram(found.bins),
        "tenths": tenth_rows(found.bins, filters),
        "floors": floor_rows(found.floors),
        "sure": SURE,
        "is_empty": not found.n and not filters.given(),
    }
    return render(request, "reviews/calibration.html", shown)


def _frame(request: AccessRequest, filters: AgreementFilters) -> dict[str, Any]:
    slugs = Process.objects.filter(project=request.access.project).order_by("slug")
    given = filters.given()
    return {
        "filters": filters,
        "processes": list(slugs.values_list("slug", flat=True)),
        "spans": SPANS,
        "narrowed": [(name, given[name]) for name in NARROWED if name in given],
    }


def _row(review: Review) -> dict[str, Any]:
    verdict, outcome = review.evaluation.verdict, review.evaluation.outcome
    return {
        "review": review,
        "run": review.run,
        "verifier": wording.badge(outcome, verdict),
        "people": wording.badge(review.outcome, ""),
    }
