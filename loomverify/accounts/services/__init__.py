"""The only writers of projects, people, members, keys and invitations."""

from loomverify.accounts.services.first_start import FirstStart, ensure_first_start
from loomverify.accounts.services.invitations import (
    accept_invitation,
    invite,
    open_invitation,
    register_invited,
    revoke_invitation,
)
from loomverify.accounts.services.keys import create_api_key, revoke_api_key
from loomverify.accounts.services.members import add_member, change_role, remove_member
from loomverify.accounts.services.people import (
    change_details,
    change_email,
    request_email_change,
    request_password_reset,
    set_active,
    set_password,
)
from loomverify.accounts.services.projects import (
    change_project,
    create_project,
    may_create_project,
)

__all__ = [
    "FirstStart",
    "accept_invitation",
    "add_member",
    "change_details",
    "change_email",
    "change_project",
    "change_role",
    "create_api_key",
    "create_project",
    "ensure_first_start",
    "invite",
    "may_create_project",
    "open_invitation",
    "register_invited",
    "remove_member",
    "request_email_change",
    "request_password_reset",
    "revoke_api_key",
    "revoke_invitation",
    "set_active",
    "set_password",
]
