from __future__ import annotations

from django.db.models import F, QuerySet
from django.utils import timezone

from loomverify.accounts.models import ApiKey, AuditEntry, Invitation, Member, Project
from loomverify.paging import newest_first


def members_of(project: Project) -> QuerySet[Member]:
    members = Member.objects.filter(project=project).select_related("user")
    return members.order_by("user__username")


def invitations_of(project: Project) -> QuerySet[Invitation]:
    """Those that can still be accepted, newest first."""
    invitations = Invitation.objects.filter(
        project=project, accepted_at=None, revoked_at=None, expires_at__gt=timezone.now()
    )
    return invitations.select_related("invited_by").order_by("-created_at", "-id")


def keys_of(project: Project) -> list[ApiKey]:
    """Keys in force first, then newest first."""
    keys = ApiKey.objects.filter(project=project).select_related("created_by")
    return sorted(keys, key=lambda key: key.state != "in force")


def audit_entries(project: Project, *, verb: str = "", actor: str = "") -> QuerySet[AuditEntry]:
    entries = AuditEntry.objects.filter(project=project)
    if verb:
        entries = entries.filter(verb=verb)
    if actor:
        entries = entries.filter(actor__icontains=actor)
    return entries


def audit_page(
    project: Project, *, verb: str = "", actor: str = "", cursor: str = ""
) -> tuple[list[AuditEntry], str | None]:
    entries = audit_entries(project, verb=verb, actor=actor).annotate(created_at=F("at"))
    return newest_first(entries, cursor=cursor)


def audit_verbs(project: Project) -> list[str]:
    verbs = AuditEntry.objects.filter(project=project).order_by("verb")
    return list(verbs.values_list("verb", flat=True).distinct())
