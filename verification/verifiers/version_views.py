"""Settings: verifier versions, what they are made of, and which of them judges runs."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from loomverify.accounts.access import AccessRequest, project_page
from loomverify.accounts.forms import show_errors
from loomverify.accounts.models import Role
from loomverify.errors import Conflict, InputError
from loomverify.guarding import REASON, Objected
from verification.engine.verifier import ENGINE_BUILD, PROMPT_VERSION
from verification.verifiers import services
from verification.verifiers.comparing import is_of_this_program, judge_alike, side_by_side
from verification.verifiers.guards import ACTIVATING
from verification.verifiers.making import create_version
from verification.verifiers.models import VerifierVersion
from verification.verifiers.version_forms import (
    ActivationForm,
    RollBackForm,
    StartForm,
    VersionForm,
)
from verification.verifiers.version_list import (
    active_version,
    choosable,
    listed_versions,
    version_by_number,
)

ASKED = "Say why it is to judge runs all the same. Nothing was activated."


@require_safe
@project_page()
def settings_verifiers(request: AccessRequest) -> HttpResponse:
    return _listed(request)


def _listed(
    request: AccessRequest, form: RollBackForm | None = None, status: int = 200
) -> HttpResponse:
    project = request.access.project
    listed = listed_versions(project, below=_number(request.GET.get("below", "")))
    initial = {"active": listed.active.number if listed.active else None}
    context = {
        "listed": listed,
        "choosable": choosable(project),
        "form": form or RollBackForm(initial=initial),
    }
    return render(request, "settings/verifiers.html", context, status=status)


@require_POST
@project_page(Role.ADMIN)
def verifier_roll_back(request: AccessRequest) -> HttpResponse:
    """The one toggle: what judged before judges again, and the reason is all it takes."""
    form = RollBackForm(request.POST)
    if not form.is_valid():
        return _listed(request, form, status=422)
    try:
        version = services.roll_back(
            project=request.access.project,
            actor=request.access.actor,
            active=form.cleaned_data["active"],
            reason=form.cleaned_data["reason"],
        )
    except Conflict as error:
        messages.error(request, str(error))
    else:
        messages.success(request, f"v{version.number} judges runs that are submitted from now on.")
    return redirect("settings_verifiers", project=request.access.project.slug)


@require_http_methods(["GET", "HEAD", "POST"])
@project_page(Role.ADMIN)
def verifier_new(request: AccessRequest) -> HttpResponse:
    """A version made from another one; what it starts from stands in the address."""
    start = StartForm(request.GET)
    asked = start.cleaned_data if start.is_valid() else {}
    base = _base(request, asked.get("base"))
    preset = asked.get("preset", "")
    posted = request.POST if request.method == "POST" else None
    form = VersionForm(request.access.project, base, posted, preset=preset)
    if posted is not None and form.is_valid():
        try:
            version, is_new = create_version(
                project=request.access.project, actor=request.access.actor, wish=form.wish()
            )
        except InputError as error:
            show_errors(form, error)
        else:
            _tell_made(request, version, is_new=is_new)
            slug = request.access.project.slug
            return redirect("verifier_detail", project=slug, number=version.number)
    context: dict[str, Any] = {
        "form": form,
        "base": base,
        "preset": preset,
        "choosable": choosable(request.access.project),
        "prompt_version": PROMPT_VERSION,
        "engine_build": ENGINE_BUILD,
    }
    return render(
        request, "settings/verifier_new.html", context, status=422 if form.errors else 200
    )


def _tell_made(request: AccessRequest, version: VerifierVersion, *, is_new: bool) -> None:
    if is_new:
        messages.success(request, f"v{version.number} was made. It judges nothing yet.")
    else:
        messages.info(request, f"v{version.number} says exactly this: no other was made.")


@require_safe
@project_page()
def verifier_compare(request: AccessRequest) -> HttpResponse:
    """Any two; without numbers the active one and the newest other."""
    project = request.access.project
    rows = choosable(project)
    usual = [*(row.number for row in rows), 0, 0]
    old = _asked_for(request, "old", usual[0])
    new = _asked_for(request, "new", usual[1] or usual[0])
    groups = side_by_side(old, new)
    context = {
        "old": old,
        "new": new,
        "groups": groups,
        "is_alike": judge_alike(old, new),
        "is_all": request.GET.get("all") == "1",
        "count": sum(len(group.differing) for group in groups),
        "choosable": rows,
    }
    return render(request, "settings/verifier_compare.html", context)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@project_page()
def verifier_detail(request: AccessRequest, number: int) -> HttpResponse:
    """One version; its activation, for admins, is also the way back."""
    version = version_by_number(request.access.project, number)
    if version is None:
        raise Http404
    if request.method != "POST":
        return _detail(request, version, ActivationForm(), status=200)
    if not request.access.is_admin:
        raise PermissionDenied("Admins activate verifier versions.")
    return _activate(request, version)


def _activate(request: AccessRequest, version: VerifierVersion) -> HttpResponse:
    form = ActivationForm(request.POST)
    if not form.is_valid():
        return _detail(request, version, form, status=422)
    try:
        services.activate(
            project=request.access.project,
            number=version.number,
            actor=request.access.actor,
            reason=form.cleaned_data["reason"],
            corpus_reason=form.cleaned_data[REASON],
        )
    except Objected:
        form.add_error(REASON, ASKED)
        return _detail(request, version, form, status=409)
    except Conflict as error:
        form.add_error(None, str(error))
        return _detail(request, version, form, status=409)
    messages.success(request, f"v{version.number} judges runs that are submitted from now on.")
    return redirect("settings_verifiers", project=request.access.project.slug)


def _detail(
    request: AccessRequest, version: VerifierVersion, form: ActivationForm, *, status: int
) -> HttpResponse:
    active = active_version(request.access.project)
    groups = side_by_side(active or version, version)
    may_activate = request.access.is_admin and not version.is_active
    context: dict[str, Any] = {
        "version": version,
        "active": active,
        "is_alike": active is not None and judge_alike(active, version),
        "is_of_this_program": is_of_this_program(version),
        "prompt_version": PROMPT_VERSION,
        "engine_build": ENGINE_BUILD,
        "groups": groups,
        "count": sum(len(group.differing) for group in groups),
        "form": form,
        "words": ACTIVATING.words(version) if may_activate else (),
        "may_activate": may_activate,
    }
    return render(request, "settings/verifier.html", context, status=status)


def _base(request: AccessRequest, number: int | None) -> VerifierVersion:
    project = request.access.project
    base = active_version(project) if number is None else version_by_number(project, number)
    if base is None:
        raise Http404
    return base


def _asked_for(request: AccessRequest, name: str, usual: int) -> VerifierVersion:
    number = _number(request.GET.get(name, "")) or usual
    version = version_by_number(request.access.project, number)
    if version is None:
        raise Http404
    return version


def _number(text: str) -> int | None:
    """None where it is none that a version could have."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else None
