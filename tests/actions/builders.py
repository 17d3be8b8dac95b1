"""Repositories, changes and actions for tests, as the services would have written them."""

from __future__ import annotations

import itertools
import uuid
from typing import Any

from django.utils import timezone

from loomverify.accounts.models import Project
from verification.actions.models import (
    Action,
    ActionKind,
    ActionState,
    Change,
    Delivery,
    Repository,
    Webhook,
)
from verification.runs.models import Run

_numbers = itertools.count(1)


def sha(number: int | None = None) -> str:
    return f"{number or next(_numbers):040x}"


def make_repository(project: Project, **columns: Any) -> Repository:
    usual = {"name": f"repository-{next(_numbers)}", "location": "/srv/nothing-here.git"}
    return Repository.objects.create(project=project, **{**usual, **columns})


def make_change(run: Run, repository: Repository | None = None, **columns: Any) -> Change:
    usual: dict[str, Any] = {"kind": "patch", "base_sha": sha(), "tree_sha": sha()}
    usual["paths"] = [{"path": "app.py", "status": "M"}]
    usual |= {"project": run.project, "submitted_at": run.created_at}
    repository = repository or make_repository(run.project)
    return Change.objects.create(run=run, repository=repository, **{**usual, **columns})


def make_delivery(webhook: Webhook, **columns: Any) -> Delivery:
    """`created_at` may be given, too."""
    usual = {"event_id": uuid.uuid4(), "topic": "run.finished", "payload": {}, "next_at": timezone.now()}  # fmt: skip
    at = columns.pop("created_at", None)
    made = Delivery.objects.create(project=webhook.project, webhook=webhook, **{**usual, **columns})
    if at is not None:
        Delivery.objects.filter(pk=made.pk).update(created_at=at)
    return made


def make_action(change: Change, **columns: Any) -> Action:
    usual: dict[str, Any] = {
        "kind": ActionKind.COMMIT, "state": ActionState.PROPOSED, "next_at": timezone.now(),
        "evidence": {"evaluation": "", "confidence_level": "HIGH", "outcome": "pass"},
    }  # fmt: skip
    usual["submitted_at"] = change.submitted_at
    return Action.objects.create(project=change.run.project, change=change, **{**usual, **columns})
