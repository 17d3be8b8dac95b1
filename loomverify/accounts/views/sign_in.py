"""The way in, the way out, and back in for who forgot the password."""

from __future__ import annotations

import logging
import math
from typing import Any

from axes.helpers import get_cool_off
from axes.models import AccessAttempt
from axes.utils import reset as forget_failures
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import authenticate, login, logout, update_session_auth_hash
from django.contrib.auth.decorators import login_required
from django.contrib.auth.forms import PasswordChangeForm, SetPasswordForm
from django.contrib.auth.views import PasswordResetConfirmView
from django.db.models import Max
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse, reverse_lazy
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from kombu.exceptions import OperationalError

from loomverify.accounts import services
from loomverify.accounts.access import person
from loomverify.accounts.backends import attempt_name
from loomverify.accounts.forms import EmailForm, SignInForm
from loomverify.accounts.models import User
from loomverify.accounts.tasks import request_password_reset

logger = logging.getLogger(__name__)

PAGE = ["GET", "HEAD", "POST"]


@sensitive_post_parameters("password")
@never_cache
@require_http_methods(PAGE)
def sign_in(request: HttpRequest) -> HttpResponse:
    target = safe_target(request)
    if request.user.is_authenticated:
        return redirect(target or "home")
    form = SignInForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        user = authenticate(request, **form.cleaned_data)
        if user is not None:
            login(request, user)
            return redirect(target or "home")
        form.add_error(None, "User name and password do not match.")
    status = 422 if form.errors else 200
    return render(request, "accounts/sign_in.html", {"form": form, "next": target}, status=status)


def safe_target(request: HttpRequest) -> str:
    """Return where `next` leads, if it stays here; empty otherwise."""
    target = request.POST.get("next") or request.GET.get("next") or ""
    is_safe = url_has_allowed_host_and_scheme(
        target, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    )
    return target if is_safe else ""


def locked_out(request: HttpRequest, *_: Any) -> HttpResponse:
    """Answer a sign-in after too many that failed, in place of the page that was asked for."""
    credentials = getattr(request, "axes_credentials", None)
    attempts = AccessAttempt.objects.filter(
        username=attempt_name(request, credentials),
        ip_address=getattr(request, "axes_ip_address", None),
    )
    now, pause = timezone.now(), get_cool_off(request)
    last = attempts.aggregate(last=Max("attempt_time"))["last"] or now
    seconds = max(1, math.ceil((last + pause - now).total_seconds()))
    context = {"minutes": math.ceil(seconds / 60), "failures": settings.AXES_FAILURE_LIMIT}
    answer = render(request, "accounts/locked_out.html", context, status=429)
    answer["Retry-After"] = str(seconds)
    return answer


@require_POST
def sign_out(request: HttpRequest) -> HttpResponse:
    logout(request)
    return redirect("sign_in")


@sensitive_post_parameters()
@never_cache
@login_required
@require_http_methods(PAGE)
def password_change(request: HttpRequest) -> HttpResponse:
    user = request.user
    assert isinstance(user, User)  # noqa: S101 - login_required
    form = PasswordChangeForm(user, request.POST or None)
    if request.method == "POST" and form.is_valid():
        services.set_password(
            user=user,
            password=form.cleaned_data["new_password1"],
            actor=person(user),
            verb="user.password_changed",
        )
        update_session_auth_hash(request, user)
        messages.success(request, "Your password is changed. Other sessions are signed out.")
        return redirect("account")
    status = 422 if form.errors else 200
    return render(request, "accounts/password_change.html", {"form": form}, status=status)


@require_http_methods(PAGE)
def password_reset(request: HttpRequest) -> HttpResponse:
    form = EmailForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        _request_reset(form.cleaned_data["email"])
        return redirect("password_reset_done")
    status = 422 if form.errors else 200
    return render(request, "accounts/password_reset.html", {"form": form}, status=status)


def _request_reset(email: str) -> None:
    """Leave it to a worker: the answer takes as long whether anybody has the address."""
    try:
        request_password_reset.delay(email)
    except (OperationalError, OSError):
        logger.warning("password_reset_not_queued", exc_info=True)
        services.request_password_reset(email=email)


@require_safe
def password_reset_done(request: HttpRequest) -> HttpResponse:
    return render(request, "accounts/password_reset_done.html")


class PasswordResetConfirm(PasswordResetConfirmView):
    """The mailed link. Django's view keeps its token out of addresses and referrers."""

    template_name = "accounts/password_reset_confirm.html"
    success_url = reverse_lazy("sign_in")

    def form_valid(self, form: SetPasswordForm[User]) -> HttpResponse:
        user = form.user
        services.set_password(
            user=user,
            password=form.cleaned_data["new_password1"],
            actor=person(user),
            verb="user.password_reset",
        )
        self.request.session.pop("_password_reset_token", None)
        forget_failures(username=user.username)
        messages.success(self.request, "Your password is set. Sign in with it.")
        return redirect(reverse("sign_in"))

    def form_invalid(self, form: SetPasswordForm[User]) -> HttpResponse:
        return self.render_to_response(self.get_context_data(form=form), status=422)
