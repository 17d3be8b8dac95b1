"""The pages of rules: one of each, and the search over all."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from loomverify.accounts.access import AccessRequest, project_page
from loomverify.accounts.models import Role
from loomverify.errors import Conflict, InputError, NotFound
from loomverify.filters import check_choice
from loomverify.guarding import REASON, Objected
from processes.definition.model import Enforcement, RuleType
from processes.forms import PublishForm
from processes.guards import PUBLISHING, Publication
from processes.models import Process
from processes.models import Rule as RuleName
from processes.views.access import number_in, process_of
from verification.rules.pages import observing, searching
from verification.rules.pages.drafted import drafted_rules
from verification.rules.pages.observing import ASKED
from verification.rules.pages.page import rule_page
from verification.rules.pages.searching import RuleFilters, Stands
from verification.rules.pages.unpublished import unpublished
from verification.rules.steps.services import set_enforcement, stepped_text
from verification.runs.spans import Window

WINDOWS = ("24h", "7d", "30d", "90d")
PER_PAGE = 50


class StepForm(PublishForm):
    to = forms.ChoiceField(choices=[(one.value, one.value) for one in Enforcement])


@require_safe
@project_page()
def rule_search(request: AccessRequest) -> HttpResponse:
    project = request.access.project
    filters = RuleFilters.of(request.GET)
    shown: dict[str, Any] = {
        "filters": filters,
        "types": RuleType,
        "enforcements": Enforcement,
        "slugs": Process.objects.filter(project=project, published__isnull=False)
        .order_by("slug")
        .values_list("slug", flat=True),
        "days": searching.DAYS,
    }
    try:
        matching = searching.published_rules(project, filters)
        rows, cursor = searching.page_of(
            matching, cursor=request.GET.get("cursor", ""), limit=PER_PAGE
        )
    except InputError as error:
        return render(request, "rules/rule_search.html", {**shown, "error": error}, status=400)
    asks_drafts = filters.stands != Stands.PUBLISHED and not request.GET.get("cursor")
    shown |= {
        "drafted": drafted_rules(project, request.user, filters)
        if request.access.is_editor and asks_drafts
        else None,
        "rows": searching.with_figures(project, rows),
        "next": cursor,
        "count": matching.order_by().count(),
    }
    return render(request, "rules/rule_search.html", shown)


@require_safe
@project_page()
def rule_named(request: AccessRequest, slug: str) -> HttpResponse:
    """A rule by its name: that may hold any character, and so stands in the query.

    To the rule's page; of one that no version has, what is known.
    """
    process, name = process_of(request, slug), request.GET.get("rule", "")
    if "\x00" in name:
        raise Http404
    stored = process.rules.filter(name=name, versions__phase_rules__isnull=False).first()
    if stored:
        return redirect("rule_page", project=request.access.project.slug, slug=slug, rule=stored.pk)
    known = unpublished(process, name, request.user if request.access.is_editor else None)
    if known is None:
        raise Http404
    return observing.page(request, process, known, PublishForm())


@require_safe
@project_page()
def rule_detail(request: AccessRequest, slug: str, rule: int) -> HttpResponse:
    row = _row(request, slug, rule)
    return render(request, "rules/rule_page.html", _context(request, row, PublishForm()))


@require_POST
@project_page(Role.ADMIN)
def rule_step(request: AccessRequest, slug: str, rule: int) -> HttpResponse:
    """One step up or down: a version, stored and published."""
    row = _row(request, slug, rule)
    form = StepForm(request.POST)
    if not form.is_valid():
        return _refused(request, row, form, status=422)
    to = Enforcement(form.cleaned_data["to"])
    try:
        version = set_enforcement(
            process=row.process,
            name=row.name,
            to=to,
            actor=request.access.actor,
            reason=form.cleaned_data["reason"],
            instead_of=number_in(request.POST.get("published", "")),
            corpus_reason=form.cleaned_data[REASON],
        )
    except Objected as error:
        form.add_error(REASON, ASKED)
        return _refused(request, row, form, status=error.status, to=to)
    except InputError as error:
        return _refused(request, row, form, status=error.status, error=error)
    messages.success(
        request,
        f"v{version.number} is published: the rule is {to.value}. Runs submitted from now on use it.",
    )
    return redirect("rule_page", project=request.access.project.slug, slug=slug, rule=rule)


def _row(request: AccessRequest, slug: str, rule: int) -> RuleName:
    """The rule, where any stored version has it."""
    rows = RuleName.objects.select_related("process__published", "process__project").defer(
        "process__published__source_text"
    )
    found = rows.filter(
        process__project=request.access.project, pk=rule, versions__phase_rules__isnull=False
    ).first()
    if found is None or found.process.slug != slug:
        raise Http404
    return found


def _refused(
    request: AccessRequest,
    row: RuleName,
    form: PublishForm,
    *,
    status: int,
    to: Enforcement | None = None,
    error: InputError | None = None,
) -> HttpResponse:
    """The page again, with what was typed, and what speaks against it."""
    row = _row(request, row.process.slug, row.pk)
    context = {**_context(request, row, form), "refusal": error, "to": to}
    if to is not None:
        context["words"] = _words(row, to)
    return render(request, "rules/rule_page.html", context, status=status)


def _words(row: RuleName, to: Enforcement) -> list[Any]:
    published = row.process.published
    if published is None:
        return []
    try:
        text = stepped_text(published.source_text, row.name, to)
    except (Conflict, InputError, NotFound):
        return []
    return PUBLISHING.words(Publication(row.process, text))


def _context(request: AccessRequest, row: RuleName, form: PublishForm) -> dict[str, Any]:
    since = check_choice("since", request.GET.get("since", ""), WINDOWS)
    window = Window.of(since or "30d", timezone.now())
    if window is None:
        raise Http404
    user = request.user if request.access.is_editor else None
    return {
        "page": rule_page(row, window=window, user=user),
        "process": row.process,
        "form": form,
        "windows": WINDOWS,
        "here": reverse("rule_page", args=[request.access.project.slug, row.process.slug, row.pk]),
    }
