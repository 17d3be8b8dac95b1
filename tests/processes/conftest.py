"""Fixtures of the tests with Django. The tests of `definition` run without it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from loomverify.accounts.models import Project
    from tests.processes.callers import Api


@pytest.fixture
def project() -> Project:
    from loomverify.accounts.models import Project

    return Project.objects.create(slug="ours", name="Ours")


@pytest.fixture
def admin(project: Project) -> Api:
    return _api(project, "admin")


@pytest.fixture
def editor(project: Project) -> Api:
    return _api(project, "editor")


@pytest.fixture
def viewer(project: Project) -> Api:
    return _api(project, "viewer")


@pytest.fixture
def outsider() -> Api:
    from loomverify.accounts.models import Project

    return _api(Project.objects.create(slug="theirs", name="Theirs"), "admin")


def _api(project: Project, role: str) -> Api:
    from loomverify.accounts.models import Role
    from tests.processes.callers import Api

    return Api(project, Role(role))
