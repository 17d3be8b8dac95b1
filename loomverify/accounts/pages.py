"""What settings pages have in common."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from loomverify.accounts.access import AccessRequest, access_of_user, project_page
from loomverify.accounts.models import Role
from loomverify.errors import InputError, NotFound

P = ParamSpec("P")


def settings_action(
    back_to: str,
) -> Callable[[Callable[Concatenate[AccessRequest, P], str]], Callable[..., HttpResponseBase]]:
    """A POST of an admin that changes something, says what, and goes back to the page."""

    def decorate(
        change: Callable[Concatenate[AccessRequest, P], str],
    ) -> Callable[..., HttpResponseBase]:
        @require_POST
        @project_page(Role.ADMIN)
        @wraps(change)
        def view(request: AccessRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
            try:
                messages.success(request, change(request, *args, **kwargs))
            except NotFound as error:
                raise Http404 from error
            except InputError as error:
                messages.error(request, str(error))
            slug = request.access.project.slug
            if access_of_user(request.user, slug) is None:  # they removed themselves
                return redirect("home")
            return redirect(back_to, project=slug)

        return view

    return decorate
