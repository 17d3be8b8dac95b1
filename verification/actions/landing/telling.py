"""Whoever follows a run, or its project, hears what became of its change."""

from __future__ import annotations

from typing import Any

from django.utils import timezone

from verification.actions.models import Action
from verification.runs import events, outbox
from verification.runs.models import Run

KINDS = {outbox.ACTION_TAKEN: "action_taken", outbox.ACTION_HELD: "action_held"}


def tell(action: Action, topic: str) -> None:
    """Write the event into the outbox and the run's history, in the caller's transaction."""
    if not topic:
        return
    run_id = action.change.run_id
    if kind := KINDS.get(topic):
        Run.objects.select_for_update(of=("self",), no_key=True).only("pk").get(pk=run_id)
        events.append(run_id, [(kind, _in_short(action))], at=timezone.now())
    outbox.add(topic, project_id=action.project_id, run_id=run_id, payload=payload_of(action))


def _in_short(action: Action) -> dict[str, Any]:
    told = {"kind": action.kind, "ref": action.ref, "commit": action.new_sha}
    return {**told, "reason_code": action.reason_code} if action.reason_code else told


def payload_of(action: Action) -> dict[str, Any]:
    """What a webhook hears of an action."""
    change = action.change
    return {
        "action": str(action.uuid),
        "kind": action.kind,
        "state": action.state,
        "reason_code": action.reason_code,
        "detail": action.detail,
        "run": str(change.run.uuid),
        "process": change.run.process.slug,
        "repository": change.repository.name,
        "ref": action.ref,
        "expected": action.expected_sha,
        "commit": action.new_sha,
        "decided_by": action.decided_by,
    }
