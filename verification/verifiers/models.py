from __future__ import annotations

import uuid
from collections.abc import Iterable
from typing import Any, ClassVar, NoReturn

from django.db import models

from loomverify.accounts.models import Project
from loomverify.errors import FaultError
from processes.models import Process

BESIDE_CONTENT = frozenset({"is_active", "environment_models"})
"""What of a verifier version changes: nothing of it says how it judges."""


class VerifierVersions(models.QuerySet["VerifierVersion"]):
    """Writes a version's content once. PostgreSQL refuses the same of whoever comes past this."""

    def update(self, **values: Any) -> int:
        _refuse_content(values)
        return super().update(**values)

    def delete(self) -> NoReturn:
        _refuse_deletion()


def _refuse_content(names: Iterable[str]) -> None:
    refused = sorted(set(names) - BESIDE_CONTENT)
    if refused:
        raise FaultError(f"a verifier version never changes, make another: {', '.join(refused)}")


def _refuse_deletion() -> NoReturn:
    raise FaultError("a verifier version is deleted with its project alone")


class VerifierVersion(models.Model):
    """Everything that can change a verdict, but for the process. Immutable, one active."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="verifiers")
    number = models.PositiveIntegerField()
    engine = models.CharField(max_length=10)
    spec = models.JSONField()
    spec_sha256 = models.CharField(max_length=64)
    engine_build = models.CharField(max_length=40)
    is_active = models.BooleanField(default=False)
    environment_models = models.JSONField(
        default=dict, help_text="The judges that the environment named when this was made."
    )
    note = models.CharField(max_length=300, blank=True)
    created_by = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = VerifierVersions.as_manager()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["project", "number"], name="verifier_number_unique"),
            models.UniqueConstraint(
                fields=["project"], condition=models.Q(is_active=True), name="verifier_one_active"
            ),
        ]

    def __str__(self) -> str:
        return f"verifier v{self.number} ({self.engine})"

    def save(self, *, update_fields: Iterable[str] | None = None, **options: Any) -> None:
        if not self._state.adding:
            _refuse_content(
                [field.name for field in self._meta.fields]
                if update_fields is None
                else update_fields
            )
        super().save(update_fields=update_fields, **options)

    def delete(self, using: Any = None, keep_parents: bool = False) -> NoReturn:
        _refuse_deletion()


class JudgeConnection(models.Model):
    """A model that can be asked, by its name in the project.

    `model` and `base_url` never change, so that a verifier version's names say what is asked;
    a removed connection keeps its name. The environment's connections are rows too: their
    name is the model's, their key is the environment's.
    """

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="connections")
    name = models.CharField(max_length=120)
    model = models.CharField(max_length=120, help_text="In litellm's words: provider/model.")
    base_url = models.CharField(max_length=500, blank=True)
    key_reference = models.CharField(
        max_length=120, blank=True, help_text="The variable that workers find the key in."
    )
    input_usd_per_million = models.DecimalField(
        max_digits=12, decimal_places=6, null=True, blank=True
    )
    output_usd_per_million = models.DecimalField(
        max_digits=12, decimal_places=6, null=True, blank=True
    )
    timeout_seconds = models.PositiveIntegerField(default=60)
    max_output_tokens = models.PositiveIntegerField(default=4000)
    max_input_chars = models.PositiveIntegerField(default=200_000)
    structured_output = models.BooleanField(null=True, help_text="Null: as the provider says.")
    is_environment = models.BooleanField(default=False)
    is_removed = models.BooleanField(default=False)
    tested_at = models.DateTimeField(null=True, blank=True)
    test_result = models.JSONField(default=dict, blank=True)
    created_by = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["project", "name"], name="connection_name_unique"),
        ]

    def __str__(self) -> str:
        return self.name


class Budget(models.Model):
    """What judges may cost in a day (UTC). Without a process: all of the project's together."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="budgets")
    process = models.ForeignKey(
        Process, null=True, blank=True, on_delete=models.CASCADE, related_name="budgets"
    )
    usd_per_day = models.DecimalField(max_digits=12, decimal_places=4)
    changed_by = models.CharField(max_length=200, blank=True)
    changed_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["project", "process"], nulls_distinct=False, name="budget_unique"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.usd_per_day} USD a day"


class Spending(models.Model):
    """What a process's judges have cost on one day (UTC).

    `reserved_usd` belongs to calls under way: it is set aside before a call and settled after.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    process = models.ForeignKey(Process, on_delete=models.CASCADE, related_name="+")
    day = models.DateField()
    calls = models.PositiveIntegerField(default=0)
    spent_usd = models.DecimalField(max_digits=14, decimal_places=6, default=0)
    reserved_usd = models.DecimalField(max_digits=14, decimal_places=6, default=0)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["project", "day", "process"], name="spending_unique"),
        ]

    def __str__(self) -> str:
        return f"{self.day} {self.spent_usd} USD"
