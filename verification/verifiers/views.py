from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from loomverify.accounts.access import AccessRequest, project_page
from loomverify.accounts.forms import show_errors
from loomverify.accounts.models import Role
from loomverify.accounts.pages import settings_action
from loomverify.errors import InputError
from processes.models import Process
from verification.verifiers import budgets, connections, trying
from verification.verifiers.forms import BudgetForm, ConnectionForm, SeatsForm, TermsForm
from verification.verifiers.judge_list import budgets_of, judges_of, listed, plain
from verification.verifiers.models import JudgeConnection


@require_safe
@project_page(Role.ADMIN)
def settings_judges(request: AccessRequest) -> HttpResponse:
    return _judges(request)


def _judges(
    request: AccessRequest,
    *,
    new: ConnectionForm | None = None,
    seats: SeatsForm | None = None,
) -> HttpResponse:
    project = request.access.project
    judges = judges_of(project, now=timezone.now())
    context: dict[str, Any] = {
        "judges": judges,
        "new": new or ConnectionForm(auto_id="new_%s"),
        "seats": seats or _seats(request),
        "live": connections.live_models(project),
    }
    status = 422 if new or seats else 200
    return render(request, "settings/judges.html", context, status=status)


def _seats(request: AccessRequest, **options: Any) -> SeatsForm:
    project = request.access.project
    rows = JudgeConnection.objects.filter(project=project, is_removed=False)
    models = connections.live_models(project)
    initial = {"primary": models.primary, "alternate": models.alternate, "panel": models.panel}
    names = list(rows.order_by("-is_environment", "name").values_list("name", flat=True))
    return SeatsForm(**options, names=names, initial=initial, auto_id="seat_%s")


@require_POST
@project_page(Role.ADMIN)
def judge_add(request: AccessRequest) -> HttpResponse:
    form = ConnectionForm(request.POST, auto_id="new_%s")
    if form.is_valid():
        try:
            row = connections.add_connection(
                project=request.access.project,
                actor=request.access.actor,
                terms=form.terms(),
                **{name: form.cleaned_data[name] for name in ("name", "model", "base_url")},
            )
        except InputError as error:
            show_errors(form, error)
        else:
            messages.success(request, f"{row.name} was added. Test it, then let it judge.")
            return redirect("settings_judges", project=request.access.project.slug)
    return _judges(request, new=form)


@require_POST
@project_page(Role.ADMIN)
def judges_choose(request: AccessRequest) -> HttpResponse:
    form = _seats(request, data=request.POST)
    if form.is_valid():
        chosen = form.cleaned_data
        try:
            version = connections.choose_judges(
                project=request.access.project,
                actor=request.access.actor,
                primary=chosen["primary"],
                alternate=chosen["alternate"],
                panel=tuple(chosen["panel"]),
                reason=chosen["reason"],
            )
        except InputError as error:
            show_errors(form, error)
        else:
            messages.success(request, f"Verifier version {version.number} judges from now on.")
            return redirect("settings_judges", project=request.access.project.slug)
    return _judges(request, seats=form)


@require_http_methods(["GET", "HEAD", "POST"])
@project_page(Role.ADMIN)
def judge_edit(request: AccessRequest, judge_id: UUID) -> HttpResponse:
    row = _row(request, judge_id)
    form = TermsForm(request.POST) if request.method == "POST" else TermsForm.of(row)
    if row.is_environment:
        del form.fields["key_reference"]
    is_named = connections.is_named(row)
    if is_named:
        form.keep(row)
    if request.method == "POST" and _changed(request, row, form):
        messages.success(request, f"{row.name} was changed.")
        return redirect("settings_judges", project=request.access.project.slug)
    context = {"judge": row, "form": form, "is_named": is_named}
    return render(request, "settings/judge_edit.html", context, status=422 if form.errors else 200)


def _changed(request: AccessRequest, row: JudgeConnection, form: TermsForm) -> bool:
    if not form.is_valid():
        return False
    try:
        connections.change_connection(
            project=request.access.project,
            actor=request.access.actor,
            name=row.name,
            terms=form.terms(),
        )
    except InputError as error:
        show_errors(form, error)
        return False
    return True


@settings_action("settings_judges")
def judge_remove(request: AccessRequest, judge_id: UUID) -> str:
    row = _row(request, judge_id)
    connections.remove_connection(
        project=request.access.project, actor=request.access.actor, name=row.name
    )
    return f"{row.name} was removed."


@settings_action("settings_judges")
def judge_test(request: AccessRequest, judge_id: UUID) -> str:
    row = _row(request, judge_id)
    trying.ask_for_try(project=request.access.project, actor=request.access.actor, name=row.name)
    return f"A worker asks {row.name} a small question."


@require_safe
@project_page(Role.ADMIN)
def judge_tested(request: AccessRequest, judge_id: UUID) -> HttpResponse:
    """The part of a connection that waits for its test."""
    project = request.access.project
    judge = listed(_row(request, judge_id), connections.live_models(project), now=timezone.now())
    return render(request, "settings/_judge_test.html", {"judge": judge})


def _row(request: AccessRequest, judge_id: UUID) -> JudgeConnection:
    rows = JudgeConnection.objects.filter(project=request.access.project, is_removed=False)
    row = rows.filter(uuid=judge_id).first()
    if row is None:
        raise Http404
    return row


@require_safe
@project_page(Role.ADMIN)
def settings_budgets(request: AccessRequest) -> HttpResponse:
    now = timezone.now()
    scopes = budgets_of(request.access.project, now=now)
    context = {"scopes": scopes, "day": budgets.day_of(now)}
    return render(request, "settings/budgets.html", context)


@settings_action("settings_budgets")
def budget_set(request: AccessRequest) -> str:
    form = BudgetForm(request.POST)
    if not form.is_valid():
        raise InputError("budget.amount", "A budget is an amount of USD from 0 on, or empty.")
    slug, usd = form.cleaned_data["process"], form.cleaned_data["usd_per_day"]
    project = request.access.project
    process = Process.objects.filter(project=project, slug=slug).first() if slug else None
    if slug and process is None:
        raise Http404
    budgets.set_budget(
        project=project, process=process, usd_per_day=usd, actor=request.access.actor
    )
    name = process.title if process else "the project"
    return f"No limit for {name}." if usd is None else f"{plain(usd)} USD a day for {name}."
