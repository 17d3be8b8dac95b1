"""What the description of the API shows of verifier versions. Tests send and read them."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from verification.engine.verifier import Flags, Limits
from verification.verifiers.parts import FLAGS, LIMITS

MAKE: dict[str, Any] = {
    "base": 1,
    "flags": {"regex_default_advisory": False, "tier3_vote_count": 5},
    "limits": {"judge_calls": 6},
    "note": "Five votes, and regex rules that count.",
}
VERSION: dict[str, Any] = {
    "number": 3,
    "engine": "policy",
    "flags": {**asdict(Flags()), **MAKE["flags"]},
    "models": {"primary": "openai/gpt-4o-mini", "alternate": "", "panel": []},
    "limits": {**asdict(Limits()), **MAKE["limits"]},
    "prompt_version": 1,
    "engine_build": "3",
    "active": False,
    "note": MAKE["note"],
    "created_by": "key ci",
    "created_at": "2026-07-01T09:30:00Z",
}
COMPARISON: dict[str, Any] = {
    "old": 1,
    "new": 3,
    "differences": [
        {"group": "flags", "name": "regex_default_advisory", "old": True, "new": False},
        {"group": "flags", "name": "tier3_vote_count", "old": 3, "new": 5},
        {"group": "limits", "name": "judge_calls", "old": 8, "new": 6},
    ],
}
ACTIVATION: dict[str, Any] = {"reason": "400 pairs agree.", "replaces": 1}


def shown(example: dict[str, Any]) -> dict[str, Any]:
    return {"examples": [example]}


def of_flags(schema: dict[str, Any]) -> None:
    _closed(schema, {part.name: part.schema for part in FLAGS})


def of_limits(schema: dict[str, Any]) -> None:
    _closed(schema, {part.name: part.schema for part in LIMITS})


def _closed(schema: dict[str, Any], properties: dict[str, Any]) -> None:
    schema.update(properties=properties, additionalProperties=False)
