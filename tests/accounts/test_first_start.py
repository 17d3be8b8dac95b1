from __future__ import annotations

import re
import threading

import pytest
from django.db import connection

from loomverify.accounts.access import SYSTEM
from loomverify.accounts.models import ApiKey, AuditEntry, Member, Project, Role, User
from loomverify.accounts.services import FirstStart, ensure_first_start, revoke_api_key
from loomverify.api import access_of_key

KEY = "lv_" + "k" * 43
pytestmark = pytest.mark.django_db


def test_the_first_start_makes_a_project_its_admin_and_a_key() -> None:
    first = ensure_first_start(admin_password="", api_key="")

    admin = User.objects.get(username="admin")
    access = access_of_key(first.api_key or "")
    assert (first.project.slug, first.project.name) == ("default", "Default")
    assert admin.is_superuser
    assert admin.check_password(first.admin_password or "")
    assert Member.objects.get(user=admin, project=first.project).role == Role.ADMIN
    assert re.fullmatch(r"lv_[A-Za-z0-9_-]{43}", first.api_key or "")
    assert access is not None
    assert (access.project, access.role) == (first.project, Role.ADMIN)


def test_a_second_start_changes_nothing_and_tells_no_secret() -> None:
    first = ensure_first_start(admin_password="", api_key="")
    before = AuditEntry.objects.count()

    second = ensure_first_start(admin_password="", api_key="")

    assert second == FirstStart(first.project, None, None)
    assert AuditEntry.objects.count() == before


def test_given_secrets_are_used() -> None:
    first = ensure_first_start(admin_password="four dyed threads", api_key=KEY)

    assert (first.admin_password, first.api_key) == ("four dyed threads", KEY)
    assert access_of_key(KEY) is not None


def test_another_password_at_a_later_start_is_applied() -> None:
    ensure_first_start(admin_password="four dyed threads", api_key=KEY)

    later = ensure_first_start(admin_password="five dyed threads", api_key=KEY)

    assert (later.admin_password, later.api_key) == ("five dyed threads", None)
    assert User.objects.get().check_password("five dyed threads")
    assert AuditEntry.objects.filter(verb="user.password_set").count() == 1


def test_another_key_at_a_later_start_is_added() -> None:
    ensure_first_start(admin_password="", api_key="")

    later = ensure_first_start(admin_password="", api_key=KEY)

    assert later.api_key == KEY
    assert ApiKey.objects.count() == 2


def test_a_given_key_that_was_revoked_stays_revoked() -> None:
    first = ensure_first_start(admin_password="", api_key=KEY)
    revoke_api_key(project=first.project, key_id=ApiKey.objects.get().uuid, actor=SYSTEM)

    ensure_first_start(admin_password="", api_key=KEY)

    assert access_of_key(KEY) is None


def test_an_admin_taken_out_of_the_project_is_not_put_back() -> None:
    ensure_first_start(admin_password="", api_key="")
    Member.objects.all().delete()

    ensure_first_start(admin_password="", api_key="")

    assert not Member.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_two_first_starts_at_once_make_one() -> None:
    found: list[FirstStart] = []
    together = threading.Barrier(2)

    def start() -> None:
        together.wait()
        found.append(ensure_first_start(admin_password="", api_key=""))
        connection.close()

    threads = [threading.Thread(target=start) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert Project.objects.count() == User.objects.count() == ApiKey.objects.count() == 1
    assert sorted(bool(first.api_key) for first in found) == [False, True]
