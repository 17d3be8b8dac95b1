from __future__ import annotations

from typing import Any

from django.db import models

from loomverify.accounts.access import Actor
from loomverify.accounts.models import AuditEntry, Project


def record(
    actor: Actor,
    verb: str,
    changed: models.Model,
    *,
    project: Project | None,
    diff: dict[str, list[Any]] | None = None,
    reason: str = "",
) -> None:
    """Write down a change, in the transaction that makes it. `diff` is `{field: [old, new]}`."""
    AuditEntry.objects.create(
        project=project,
        user=actor.user,
        api_key=actor.api_key,
        actor=actor.name[:200],
        verb=verb,
        object_type=changed._meta.model_name or "",
        object_id=str(getattr(changed, "uuid", changed.pk)),
        object_name=str(changed)[:200],
        diff=diff or {},
        reason=reason.replace("\x00", "\ufffd"),  # PostgreSQL stores no NUL
    )
