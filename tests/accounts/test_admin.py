from __future__ import annotations

import pytest
from django.urls import reverse

from loomverify.accounts.access import SYSTEM
from loomverify.accounts.models import AuditEntry, Project, Role, User
from loomverify.accounts.services import create_api_key, invite
from tests.accounts.conftest import make_person, member, signed_in

MODELS = ["user", "project", "member", "apikey", "invitation", "auditentry"]


@pytest.fixture
def root(db: None) -> User:
    return User.objects.create_superuser("root", "root@example.org", "a long password")


@pytest.mark.extended
@pytest.mark.parametrize("model", MODELS)
def test_operators_look_and_change_nothing(
    model: str, root: User, project: Project, ada: User
) -> None:
    key, _ = create_api_key(project=project, name="ci", role=Role.AGENT, actor=SYSTEM)
    invitation, _, _ = invite(
        project=project, email="ivy@example.org", role=Role.VIEWER, actor=SYSTEM
    )
    rows = {
        "user": ada,
        "project": project,
        "member": member(ada),
        "apikey": key,
        "invitation": invitation,
        "auditentry": AuditEntry.objects.first(),
    }
    row = rows[model]
    assert row is not None
    client = signed_in(root)

    shown = client.get(reverse(f"admin:accounts_{model}_changelist"))
    one = client.get(reverse(f"admin:accounts_{model}_change", args=[row.pk]))
    added = client.post(reverse(f"admin:accounts_{model}_add"))
    changed = client.post(reverse(f"admin:accounts_{model}_change", args=[row.pk]))
    deleted = client.post(reverse(f"admin:accounts_{model}_delete", args=[row.pk]))

    assert (shown.status_code, one.status_code) == (200, 200)
    assert (added.status_code, changed.status_code, deleted.status_code) == (403, 403, 403)
    for secret in (key.sha256, invitation.sha256, ada.password):
        assert secret not in one.content.decode()


def test_operators_switch_accounts_off_and_on_through_the_service(root: User, db: None) -> None:
    nina, client = make_person("nina"), signed_in(root)
    address = reverse("admin:accounts_user_changelist")
    chosen = [nina.pk, root.pk]

    client.post(address, {"action": "switch_off", "_selected_action": chosen})
    off = list(User.objects.filter(is_active=False))
    client.post(address, {"action": "switch_on", "_selected_action": chosen})

    assert off == [nina]
    assert not User.objects.filter(is_active=False).exists()
    diffs = AuditEntry.objects.filter(verb="user.changed", actor="root").order_by("id")
    assert [entry.diff for entry in diffs] == [
        {"is_active": [True, False]},
        {"is_active": [False, True]},
    ]


def test_operators_change_their_password_where_all_do(root: User) -> None:
    assert signed_in(root).get("/admin/password_change/")["Location"] == "/password/change/"


def test_whoever_is_no_operator_is_kept_out(ada: User) -> None:
    assert signed_in(ada).get("/admin/", follow=True).status_code == 403
