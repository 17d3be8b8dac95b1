"""The shape of a reply, for providers that can hold a model to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from verification.engine.rating import SEMANTIC_PARTS

Schema = Mapping[str, Any]
MAX_ENUM_VALUES = 250
MAX_ENUM_CHARS = 12_000
"""Of all ids together: providers refuse more."""
VERDICTS = ("satisfied", "violated", "unknown")
LABELS = ("confirmed", "inferred", "unsupported")
SECTIONS = ("recommendation", "supporting", "other")
_TEXT: Schema = {"type": "string"}
_POINTS: Schema = {"type": ["number", "null"]}


def reply_schema(rule_ids: Sequence[str], token: str, *, is_rated: bool = False) -> dict[str, Any]:
    """Closed, and every key required: the strict mode of all providers takes it."""
    return _object(
        token={"type": "string", "enum": [token]},
        passed={"type": "boolean"},
        rules=_list(
            _object(rule=_rule(rule_ids), verdict=_one_of(VERDICTS), why=_TEXT, quote=_TEXT)
        ),
        acceptance=_object(verdict=_one_of(VERDICTS), why=_TEXT),
        claims=_list(
            _object(
                text=_TEXT, label=_one_of(LABELS), section=_one_of(SECTIONS), evidence=_list(_TEXT)
            )
        ),
        confidence={"type": "number"},
        suggestion=_TEXT,
        score=_object(**dict.fromkeys(SEMANTIC_PARTS, _POINTS)) if is_rated else _POINTS,
    )


def _rule(ids: Sequence[str]) -> Schema:
    """Any text where there is no rule, or where the ids are too many to be listed."""
    if not ids or len(ids) > MAX_ENUM_VALUES or sum(map(len, ids)) > MAX_ENUM_CHARS:
        return _TEXT
    return _one_of(ids)


def _one_of(words: Sequence[str]) -> Schema:
    return {"type": "string", "enum": list(words)}


def _list(of: Schema) -> Schema:
    return {"type": "array", "items": of}


def _object(**properties: Schema) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
