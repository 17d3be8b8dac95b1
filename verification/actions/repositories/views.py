from __future__ import annotations

from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.db.models import Count, Q
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.template.defaultfilters import pluralize
from django.views.decorators.http import require_http_methods

from loomverify.accounts.access import AccessRequest, project_page
from loomverify.accounts.models import Role
from loomverify.accounts.pages import settings_action
from loomverify.errors import InputError
from verification.actions.landing.braking import stopped_in
from verification.actions.models import ActionState, Repository
from verification.actions.repositories import services
from verification.actions.repositories.forms import RepositoryForm, TermsForm
from verification.actions.repositories.page import Row

PAGE = "settings_repositories"


@require_http_methods(["GET", "HEAD", "POST"])
@project_page(Role.ADMIN)
def settings_repositories(request: AccessRequest) -> HttpResponse:
    if request.method != "POST":
        return _page(request, RepositoryForm())
    form = RepositoryForm(request.POST)
    if not form.is_valid():
        return _page(request, form, status=422)
    access = request.access
    try:
        services.register(
            project=access.project,
            actor=access.actor,
            name=form.cleaned_data["name"],
            terms=form.terms(),
        )
    except InputError as error:
        _refused(form, error)
        return _page(request, form, status=422)
    messages.success(request, "Registered. Until you change it, everything is proposed only.")
    return redirect(PAGE, project=access.project.slug)


@require_http_methods(["GET", "HEAD", "POST"])
@project_page(Role.ADMIN)
def repository_edit(request: AccessRequest, repository: UUID) -> HttpResponse:
    access = request.access
    row = services.find(project=access.project, repository_id=repository)
    form = TermsForm(request.POST) if request.method == "POST" else TermsForm.of(row)
    if request.method == "POST" and form.is_valid():
        before = stopped_in(row)
        try:
            services.change(
                project=access.project, actor=access.actor, repository_id=row.uuid,
                terms=form.terms(),
            )  # fmt: skip
        except InputError as error:
            _refused(form, error)
        else:
            messages.success(request, f"Saved. {_followed(stopped_in(row) - before)}".strip())
            return redirect(PAGE, project=access.project.slug)
    status = 422 if form.errors else 200
    shown = {"form": form, "repository": row}
    return render(request, "actions/repository_edit.html", shown, status=status)


def _followed(stopped: int) -> str:
    """What became of actions by a change of modes; of fewer than none, they were let go."""
    told = f"{abs(stopped):,} action{pluralize(abs(stopped))}"
    if stopped < 0:
        return f"{told} that had been stopped go{pluralize(-stopped, 'es,')} on."
    said = f"{told} that had not begun wait{pluralize(stopped, 's,')} for a person now."
    return said if stopped else ""


@settings_action(PAGE)
def repository_test(request: AccessRequest, repository: UUID) -> str:
    row = services.find(project=request.access.project, repository_id=repository)
    tip = services.looked_at(row)
    if not tip:
        raise InputError(
            "repository.target_branch", f"It answers, but has no branch {row.target_branch}."
        )
    return f"It answers: {row.target_branch} is at {tip[:12]}."


@settings_action(PAGE)
def repository_remove(request: AccessRequest, repository: UUID) -> str:
    services.remove(
        project=request.access.project, actor=request.access.actor, repository_id=repository
    )
    return "Removed. Nothing more lands in it; what landed stays on record."


def _page(request: AccessRequest, form: RepositoryForm, *, status: int = 200) -> HttpResponse:
    rows = Repository.objects.filter(project=request.access.project, is_removed=False)
    waiting = Q(changes__actions__state__in=(ActionState.PROPOSED, ActionState.HELD))
    done = Q(changes__actions__state=ActionState.DONE)
    counted = rows.select_related("project").annotate(
        waiting=Count("changes__actions", filter=waiting),
        done=Count("changes__actions", filter=done),
    )
    context: dict[str, Any] = {
        "form": form, "repositories": [Row(row) for row in counted], "base_url": settings.BASE_URL,
    }  # fmt: skip
    return render(request, "actions/repositories.html", context, status=status)


def _refused(form: TermsForm, error: InputError) -> None:
    for issue in error.issues:
        field = str(issue.loc[1]) if len(issue.loc) > 1 and issue.loc[1] in form.fields else None
        form.add_error(field, issue.msg)
