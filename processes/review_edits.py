"""Which spans of a process file change when its review policy does. Pure: text in, text out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from processes.definition.model import ReviewPolicy, ReviewReason
from processes.definition.patch import Edit, Path, Remove, SetValue
from processes.definition.review import NEVER, USUAL
from processes.rule_edits import Text, list_edits

REVIEW: Path = ("verification", "policy", "review")


def review_edits(text: Text, wanted: ReviewPolicy) -> list[Edit]:
    """Edits for the keys that differ; what is as the file has it stays unwritten."""
    old, new = text.definition.policy.review.spec, wanted.spec
    raw = text.written(REVIEW) or {}
    edits: list[Edit] = []
    if old["reasons"] != new["reasons"]:
        edits += _reason_edits(raw.get("reasons"), wanted.reasons)
    for key in ("sample_rate", "cap_per_day", "expires_after_hours", "blind", "reviewers"):
        if old[key] == new[key]:
            continue
        value = NEVER if key == "expires_after_hours" and new[key] is None else new[key]
        edits.append(Remove((*REVIEW, key)) if value is None else SetValue((*REVIEW, key), value))
    return edits


def _reason_edits(raw: Any, wanted: Mapping[ReviewReason, int | None]) -> list[Edit]:
    """An empty list says that nobody is asked: without the key, the usual reasons would count."""
    path = (*REVIEW, "reasons")
    said = {reason.value: _urgency(urgency) for reason, urgency in wanted.items()}
    if not said:
        return [SetValue(path, [])]
    if isinstance(raw, Mapping):
        came: list[Edit] = [
            SetValue((*path, name), urgency)
            for name, urgency in said.items()
            if str(raw.get(name)).strip().lower() != str(urgency)
        ]
        return came + [Remove((*path, str(name))) for name in raw if name not in said]
    if set(said.values()) == {USUAL}:
        return list_edits(path, raw, list(said))
    return [SetValue(path, said)]


def _urgency(urgency: int | None) -> int | str:
    return USUAL if urgency is None else urgency
