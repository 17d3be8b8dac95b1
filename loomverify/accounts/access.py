"""Who is asking, for which project, in which role: the same answer for pages and the API."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any, Concatenate, ParamSpec

from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import render

from loomverify.accounts.models import ApiKey, Member, Project, Role, User
from loomverify.errors import Forbidden, InputError, NotFound
from loomverify.filters import INVALID as INVALID_FILTER

P = ParamSpec("P")

LAST_PROJECT = "project"
"""The session's entry for the project that `/` leads to."""


@dataclass(frozen=True, slots=True)
class Actor:
    """A person, a key, or the system itself."""

    name: str
    user: User | None = None
    api_key: ApiKey | None = None


SYSTEM = Actor(name="system")


def person(user: User) -> Actor:
    """Name somebody by the user name too: the other one they choose freely."""
    full_name = user.get_full_name()
    return Actor(f"{full_name} ({user.username})" if full_name else user.username, user=user)


@dataclass(frozen=True, slots=True)
class Access:
    project: Project
    role: Role
    actor: Actor

    def may(self, needed: Role) -> bool:
        return self.role.holds(needed)

    def need(self, needed: Role) -> None:
        """Raise Forbidden unless the role holds `needed`."""
        if not self.may(needed):
            raise Forbidden(
                "role.insufficient",
                f"This needs the role {needed.value}; yours is {self.role.value}.",
            )

    # Templates cannot call with arguments.
    @property
    def is_editor(self) -> bool:
        return self.may(Role.EDITOR)

    @property
    def is_reviewer(self) -> bool:
        return self.may(Role.REVIEWER)

    @property
    def is_admin(self) -> bool:
        return self.may(Role.ADMIN)


class AccessRequest(HttpRequest):
    """A request that went through `project_page`."""

    user: User
    access: Access


def access_of_user(user: User, project_slug: str) -> Access | None:
    """None: no such project, or none of this user's. The two look the same from outside."""
    member = (
        Member.objects.select_related("project").filter(user=user, project__slug=project_slug)
    ).first()
    if member is None:
        return None
    return Access(member.project, Role(member.role), person(user))


def project_page(
    needed: Role = Role.VIEWER,
) -> Callable[
    [Callable[Concatenate[AccessRequest, P], HttpResponseBase]], Callable[..., HttpResponseBase]
]:
    """A page below `/p/<project>/`: sign-in first, 404 to outsiders, 403 below the role.

    What the project does not have is 404, too. A filter with a value that it does not take is
    400, and the page names the values. The view finds its `Access` in `request.access`;
    the `project` keyword is taken off.
    """

    def decorate(
        view: Callable[Concatenate[AccessRequest, P], HttpResponseBase],
    ) -> Callable[..., HttpResponseBase]:
        @wraps(view)
        @login_required
        def wrapper(request: Any, *args: Any, project: str, **kwargs: Any) -> HttpResponseBase:
            access = access_of_user(request.user, project)
            if access is None:
                raise Http404
            if not access.may(needed):
                raise PermissionDenied(f"This page needs the role {needed.value}.")
            request.access = access
            if request.session.get(LAST_PROJECT) != access.project.slug:
                request.session[LAST_PROJECT] = access.project.slug
            try:
                return view(request, *args, **kwargs)
            except NotFound as error:
                raise Http404 from error
            except InputError as error:
                if error.code != INVALID_FILTER:
                    raise
                return render(request, "filter_refused.html", {"error": error}, status=400)

        return wrapper

    return decorate
