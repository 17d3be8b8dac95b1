from __future__ import annotations

from loomverify.accounts.access import SYSTEM
from loomverify.accounts.models import Project, Role
from loomverify.accounts.services import create_api_key, invite
from tests.builders import make_user
from tests.runs.conftest import new_project
from tests.world import fill


def whole_project(slug: str) -> Project:
    project = new_project(slug)
    fill(project)
    make_user(project, Role.ADMIN)
    invite(project=project, email=f"ada@{slug}.example", role=Role.VIEWER, actor=SYSTEM)
    return project


def key_of(project: Project, role: Role) -> str:
    _, secret = create_api_key(project=project, name=f"a {role}", role=role, actor=SYSTEM)
    return secret
