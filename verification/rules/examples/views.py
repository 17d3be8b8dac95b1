"""Pages of a rule's pinned examples."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from loomverify.accounts.access import AccessRequest, project_page
from loomverify.accounts.models import Role
from loomverify.errors import InputError, NotFound
from processes.models import Process
from processes.renames import renamed_in
from processes.views.access import process_of
from verification.rules.examples import services
from verification.rules.examples.forms import PastedForm, RunForm
from verification.rules.examples.listing import listing, url_of
from verification.rules.examples.selectors import rule_row, stand_of
from verification.rules.examples.sources import Source, text_of
from verification.rules.models import Expected
from verification.runs.models import Run
from verification.runs.named import run_named

PAGE = ["GET", "HEAD", "POST"]
SHOWN_CHARS = 4_000


@never_cache
@require_http_methods(PAGE)
@project_page()
def rule_examples(request: AccessRequest) -> HttpResponse:
    """All pins of one rule, and a form to paste another."""
    process = process_of(request, request.GET.get("process", ""))
    name = _rule_name(request, process, request.GET.get("rule", ""))
    if request.method != "POST":
        return _page(request, process, name, PastedForm())
    if not request.access.is_editor:
        raise PermissionDenied
    form = PastedForm(request.POST)
    if not form.is_valid():
        return _page(request, process, name, form, status=422)
    told = form.cleaned_data
    try:
        made = services.pin(
            access=request.access,
            process=process,
            name=name,
            expected=Expected(told["expected"]),
            text=told["text"],
            note=told["note"],
        )
    except InputError as error:
        _blame(form, error)
        return _page(request, process, name, form, status=error.status)
    return _pinned(request, made, url_of(process, name, made.pin))


@never_cache
@require_http_methods(PAGE)
@project_page(Role.EDITOR)
def rule_example_of_run(request: AccessRequest, run: UUID) -> HttpResponse:
    """Pin what was submitted with a run to a rule of its process."""
    found = run_named(request, run)
    source = Source(found, request.GET.get("file", ""), request.GET.get("evidence", ""))
    stand = stand_of(found.process, request.user)
    names = list(dict.fromkeys(rule.name for rule in stand.definition.rules))
    initial = {
        key: asked
        for key, known in (("rule", names), ("expected", Expected.values))
        if (asked := request.GET.get(key, "")) in known
    }
    form = RunForm(request.POST or None, names=names, initial=initial)
    if request.method != "POST" or not form.is_valid():
        return _run_page(request, source, form, status=422 if form.is_bound else 200)
    told = form.cleaned_data
    try:
        made = services.pin(
            access=request.access,
            process=found.process,
            name=told["rule"],
            expected=Expected(told["expected"]),
            source=source,
            note=told["note"],
        )
    except InputError as error:
        _blame(form, error)
        return _run_page(request, source, form, status=error.status)
    return _pinned(request, made, url_of(_project_of(found), told["rule"], made.pin))


@require_POST
@project_page(Role.EDITOR)
def rule_example_remove(request: AccessRequest, pin: UUID) -> HttpResponse:
    found = services.take_away(access=request.access, pin=pin)
    messages.info(request, "The example is taken away. It stands below, to be taken back.")
    return redirect(f"{url_of(found.rule.process, found.rule.name)}&removed={found.uuid}")


@require_POST
@project_page(Role.EDITOR)
def rule_example_restore(request: AccessRequest, pin: UUID) -> HttpResponse:
    try:
        found = services.take_back(access=request.access, pin=pin)
    except NotFound as error:
        raise Http404 from error
    except InputError as error:
        messages.warning(request, str(error))
        found = services.pin_named(request.access, pin)
    else:
        messages.success(request, "The example is back.")
    return redirect(url_of(found.rule.process, found.rule.name, found))


def _rule_name(request: AccessRequest, process: Process, name: str) -> str:
    try:
        return rule_row(process, name, request.user).name
    except NotFound as error:
        raise Http404 from error


def _page(
    request: AccessRequest, process: Process, name: str, form: PastedForm, *, status: int = 200
) -> HttpResponse:
    stand = stand_of(process, request.user)
    rule = stand.rule(name)
    formerly = renamed_in(process, stand.definition).get(name, "")
    shown: dict[str, Any] = {
        "process": process,
        "name": name,
        "formerly": formerly,
        "stand": stand,
        "rule": rule,
        "index": stand.definition.rules.index(rule) if rule and stand.draft else None,
        "listing": listing(process, name, rule, formerly),
        "form": form,
        "max_pins": services.MAX_PINS,
        "removed": _removed(request),
    }
    return render(request, "rules/examples.html", shown, status=status)


def _removed(request: AccessRequest) -> Any:
    """What was taken away just now."""
    try:
        found = services.pin_named(request.access, UUID(request.GET.get("removed", "")))
    except (ValueError, NotFound):
        return None
    return found if found.removed_at else None


def _run_page(
    request: AccessRequest, source: Source, form: RunForm, *, status: int
) -> HttpResponse:
    problem, text = "", ""
    try:
        text = text_of(source)
    except InputError as error:
        problem = str(error)
    shown = {
        "run": source.run,
        "source": source,
        "form": form,
        "text": text[:SHOWN_CHARS],
        "size": len(text.encode()),
        "problem": problem,
    }
    return render(request, "rules/example_of_run.html", shown, status=status)


def _pinned(request: AccessRequest, made: services.Pinned, url: str) -> HttpResponse:
    if made.is_new:
        messages.success(request, f"It is pinned: {made.pin.get_expected_display().lower()}.")
    else:
        messages.info(request, "This text is pinned to the rule already.")
    return redirect(url)


def _blame(form: Any, error: InputError) -> None:
    key = str(error.issues[0].loc[-1]) if error.issues[0].loc else ""
    form.add_error(key if key in form.fields else None, str(error))


def _project_of(run: Run) -> Process:
    """The run's process, which knows its project's name without a query."""
    run.process.project = run.project
    return run.process
