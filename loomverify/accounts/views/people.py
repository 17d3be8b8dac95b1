"""Pages of the person: where they start, their projects, their account, an invitation."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_safe

from loomverify.accounts import services
from loomverify.accounts.access import LAST_PROJECT, person
from loomverify.accounts.forms import (
    DetailsForm,
    EmailForm,
    ProjectForm,
    RegisterForm,
    show_errors,
)
from loomverify.accounts.models import Invitation, Member, User
from loomverify.errors import InputError, NotFound

PAGE = ["GET", "HEAD", "POST"]
BACKEND = "loomverify.accounts.backends.NameOrEmailBackend"


@login_required
@require_safe
def home(request: HttpRequest) -> HttpResponse:
    slugs = [member.project.slug for member in _memberships(_user(request))]
    if not slugs:
        return redirect("project_list")
    last = request.session.get(LAST_PROJECT)
    return redirect("overview", project=last if last in slugs else slugs[0])


@login_required
@require_http_methods(PAGE)
def project_list(request: HttpRequest) -> HttpResponse:
    user = _user(request)
    may_create = services.may_create_project(user)
    if request.method == "POST" and not may_create:
        raise PermissionDenied("Only an admin of some project may create another.")
    form = ProjectForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            project = services.create_project(**form.cleaned_data, owner=user, actor=person(user))
        except InputError as error:
            show_errors(form, error)
        else:
            messages.success(request, f"{project.name} is created, and you are its admin.")
            return redirect("settings_keys", project=project.slug)
    context = {"form": form, "members": _memberships(user), "may_create": may_create}
    return render(request, "accounts/projects.html", context, status=422 if form.errors else 200)


@never_cache
@login_required
@require_http_methods(PAGE)
def account(request: HttpRequest) -> HttpResponse:
    user = _user(request)
    details = DetailsForm(request.POST or None, initial={"full_name": user.get_full_name()})
    if request.method == "POST" and details.is_valid():
        services.change_details(user=user, **details.cleaned_data)
        messages.success(request, "Saved.")
        return redirect("account")
    return _account_page(request, details=details, status=422 if details.errors else 200)


@login_required
@require_http_methods(["POST"])
def account_email(request: HttpRequest) -> HttpResponse:
    form = EmailForm(request.POST)
    if not form.is_valid():
        return _account_page(request, email=form, status=422)
    address = form.cleaned_data["email"]
    if services.request_email_change(user=_user(request), email=address):
        messages.success(request, f"A link is on its way to {address}. Open it signed in.")
    else:
        messages.error(request, "The mail could not be sent. Ask whoever runs this server.")
    return redirect("account")


@login_required
@require_http_methods(PAGE)
def email_change(request: HttpRequest, token: str) -> HttpResponse:
    """The mailed link: a page with one button, since mail programs open links by themselves."""
    if request.method != "POST":
        return render(request, "accounts/email_change.html")
    try:
        address = services.change_email(user=_user(request), token=token)
    except InputError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, f"Your address is {address}.")
    return redirect("account")


@sensitive_post_parameters("password")
@never_cache
@require_http_methods(PAGE)
def invitation(request: HttpRequest, token: str) -> HttpResponse:
    found = services.open_invitation(token)
    if found is None:
        return render(request, "accounts/invitation_over.html", status=404)
    try:
        if request.user.is_authenticated:
            return _accept(request, found, token)
        return _register(request, found, token)
    except NotFound:
        return render(request, "accounts/invitation_over.html", status=404)


def _accept(request: HttpRequest, found: Invitation, token: str) -> HttpResponse:
    if request.method != "POST":
        return render(request, "accounts/invitation.html", {"invitation": found})
    services.accept_invitation(token=token, user=_user(request))
    return _welcome(request, found)


def _register(request: HttpRequest, found: Invitation, token: str) -> HttpResponse:
    form = RegisterForm(request.POST or None, email=found.email)
    is_known = User.objects.filter(email__iexact=found.email).exists()
    if request.method == "POST" and form.is_valid():
        try:
            user = services.register_invited(token=token, **form.cleaned_data)
        except NotFound:
            raise
        except InputError as error:
            show_errors(form, error)
        else:
            login(request, user, backend=BACKEND)
            return _welcome(request, found)
    context = {"invitation": found, "form": form, "is_known": is_known}
    status = 422 if form.errors else 200
    return render(request, "accounts/invitation.html", context, status=status)


def _welcome(request: HttpRequest, found: Invitation) -> HttpResponse:
    messages.success(request, f"Welcome to {found.project.name}.")
    return redirect("overview", project=found.project.slug)


def _account_page(
    request: HttpRequest,
    *,
    details: DetailsForm | None = None,
    email: EmailForm | None = None,
    status: int = 200,
) -> HttpResponse:
    user = _user(request)
    context: dict[str, Any] = {
        "details": details or DetailsForm(initial={"full_name": user.get_full_name()}),
        "email": email or EmailForm(),
        "members": _memberships(user),
    }
    return render(request, "accounts/account.html", context, status=status)


def _memberships(user: User) -> list[Member]:
    members = Member.objects.filter(user=user).select_related("project")
    return list(members.order_by("project__name", "project__slug"))


def _user(request: HttpRequest) -> User:
    if not isinstance(request.user, User):
        raise PermissionDenied
    return request.user
