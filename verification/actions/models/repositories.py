from __future__ import annotations

import uuid
from typing import ClassVar

from django.db import models

from loomverify.accounts.models import Project


class Mode(models.TextChoices):
    """Whether an action is done by itself, or proposed to a person."""

    PROPOSE = "propose", "Propose only"
    DO = "do", "Do it"


class Repository(models.Model):
    """Where verified changes land. Runs name it by `name`; secrets are references alone."""

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="repositories")
    name = models.SlugField(max_length=60)
    location = models.CharField(max_length=500, help_text="A path on this machine, or a URL.")
    target_branch = models.CharField(max_length=200, default="main")
    author_name = models.CharField(max_length=120, default="LoomVerify")
    author_email = models.CharField(max_length=200, default="loomverify@localhost")
    credential_reference = models.CharField(
        max_length=120, blank=True, help_text="The variable that workers find the token in."
    )
    signing_reference = models.CharField(
        max_length=120, blank=True, help_text="The variable that names the SSH key's file."
    )
    commit_mode = models.CharField(max_length=10, choices=Mode, default=Mode.PROPOSE)
    branch_mode = models.CharField(max_length=10, choices=Mode, default=Mode.PROPOSE)
    revert_mode = models.CharField(max_length=10, choices=Mode, default=Mode.PROPOSE)
    takes_binary = models.BooleanField(default=False)
    lands_checked_out = models.BooleanField(
        default=False, help_text="Move the target branch although a work tree has it checked out."
    )
    is_removed = models.BooleanField(default=False)
    created_by = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["project", "name"],
                condition=models.Q(is_removed=False),
                name="repository_name_unique",
            ),
        ]
        ordering: ClassVar = ["name", "id"]
        verbose_name_plural = "repositories"

    def __str__(self) -> str:
        return self.name
