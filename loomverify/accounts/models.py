from __future__ import annotations

import uuid
from typing import Any, ClassVar

from django.contrib.auth.models import AbstractUser
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Lower
from django.utils import timezone


class Role(models.TextChoices):
    """What a member or a key may do. Each role holds the ones before it."""

    VIEWER = "viewer", "Viewer"
    AGENT = "agent", "Agent"
    REVIEWER = "reviewer", "Reviewer"
    EDITOR = "editor", "Editor"
    ADMIN = "admin", "Admin"

    def holds(self, needed: Role) -> bool:
        order = list(Role)
        return order.index(self) >= order.index(needed)


class User(AbstractUser):
    """A person. Signs in with the user name or the e-mail address."""

    reset_mailed_at = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(Lower("username"), name="user_name_unique"),
            models.UniqueConstraint(
                Lower("email"), condition=~models.Q(email=""), name="user_email_unique"
            ),
        ]

    def __str__(self) -> str:
        return self.get_full_name() or self.username


class Project(models.Model):
    """Everything belongs to one project; nothing is seen from another."""

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    slug = models.SlugField(max_length=60, unique=True)
    name = models.CharField(max_length=120)
    time_zone = models.CharField(max_length=60, default="UTC")
    redaction_patterns = ArrayField(models.CharField(max_length=500), default=list, blank=True)
    retention_days = models.PositiveIntegerField(default=90)
    created_at = models.DateTimeField(auto_now_add=True)
    removed_at = models.DateTimeField(null=True, blank=True, editable=False)

    def __str__(self) -> str:
        return self.name


class Member(models.Model):
    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="members")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=10, choices=Role)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["project", "user"], name="member_unique"),
        ]

    def __str__(self) -> str:
        return f"{self.user} in {self.project}"


class ApiKey(models.Model):
    """Only the SHA-256 of a key is stored; `prefix` (`lv_` and four more) tells keys apart."""

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="api_keys")
    name = models.CharField(max_length=80)
    prefix = models.CharField(max_length=12)
    sha256 = models.CharField(max_length=64, unique=True)
    role = models.CharField(max_length=10, choices=Role)
    created_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering: ClassVar = ["-created_at", "-id"]

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"

    @property
    def state(self) -> str:
        if self.revoked_at:
            return "revoked"
        if self.expires_at and self.expires_at <= timezone.now():
            return "expired"
        return "in force"


class Invitation(models.Model):
    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="invitations")
    email = models.EmailField()
    role = models.CharField(max_length=10, choices=Role)
    sha256 = models.CharField(max_length=64, unique=True)
    invited_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    accepted_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"{self.email} to {self.project}"

    @property
    def is_open(self) -> bool:
        return not (self.accepted_at or self.revoked_at) and self.expires_at > timezone.now()


class AuditEntry(models.Model):
    """Who changed what, when. Never edited, never deleted but with its project."""

    project = models.ForeignKey(
        Project, null=True, on_delete=models.CASCADE, related_name="audit_entries"
    )
    at = models.DateTimeField(auto_now_add=True)
    user = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    api_key = models.ForeignKey(ApiKey, null=True, on_delete=models.SET_NULL, related_name="+")
    actor = models.CharField(max_length=200, help_text="The actor's name at that time.")
    verb = models.CharField(max_length=60, help_text="Such as key.created or member.role_changed.")
    object_type = models.CharField(max_length=40)
    object_id = models.CharField(max_length=64, blank=True)
    object_name = models.CharField(max_length=200, blank=True)
    diff = models.JSONField(default=dict, help_text="{field: [before, after]}")
    reason = models.TextField(blank=True)

    class Meta:
        indexes: ClassVar = [
            models.Index(fields=["project", "-at", "-id"], name="audit_newest"),
            models.Index(fields=["object_id", "-at", "-id"], name="audit_of_object"),
        ]
        verbose_name_plural = "audit entries"

    def __str__(self) -> str:
        return f"{self.actor} {self.verb} {self.object_name}"

    @property
    def changes(self) -> list[tuple[str, str, str]]:
        """Each field with what it was and what it is, as text; empty stands for nothing."""
        found = []
        for field, values in self.diff.items():
            before, after = (
                values if isinstance(values, list) and len(values) == 2 else ("", values)
            )
            found.append((field.replace("_", " "), _as_text(before), _as_text(after)))
        return found


def _as_text(value: Any) -> str:
    if value is None or value == []:
        return ""
    if isinstance(value, list):
        return ", ".join(_as_text(each) for each in value)
    return str(value)
