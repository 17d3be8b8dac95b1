from __future__ import annotations

import uuid
from typing import ClassVar

from django.db import models

from loomverify.accounts.models import Project
from verification.actions.models.repositories import Repository
from verification.runs.models import Blob, Run


class ChangeKind(models.TextChoices):
    PATCH = "patch", "Patch"
    BUNDLE = "bundle", "Bundle"
    COMMIT = "commit", "Commit that is there already"


class Change(models.Model):
    """What a run's work changes in a repository. `tree_sha` is what was verified.

    `standing` is what became of it, and the other two which of its actions says so: PostgreSQL
    keeps them whenever an action is made or changed (migration 0006), so that a night is counted
    from one index.
    """

    project = models.ForeignKey(
        Project, on_delete=models.CASCADE, related_name="changes", db_index=False
    )
    submitted_at = models.DateTimeField(help_text="When its run was.")
    run = models.OneToOneField(Run, on_delete=models.CASCADE, related_name="change")
    repository = models.ForeignKey(Repository, on_delete=models.RESTRICT, related_name="changes")
    kind = models.CharField(max_length=10, choices=ChangeKind)
    base_sha = models.CharField(max_length=64)
    tree_sha = models.CharField(max_length=64)
    commit_sha = models.CharField(max_length=64, blank=True, help_text="Of the kind commit.")
    blob = models.ForeignKey(
        Blob, null=True, on_delete=models.RESTRICT, related_name="+", help_text="Patch or bundle."
    )
    paths = models.JSONField(default=list, help_text="[{path, status}], status as git's letters.")
    follows = models.ForeignKey(
        "self",
        null=True,
        on_delete=models.SET_NULL,
        related_name="followed_by",
        help_text="The same work upon an older base, which had moved before it could land.",
    )
    standing = models.CharField(max_length=10, default="nothing", editable=False)
    standing_kind = models.CharField(max_length=20, blank=True, editable=False)
    standing_reason = models.CharField(max_length=60, blank=True, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        indexes: ClassVar = [
            models.Index(
                fields=["project", "standing", "-submitted_at", "-id"],
                include=["standing_kind", "standing_reason"],
                name="change_standing",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} on {self.base_sha[:12]}"


class ActionKind(models.TextChoices):
    COMMIT = "commit", "Commit"
    REVIEW_BRANCH = "review_branch", "Review branch"
    REVERT = "revert", "Revert"
    RESTORE = "restore", "Restore"
    CLOSE = "close", "Close the review branch"


class ActionState(models.TextChoices):
    PROPOSED = "proposed", "Proposed"
    PENDING = "pending", "Pending"
    DONE = "done", "Done"
    HELD = "held", "Held"
    DECLINED = "declined", "Declined"
    WITHDRAWN = "withdrawn", "Withdrawn"


class Action(models.Model):
    """One thing to be done with a run's change in its repository; one of each kind per turn.

    Work that was taken back may be put back, and taken back again: that is another turn.
    `reason_code` says why it is held or withdrawn. `new_sha` is written before anything is
    pushed, so that a repeated attempt knows its own commit again.
    """

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="actions")
    change = models.ForeignKey(Change, on_delete=models.CASCADE, related_name="actions")
    submitted_at = models.DateTimeField(help_text="When the change's run was.")
    kind = models.CharField(max_length=20, choices=ActionKind)
    turn = models.PositiveIntegerField(default=1)
    state = models.CharField(max_length=10, choices=ActionState)
    reason_code = models.CharField(max_length=60, blank=True)
    detail = models.CharField(max_length=500, blank=True)
    ref = models.CharField(max_length=300, blank=True)
    expected_sha = models.CharField(max_length=64, blank=True)
    new_sha = models.CharField(max_length=64, blank=True)
    evidence = models.JSONField(default=dict)
    attempts = models.PositiveIntegerField(default=0)
    next_at = models.DateTimeField()
    lease_until = models.DateTimeField(null=True, blank=True)
    decided_by = models.CharField(max_length=200, blank=True)
    decided_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["change", "kind", "turn"], name="action_unique"),
        ]
        indexes: ClassVar = [
            models.Index(
                fields=["next_at"], condition=models.Q(state="pending"), name="action_due"
            ),
            models.Index(fields=["project", "-created_at", "-id"], name="action_newest"),
            models.Index(
                fields=["project", "state", "-created_at"],
                include=["kind", "reason_code"],
                name="action_by_state",
            ),
            models.Index(
                fields=["project", "finished_at"],
                include=["kind", "submitted_at"],
                condition=models.Q(state="done"),
                name="action_done",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} of {self.change}"
