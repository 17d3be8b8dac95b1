from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.test import Client

from loomverify.accounts import hooks
from loomverify.accounts.access import SYSTEM
from loomverify.accounts.models import Member, Project, Role, User
from loomverify.accounts.services import add_member, create_project
from loomverify.celery import app

PASSWORD = "four dyed threads"


@pytest.fixture(autouse=True)
def quick_setup(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Bare projects, without what rooms above give them, and tasks that run where they are sent."""
    monkeypatch.setattr(hooks, "_on_project_created", [])
    app.conf.task_always_eager = True
    yield
    app.conf.task_always_eager = False


@pytest.fixture
def project(db: None) -> Project:
    return create_project(name="Looms", slug="looms", actor=SYSTEM)


@pytest.fixture
def other_project(db: None) -> Project:
    return create_project(name="Dyes", slug="dyes", actor=SYSTEM)


@pytest.fixture
def ada(project: Project) -> User:
    """The only admin of the project."""
    return make_member(project, "ada", Role.ADMIN)


@pytest.fixture
def outsider(other_project: Project) -> User:
    """An admin elsewhere."""
    return make_member(other_project, "olga", Role.ADMIN)


def make_person(username: str) -> User:
    return User.objects.create_user(username, f"{username}@example.org", PASSWORD)


def make_member(project: Project, username: str, role: Role) -> User:
    user = make_person(username)
    add_member(project=project, user=user, role=role, actor=SYSTEM)
    return user


def member(user: User) -> Member:
    return user.memberships.get()


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user, backend="loomverify.accounts.backends.NameOrEmailBackend")
    return client
