"""What the outside world hears of trials."""

from __future__ import annotations

from typing import Any

from verification.runs import outbox
from verification.trials.models import Trial
from verification.trials.places import url_of


def stopped(trial: Trial) -> None:
    """In the transaction in which a trial stopped itself."""
    payload = {
        **_of(trial),
        "state": trial.state,
        "reason": trial.stop_reason,
        "text": trial.stop_text,
    }
    outbox.add(outbox.SHADOW_STOPPED, project_id=trial.project_id, payload=payload)


def drifted(trial: Trial, watch: Trial) -> None:
    """In the transaction in which a watch saw outcomes rise after a cutover."""
    payload = {**_of(trial), "watch": str(watch.uuid), "outcomes": watch.drift}
    outbox.add(outbox.SHADOW_DRIFT, project_id=trial.project_id, payload=payload)


def _of(trial: Trial) -> dict[str, Any]:
    return {
        "trial": str(trial.uuid),
        "title": trial.title,
        "process": trial.process.slug if trial.process else None,
        "baseline_verifier": trial.baseline_verifier.number,
        "candidate_verifier": trial.candidate_verifier.number,
        "url": url_of(trial),
    }
