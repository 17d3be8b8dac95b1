"""Between a worker and the child that calls a custom verifier: what is handed over, what comes back.

The worker's side is trusted and pickled. The child's is not: JSON, bounded, every value checked.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, NoReturn

from processes.definition.model import Definition, Phase
from verification.engine.evidence import Submission
from verification.engine.finding import cleaned
from verification.engine.judges.asking import CustomAnswer
from verification.engine.outcome import Status

LENGTH: Final = struct.Struct(">I")
MAX_ANSWER_BYTES: Final = 8_000_000
MAX_RESULT_CHARS: Final = 1_000_000
"""Of the result as JSON."""
MAX_MESSAGE_CHARS: Final = 50_000
MAX_CODE_CHARS: Final = 200
MAX_METADATA_CHARS: Final = 20_000
MAX_ERRORS: Final = 50
MAX_DETAIL_CHARS: Final = 8_000
MAX_DEPTH: Final = 200


@dataclass(frozen=True, slots=True)
class Given:
    """What a verifier may be given. `target` is `package.module:callable`."""

    name: str
    target: str
    submission: Submission
    phase: Phase
    process: Definition
    attempt: int
    folder: str
    paths: tuple[str, ...]


def lost(message: str, *, detail: str = "") -> CustomAnswer:
    """The answer of a verifier that gave none."""
    return CustomAnswer(Status.ERROR, message=shortened(message, 2_000), detail=detail)


def read_answer(raw: bytes, name: str) -> CustomAnswer:
    """Read what a child said. What makes no sense is lost, never a pass."""
    try:
        told = storable(json.loads(raw, parse_constant=_refuse))
        return _answer(told)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return lost(f"The answer of the verifier {name} could not be read.")


def storable(value: Any, depth: int = 0) -> Any:
    """The same JSON without what no database can hold.

    Raises:
        ValueError: too deep, or a number that is none.
    """
    if depth > MAX_DEPTH:
        raise ValueError("too deep")
    if isinstance(value, str):
        return cleaned(value)
    if isinstance(value, list):
        return [storable(one, depth + 1) for one in value]
    if isinstance(value, dict):
        return {cleaned(key): storable(one, depth + 1) for key, one in value.items()}
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError("not a number")
    return value


def shortened(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def both_ends(text: str, limit: int = MAX_DETAIL_CHARS) -> str:
    """The beginning and the end of what is too long: what is said first and last tells most."""
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n… {len(text) - 2 * half} characters …\n{text[-half:]}"


def bounded(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Metadata as it is kept: of the largest fields, a list loses its end, and all else becomes text."""
    kept, left = {}, MAX_METADATA_CHARS
    for key, value in sorted(metadata.items(), key=lambda one: len(json.dumps(one[1]))):
        text = json.dumps(value)
        if len(key) > MAX_CODE_CHARS or left <= len(key):
            continue
        room = left - len(key)
        kept[key] = value if len(text) <= room else _shorter(value, room)
        left = room - len(text)
    return {key: kept[key] for key in metadata if key in kept}


def _shorter(value: Any, room: int) -> Any:
    """As many entries of a list as fit, and how many do not; of any other value, its text."""
    if not isinstance(value, list):
        return shortened(json.dumps(value), room)
    entries: list[Any] = []
    left = room - len(json.dumps(f"… {len(value)} more")) - 4
    for entry in value:
        left -= len(json.dumps(entry)) + 2
        if left < 0:
            break
        entries.append(entry)
    return [*entries, f"… {len(value) - len(entries)} more"]


def _answer(told: Mapping[str, Any]) -> CustomAnswer:
    status = Status(told["status"])
    if status not in (Status.PASSED, Status.FAILED, Status.ERROR):
        raise ValueError(status)
    errors = told.get("errors")
    return CustomAnswer(
        status,
        result=told.get("result"),
        message=shortened(_text(told, "message"), MAX_MESSAGE_CHARS),
        code=shortened(_text(told, "code"), MAX_CODE_CHARS),
        metadata=_errors(errors) if errors else bounded(told.get("metadata") or {}),
        is_invalid=bool(errors),
        is_fatal=told.get("fatal") is True,
        detail=both_ends(_text(told, "stack")),
    )


def _errors(told: Any) -> dict[str, Any]:
    if not isinstance(told, list):
        raise TypeError("errors")
    return {"errors": [_error(one) for one in told[:MAX_ERRORS]]}


def _error(told: Mapping[str, Any]) -> dict[str, Any]:
    loc = [shortened(str(part), 100) for part in told["loc"][:50]]
    return {"loc": loc, "msg": shortened(_text(told, "msg"), 1_000)}


def _text(told: Mapping[str, Any], key: str) -> str:
    value = told.get(key) or ""
    if not isinstance(value, str):
        raise TypeError(key)
    return value


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)
