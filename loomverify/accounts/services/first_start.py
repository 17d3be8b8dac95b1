from __future__ import annotations

import secrets
from dataclasses import dataclass

from django.db import connection, transaction

from loomverify.accounts.access import SYSTEM
from loomverify.accounts.audit import record
from loomverify.accounts.models import ApiKey, Member, Project, Role, User
from loomverify.accounts.services.keys import create_api_key, digest
from loomverify.accounts.services.members import add_member
from loomverify.accounts.services.projects import create_project

PROJECT_SLUG = "default"
ADMIN_NAME = "admin"
PASSWORD_BYTES = 12


@dataclass(frozen=True, slots=True)
class FirstStart:
    """What stands; the secrets only when this call made or changed them."""

    project: Project
    admin_password: str | None
    api_key: str | None


def ensure_first_start(*, admin_password: str, api_key: str) -> FirstStart:
    """Make the project, the admin and the key of a first start, each only where missing.

    Empty secrets are generated. A given password is applied to the admin of an earlier start
    too; a given key that exists is kept as it is. Safe to call at once from several places.
    """
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("select pg_advisory_xact_lock(hashtext('first_start'))")
        project, is_new = _project()
        password = _admin(project, admin_password, is_new_project=is_new)
        key = _api_key(project, api_key)
    return FirstStart(project, password, key)


def _project() -> tuple[Project, bool]:
    project = Project.objects.filter(slug=PROJECT_SLUG).first()
    if project is not None:
        return project, False
    return create_project(name="Default", slug=PROJECT_SLUG, actor=SYSTEM), True


def _admin(project: Project, given: str, *, is_new_project: bool) -> str | None:
    user = User.objects.filter(username=ADMIN_NAME, is_superuser=True).first()
    if user is None:
        if User.objects.filter(username__iexact=ADMIN_NAME).exists():
            return None  # somebody's name by now, and theirs to keep
        password = given or secrets.token_urlsafe(PASSWORD_BYTES)
        user = User.objects.create_superuser(ADMIN_NAME, password=password)
        record(SYSTEM, "user.created", user, project=None)
        add_member(project=project, user=user, role=Role.ADMIN, actor=SYSTEM)
        return password
    if is_new_project and not Member.objects.filter(project=project, user=user).exists():
        add_member(project=project, user=user, role=Role.ADMIN, actor=SYSTEM)
    if not given or user.check_password(given):
        return None
    user.set_password(given)
    user.save(update_fields=["password"])
    record(SYSTEM, "user.password_set", user, project=None, reason="LOOMVERIFY_ADMIN_PASSWORD")
    return given


def _api_key(project: Project, given: str) -> str | None:
    if given:
        if ApiKey.objects.filter(sha256=digest(given)).exists():
            return None
    elif ApiKey.objects.filter(project=project).exists():
        return None
    name = "LOOMVERIFY_API_KEY" if given else "First key"
    _, secret = create_api_key(
        project=project, name=name, role=Role.ADMIN, actor=SYSTEM, secret=given
    )
    return secret
