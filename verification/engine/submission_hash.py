"""The submission hash: submissions of a task with the same hash are the same work."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from verification.engine.evidence import Json, Submission, ToolCall
from verification.engine.exact_json import exact_decimal, refuse_constant, without_twins

MAX_CANONICAL_CHARS = 1_000_000
"""Longer texts are compared as text: a hostile one may take a second and 20 MB to read."""
MAX_INTEGER_DIGITS = 4_000
"""A float is written as an integer up to this size; Python reads no longer integers as JSON."""

_Canonical = tuple[str, str]
"""A kind and a text: a text that spells out the canonical form of JSON is not that JSON."""


def submission_sha256(submission: Submission, base: Mapping[str, str] | None = None) -> str:
    """Return the submission hash: the SHA-256 of all that is verified, 64 hexadecimal digits.

    `base` holds the SHA-256 of each file as it was before the work, by path.

    The task, the executor and other metadata play no part. JSON is compared by its meaning: the
    order of keys, blanks, escapes and spellings of a number play no part.

    Source: docs/engine.md, "Attempts".
    """
    outputs = (submission.output, *submission.alternatives)
    room = MAX_CANONICAL_CHARS // len(outputs)
    output, *alternatives = (_canonical(text, room) for text in outputs)
    parts = {
        "output": output,
        "alternatives": alternatives,
        "files": {file.path: file.sha256 for file in submission.files},
        "base": dict(base or {}),
        "changed": None if submission.changed is None else sorted(submission.changed),
        "diff": submission.diff,
        "evidence": [
            [item.id, item.tool, item.source_url, item.text] for item in submission.evidence
        ],
        "claims": [
            [claim.text, claim.label, claim.section, list(claim.evidence)]
            for claim in submission.claims
        ],
        "tool_calls": [_tool_call(call) for call in submission.tool_calls],
        "return_code": submission.return_code,
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _tool_call(call: ToolCall) -> list[Any]:
    """Name the fields one by one: an id or a time beside them must not become part of the hash."""
    values = (_canonical_value(value) for value in (call.args, call.result, call.files_changed))
    return [call.tool, call.success, call.error, *values]


def _canonical_value(value: Json) -> _Canonical:
    text = json.dumps(value, sort_keys=True)
    return _canonical(text, MAX_CANONICAL_CHARS)


def _canonical(text: str, max_chars: int) -> _Canonical:
    """Return one form for all spellings of a JSON document, and any other text as it is."""
    if len(text) > max_chars:
        return "text", text
    try:
        document = json.loads(
            text,
            parse_float=_number,
            parse_constant=refuse_constant,
            object_pairs_hook=_sorted_object,
        )
        # `repr` keeps all types apart, and is as fast as the encoder of JSON.
        return "json", repr(document)
    except (ValueError, RecursionError):
        return "text", text


def _sorted_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    return without_twins(sorted(pairs, key=lambda pair: pair[0]))


def _number(spelling: str) -> int | tuple[str, int]:
    """Return the exact value of a number with a fraction or an exponent.

    An integral one is an integer; any other is a pair of digits and a power of ten.

    >>> _number("1.50"), _number("15e-1"), _number("1e2"), _number("-0.0")
    (('15', -1), ('15', -1), 100, 0)
    """
    digits, power = exact_decimal(spelling)
    length = len(digits.removeprefix("-"))
    if power >= 0 and power + length <= MAX_INTEGER_DIGITS:
        return int(f"{digits}{'0' * power}")
    return digits, power
