from __future__ import annotations

from uuid import UUID

from django.db import transaction

from loomverify.accounts.access import Actor
from loomverify.accounts.audit import record
from loomverify.accounts.models import Member, Project, Role, User
from loomverify.errors import Conflict, NotFound


def add_member(*, project: Project, user: User, role: Role, actor: Actor) -> Member:
    """Make a user a member.

    Raises:
        Conflict: `member.exists`.
    """
    with transaction.atomic():
        lock_members(project)
        member, is_new = Member.objects.get_or_create(
            project=project, user=user, defaults={"role": role}
        )
        if not is_new:
            raise Conflict("member.exists", f"{user} is a member already.")
        diff = {"role": [None, role.value]}
        record(actor, "member.added", member, project=project, diff=diff)
    return member


def change_role(*, project: Project, member_id: UUID, role: Role, actor: Actor) -> Member:
    """Give a member another role.

    Raises:
        NotFound: not a member of this project.
        Conflict: `member.last_admin`: somebody must be able to manage the project.
    """
    with transaction.atomic():
        lock_members(project)
        member = _member(project, member_id)
        if member.role == role:
            return member
        if role != Role.ADMIN:
            _need_another_admin(member)
        diff = {"role": [member.role, role.value]}
        member.role = role
        member.save(update_fields=["role"])
        record(actor, "member.role_changed", member, project=project, diff=diff)
    return member


def remove_member(*, project: Project, member_id: UUID, actor: Actor) -> None:
    """Take a member out of the project; what they did stays.

    Raises:
        NotFound: not a member of this project.
        Conflict: `member.last_admin`.
    """
    with transaction.atomic():
        lock_members(project)
        member = _member(project, member_id)
        _need_another_admin(member)
        diff = {"role": [member.role, None]}
        record(actor, "member.removed", member, project=project, diff=diff)
        member.delete()


def lock_members(project: Project) -> None:
    """Let only one transaction at a time change who belongs to a project."""
    Project.objects.select_for_update().get(pk=project.pk)


def _member(project: Project, member_id: UUID) -> Member:
    members = Member.objects.select_related("user", "project")
    member = members.filter(project=project, uuid=member_id).first()
    if member is None:
        raise NotFound("member.unknown", "There is no such member.")
    return member


def _need_another_admin(member: Member) -> None:
    if member.role != Role.ADMIN:
        return
    admins = Member.objects.filter(project=member.project, role=Role.ADMIN, user__is_active=True)
    if not admins.exclude(pk=member.pk).exists():
        raise Conflict(
            "member.last_admin",
            f"{member.user} is the last admin. Make somebody else an admin first.",
        )
