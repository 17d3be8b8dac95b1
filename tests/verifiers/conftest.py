from __future__ import annotations

import pytest
from django.test import Client

from loomverify.accounts.models import Project, Role
from tests.builders import make_project, make_user, signed_in


@pytest.fixture
def project(db: None) -> Project:
    return make_project("loom")


@pytest.fixture
def admin(project: Project) -> Client:
    return signed_in(make_user(project, Role.ADMIN))
