"""Every page below a project, tried by everybody: what a new one forgets to check fails here."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator

import pytest
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from loomverify.accounts.models import Project, Role
from tests.builders import make_project, make_user, signed_in

pytestmark = pytest.mark.django_db

PART = re.compile(r"<(?:(\w+):)?(\w+)>")
STAND_IN = {"int": "1", "slug": "nothing", "str": "nothing", "path": "nothing", "": "nothing"}
WHO = ("nobody", "stranger", Role.VIEWER, Role.ADMIN)
"""Roles build on each other: what any role reaches, an admin reaches."""


def routes(patterns: list[URLPattern | URLResolver], above: str = "") -> Iterator[str]:
    for one in patterns:
        route = above + str(one.pattern)
        if isinstance(one, URLResolver):
            yield from routes(one.url_patterns, route)
        else:
            yield route


ROUTES = [route for route in routes(get_resolver().url_patterns) if route.startswith("p/<")]


def address(route: str, project: Project) -> str:
    """With what is nowhere in the place of each object."""

    def part(found: re.Match[str]) -> str:
        kind, name = found[1] or "", found[2]
        if name == "project":
            return project.slug
        return str(uuid.uuid4()) if kind == "uuid" else STAND_IN[kind]

    return "/" + PART.sub(part, route)


def client_of(who: str, project: Project) -> Client:
    if who == "nobody":
        return Client()
    return signed_in(
        make_user(None if who == "stranger" else project, Role(who if who in Role else "viewer"))
    )


def test_there_are_pages_to_try() -> None:
    assert len(ROUTES) > 100


@pytest.mark.parametrize("method", ["get", "post"])
@pytest.mark.parametrize("who", WHO)
def test_nobody_is_let_in_who_may_not_and_nothing_that_is_not_there_breaks(
    who: str, method: str
) -> None:
    project = make_project("looms")
    make_user(project, Role.ADMIN)  # the last one could not go
    client = client_of(who, project)

    statuses = {
        route: getattr(client, method)(address(route, project)).status_code for route in ROUTES
    }

    assert [route for route, status in statuses.items() if status >= 500] == []
    if who in ("nobody", "stranger"):
        refused = {302, 405} if who == "nobody" else {404, 405}
        assert {route: one for route, one in statuses.items() if one not in refused} == {}
