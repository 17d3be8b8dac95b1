from __future__ import annotations

import secrets
from datetime import timedelta
from uuid import UUID

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from loomverify.accounts import mails
from loomverify.accounts.access import Actor, person
from loomverify.accounts.audit import record
from loomverify.accounts.models import Invitation, Member, Project, Role, User
from loomverify.accounts.services.keys import digest
from loomverify.accounts.services.members import lock_members
from loomverify.accounts.services.people import create_user
from loomverify.errors import Conflict, InputError, NotFound

INVITATION_DAYS = 7
TOKEN_BYTES = 32


def invite(
    *, project: Project, email: str, role: Role, actor: Actor
) -> tuple[Invitation, str, bool]:
    """Invite an address; return the invitation, its token, and whether the mail went out.

    An open invitation of the same address is revoked: the newest link counts.

    Raises:
        InputError: `invitation.email.invalid`.
        Conflict: `member.exists`.
    """
    email = _checked_email(email)
    token = secrets.token_urlsafe(TOKEN_BYTES)
    with transaction.atomic():
        lock_members(project)
        if Member.objects.filter(project=project, user__email__iexact=email).exists():
            raise Conflict("member.exists", f"{email} is a member already.", loc=("email",))
        for older in _open(project).filter(email__iexact=email):
            _revoke(older, actor)
        invitation = Invitation.objects.create(
            project=project,
            email=email,
            role=role,
            sha256=digest(token),
            invited_by=actor.user,
            expires_at=timezone.now() + timedelta(days=INVITATION_DAYS),
        )
        diff = {"role": [None, role.value]}
        record(actor, "invitation.created", invitation, project=project, diff=diff)
    is_mailed = mails.is_sent(mails.send_invitation, invitation, token, actor.name)
    return invitation, token, is_mailed


def revoke_invitation(*, project: Project, invitation_id: UUID, actor: Actor) -> bool:
    """Take back an invitation. False: it was accepted, revoked or expired before.

    Raises:
        NotFound: the project has no such invitation.
    """
    with transaction.atomic():
        lock_members(project)
        mine = Invitation.objects.filter(project=project, uuid=invitation_id)
        if not mine.exists():
            raise NotFound("invitation.unknown", "There is no such invitation.")
        invitation = _open(project).filter(uuid=invitation_id).first()
        if invitation is None:
            return False
        _revoke(invitation, actor)
    return True


def open_invitation(token: str) -> Invitation | None:
    """Return the invitation behind a link, while it can be accepted."""
    invitations = Invitation.objects.select_related("project", "invited_by")
    invitation = invitations.filter(sha256=digest(token)).first()
    return invitation if invitation and invitation.is_open else None


def accept_invitation(*, token: str, user: User) -> Member:
    """Make a user a member as invited; who is one already keeps the higher role.

    Raises:
        NotFound: the link is not, or no longer, good for anything.
    """
    with transaction.atomic():
        invitation = _claim(token)
        return _join(invitation, user)


def register_invited(*, token: str, username: str, full_name: str, password: str) -> User:
    """Create the invited person, with the address the invitation went to, and let them join.

    Raises:
        NotFound: the link is not, or no longer, good for anything.
        Conflict: `user.name.taken`, `user.email.taken`.
        InputError: `user.name.invalid`.
    """
    with transaction.atomic():
        invitation = _claim(token)
        user = create_user(
            username=username,
            full_name=full_name,
            email=invitation.email,
            password=password,
            project=invitation.project,
        )
        _join(invitation, user)
    return user


def _join(invitation: Invitation, user: User) -> Member:
    project, role, actor = invitation.project, Role(invitation.role), person(user)
    record(actor, "invitation.accepted", invitation, project=project)
    member = Member.objects.filter(project=project, user=user).first()
    if member is None:
        member = Member.objects.create(project=project, user=user, role=role)
        diff = {"role": [None, role.value]}
        record(actor, "member.added", member, project=project, diff=diff)
    elif not Role(member.role).holds(role):
        diff = {"role": [member.role, role.value]}
        member.role = role
        member.save(update_fields=["role"])
        record(actor, "member.role_changed", member, project=project, diff=diff)
    return member


def _claim(token: str) -> Invitation:
    """Take the invitation for good: a link works once."""
    found = open_invitation(token)
    if found is not None:
        lock_members(found.project)
        now = timezone.now()
        won = _open(found.project).filter(pk=found.pk).update(accepted_at=now)
        if won:
            found.accepted_at = now
            return found
    raise NotFound("invitation.over", "This invitation is not, or no longer, valid.")


def _open(project: Project) -> QuerySet[Invitation]:
    return Invitation.objects.filter(
        project=project, accepted_at=None, revoked_at=None, expires_at__gt=timezone.now()
    )


def _revoke(invitation: Invitation, actor: Actor) -> None:
    invitation.revoked_at = timezone.now()
    invitation.save(update_fields=["revoked_at"])
    record(actor, "invitation.revoked", invitation, project=invitation.project)


def _checked_email(email: str) -> str:
    email = email.strip()
    try:
        validate_email(email)
        if len(email) > 254:
            raise ValidationError("too long")
    except ValidationError as error:
        raise InputError(
            "invitation.email.invalid", "This is no e-mail address.", loc=("email",)
        ) from error
    return email
