"""Settings of a project: members, keys, the project itself."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from loomverify.accounts import mails, selectors, services
from loomverify.accounts.access import AccessRequest, project_page
from loomverify.accounts.forms import (
    InvitationForm,
    KeyForm,
    ProjectSettingsForm,
    RoleForm,
    show_errors,
)
from loomverify.accounts.models import Role
from loomverify.accounts.pages import settings_action
from loomverify.errors import InputError

PAGE = ["GET", "HEAD", "POST"]


@require_safe
@project_page()
def project_settings(request: AccessRequest) -> HttpResponse:
    return redirect("settings_members", project=request.access.project.slug)


@never_cache
@require_safe
@project_page()
def members(request: AccessRequest) -> HttpResponse:
    """Everybody sees who is there; admins also who is invited."""
    return _members_page(request, InvitationForm())


@never_cache
@require_POST
@project_page(Role.ADMIN)
def invite(request: AccessRequest) -> HttpResponse:
    """Show the link once too, on the answer itself: it is kept nowhere but in the mail."""
    form = InvitationForm(request.POST)
    if not form.is_valid():
        return _members_page(request, form, status=422)
    try:
        invitation, token, is_mailed = services.invite(
            project=request.access.project,
            email=form.cleaned_data["email"],
            role=Role(form.cleaned_data["role"]),
            actor=request.access.actor,
        )
    except InputError as error:
        show_errors(form, error)
        return _members_page(request, form, status=422)
    made = {
        "invitation": invitation,
        "link": mails.link("invitation", token=token),
        "is_mailed": is_mailed,
    }
    return _members_page(request, InvitationForm(), made=made)


@settings_action("settings_members")
def member_role(request: AccessRequest, member_id: UUID) -> str:
    form = RoleForm(request.POST)
    if not form.is_valid():
        raise InputError("member.role.unknown", "There is no such role.")
    member = services.change_role(
        project=request.access.project,
        member_id=member_id,
        role=Role(form.cleaned_data["role"]),
        actor=request.access.actor,
    )
    return f"{member.user} is {member.get_role_display().lower()} now."


@settings_action("settings_members")
def member_remove(request: AccessRequest, member_id: UUID) -> str:
    services.remove_member(
        project=request.access.project, member_id=member_id, actor=request.access.actor
    )
    return "Removed."


@settings_action("settings_members")
def invitation_revoke(request: AccessRequest, invitation_id: UUID) -> str:
    revoked = services.revoke_invitation(
        project=request.access.project, invitation_id=invitation_id, actor=request.access.actor
    )
    return "The invitation is revoked." if revoked else "The invitation was over already."


@never_cache
@require_http_methods(PAGE)
@project_page(Role.ADMIN)
def keys(request: AccessRequest) -> HttpResponse:
    """A new secret is shown on the answer itself: nothing but its hash is kept, here too."""
    if request.method != "POST":
        return _keys_page(request, KeyForm())
    form = KeyForm(request.POST)
    if not form.is_valid():
        return _keys_page(request, form, status=422)
    try:
        key, secret = services.create_api_key(
            project=request.access.project,
            name=form.cleaned_data["name"],
            role=Role(form.cleaned_data["role"]),
            expires_at=form.expires_at(),
            actor=request.access.actor,
        )
    except InputError as error:
        show_errors(form, error)
        return _keys_page(request, form, status=422)
    return _keys_page(request, KeyForm(), made=key, secret=secret)


@settings_action("settings_keys")
def key_revoke(request: AccessRequest, key_id: UUID) -> str:
    revoked = services.revoke_api_key(
        project=request.access.project, key_id=key_id, actor=request.access.actor
    )
    return "The key is revoked." if revoked else "The key was revoked already."


@require_http_methods(PAGE)
@project_page(Role.ADMIN)
def project(request: AccessRequest) -> HttpResponse:
    if request.method != "POST":
        form = ProjectSettingsForm.of(request.access.project)
        return render(request, "settings/project.html", {"form": form})
    form = ProjectSettingsForm(request.POST)
    if form.is_valid():
        try:
            services.change_project(
                project=request.access.project, actor=request.access.actor, **form.cleaned_data
            )
        except InputError as error:
            show_errors(form, error)
        else:
            messages.success(request, "Saved.")
            return redirect("settings_project", project=request.access.project.slug)
    return render(request, "settings/project.html", {"form": form}, status=422)


def _members_page(
    request: AccessRequest,
    form: InvitationForm,
    *,
    made: dict[str, Any] | None = None,
    status: int = 200,
) -> HttpResponse:
    access = request.access
    context = {
        "form": form,
        "made": made,
        "members": selectors.members_of(access.project),
        "invitations": selectors.invitations_of(access.project) if access.is_admin else [],
        "roles": list(reversed(Role.choices)),
    }
    return render(request, "settings/members.html", context, status=status)


def _keys_page(
    request: AccessRequest, form: KeyForm, *, status: int = 200, **made: Any
) -> HttpResponse:
    context = {
        "form": form,
        "keys": selectors.keys_of(request.access.project),
        "base_url": settings.BASE_URL,
        **made,
    }
    return render(request, "settings/keys.html", context, status=status)
