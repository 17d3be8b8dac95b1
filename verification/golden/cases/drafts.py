"""Cases made of runs: at once, or of the drafts that reviewers keep."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from loomverify import paging
from loomverify.accounts.access import AccessRequest, project_page
from loomverify.accounts.models import Role
from loomverify.errors import InputError, NotFound
from verification.engine.outcome import Outcome
from verification.golden.cases import making
from verification.golden.cases.views import case_made
from verification.golden.models import GoldenCase
from verification.reviews import cases
from verification.reviews.disclosure import is_over
from verification.reviews.effects import verdict_of
from verification.reviews.models import CaseDraft
from verification.runs import wording
from verification.runs.evidence_store import EvidenceLost
from verification.runs.named import run_named

PER_PAGE = 50
RELATED = ("run__task", "run__process", "review")
HEAVY = ("run__search", "run__result", "run__process__description")
LIST = "golden/drafts.html"


@dataclass(frozen=True, slots=True)
class Row:
    row: CaseDraft

    @property
    def expected(self) -> wording.Badge | None:
        """What the run should come to; None where that is still open, or not to be seen yet."""
        if not self.row.outcome or not self.is_settled:
            return None
        return wording.badge(Outcome(self.row.outcome), verdict_of(self.row.outcome))

    @property
    def is_settled(self) -> bool:
        """Before a review is over, nobody is shown what it comes to."""
        return self.row.review is None or is_over(self.row.review)


@require_POST
@project_page(Role.EDITOR)
def golden_case_of_run(request: AccessRequest, run: UUID) -> HttpResponse:
    """What came of the run is what is expected from now on."""
    found = run_named(request, run)
    before = GoldenCase.objects.filter(project=request.access.project, run=found).first()
    if before is not None:
        messages.info(request, "This run is in the corpus already, as this case.")
        return redirect("golden_case", project=request.access.project.slug, case=before.uuid)
    try:
        case = making.case_of_run(access=request.access, run=found)
    except (InputError, EvidenceLost) as error:
        messages.warning(request, f"{error} No case was made.")
        return redirect("run_detail", project=request.access.project.slug, run=run)
    return case_made(request, case)


@require_safe
@project_page()
def golden_drafts(request: AccessRequest) -> HttpResponse:
    drafts = CaseDraft.objects.filter(project=request.access.project)
    try:
        page, following = paging.newest_first(
            drafts.select_related(*RELATED).defer(*HEAVY),
            cursor=request.GET.get("cursor", ""),
            limit=PER_PAGE,
        )
    except InputError as error:
        return render(request, LIST, {"tab": "drafts", "error": error}, status=400)
    shown = {"tab": "drafts", "rows": [Row(row) for row in page], "next": following}
    return render(request, LIST, shown)


@require_POST
@project_page(Role.EDITOR)
def golden_draft_take(request: AccessRequest, draft: UUID) -> HttpResponse:
    try:
        case = making.case_of_draft(access=request.access, draft=draft)
    except NotFound as error:
        raise Http404 from error
    except (InputError, EvidenceLost) as error:
        messages.warning(request, f"{error} No case was made.")
        return redirect("golden_drafts", project=request.access.project.slug)
    return case_made(request, case)


@require_POST
@project_page(Role.REVIEWER)
def golden_draft_remove(request: AccessRequest, draft: UUID) -> HttpResponse:
    try:
        cases.remove(access=request.access, draft=draft)
    except NotFound as error:
        raise Http404 from error
    messages.success(request, "It is no draft any more.")
    return redirect("golden_drafts", project=request.access.project.slug)
