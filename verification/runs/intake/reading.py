"""From bytes to a checked body. Nothing here trusts anything, and nothing is stored."""

from __future__ import annotations

import base64
import binascii
import json
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from pydantic import ValidationError

from loomverify.errors import InputError, Issue, Loc
from verification.runs.intake.archive import clean_path, refuse_duplicates
from verification.runs.intake.schemas import Base64File, RunIn

MAX_JSON_BYTES = 16 * 1024 * 1024
MAX_DEPTH = 200
MAX_SHOWN_ISSUES = 50
MAX_VALUES = 300_000

# Each takes all that it can and gives nothing back: linear, whatever the text.
_STRINGS = re.compile(rb'"(?:[^"\\]++|\\.?+)*+(?:"|\Z)', re.DOTALL)


def parse_body(raw: bytes, *, loc: Loc = ("body",)) -> dict[str, Any]:
    """Read strict JSON whose top is an object.

    Raises:
        InputError: 413 too large; 400 not JSON; 422 text, numbers or depth we cannot keep.
    """
    if len(raw) > MAX_JSON_BYTES:
        raise InputError(
            "body.too_large", f"At most {MAX_JSON_BYTES} bytes of JSON.", loc=loc, status=413
        )
    refuse_too_many_values(raw, loc)
    try:
        body = json.loads(
            raw.decode("utf-8"),
            parse_constant=refuse_constant,
            object_pairs_hook=refuse_duplicate_keys,
        )
    except UnicodeDecodeError as error:
        raise InputError(
            "json.not_utf8", f"Byte {error.start} is not UTF-8.", loc=loc, status=400
        ) from error
    except RecursionError as error:
        raise InputError(
            "json.too_deep", f"At most {MAX_DEPTH} levels.", loc=loc, status=400
        ) from error
    except ValueError as error:
        raise InputError(
            "json.invalid", f"This is not JSON: {error}", loc=loc, status=400
        ) from error
    if not isinstance(body, dict):
        raise InputError("json.not_an_object", "The body must be an object.", loc=loc)
    refuse_unkeepable(body, loc)
    return body


def validate_body(
    body: Mapping[str, Any], *, loc: Loc = ("body",), call_places: Sequence[Loc] = ()
) -> RunIn:
    """Check a body in the shape that is stored.

    `call_places` are the places of its tool calls, where they were read from another shape.

    Raises:
        InputError: 422, what is wrong with its places.
    """
    try:
        return RunIn.model_validate(body)
    except ValidationError as error:
        issues = [
            Issue(
                code=entry["type"],
                msg=entry["msg"],
                loc=(*loc, *_place(entry["loc"], call_places)),
            )
            for entry in error.errors(include_url=False, include_input=False)
        ]
        raise InputError.of(issues[:MAX_SHOWN_ISSUES]) from error


def _place(loc: Loc, call_places: Sequence[Loc]) -> Loc:
    """The place in the JSON: behind a file's name stands which kind of file it was taken for."""
    if call_places and loc[0] == "tool_calls" and len(loc) > 1:
        return (*call_places[int(loc[1])], *loc[2:])
    return (*loc[:2], *loc[3:]) if loc[0] in ("files", "base") else loc


def inline_files(run: RunIn, field: str = "files", *, loc: Loc = ("body",)) -> dict[str, bytes]:
    """The field `files`, or `base`, as contents by clean path."""
    given, loc = getattr(run, field) or {}, (*loc, field)
    names = refuse_duplicates(
        [(clean_path(path, loc=(*loc, path)), path) for path in given], loc=loc
    )
    return {clean: _content(given[path], (*loc, path)) for clean, path in names.items()}


def _content(file: str | Base64File, loc: Loc) -> bytes:
    if isinstance(file, str):
        return file.encode()
    try:
        return base64.b64decode(file.base64, validate=True)
    except (binascii.Error, ValueError) as error:
        raise InputError("file.base64", "This is not base64.", loc=(*loc, "base64")) from error


def refuse_too_many_values(raw: bytes, loc: Loc) -> None:
    """Count before parsing: in memory a value takes twenty times its place in the text."""
    if count_values(raw) > MAX_VALUES:
        raise InputError(
            "json.too_many_values", f"At most {MAX_VALUES} values.", loc=loc, status=413
        )


def count_values(raw: bytes) -> int:
    """Count the values of a JSON text: at least as many as there are."""
    count = _values_in(raw)
    return count if count <= MAX_VALUES else _values_in(_STRINGS.sub(b"", raw))


def _values_in(raw: bytes) -> int:
    return raw.count(b",") + raw.count(b"[") + raw.count(b"{") + 1


def refuse_duplicate_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        [(name, _)] = Counter(name for name, _ in pairs).most_common(1)
        raise ValueError(f"the key {name[:120]!r} is there twice in one object")
    return found


def refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def refuse_unkeepable(body: object, loc: Loc) -> None:
    """Refuse what PostgreSQL cannot keep, or what is nested beyond reason, naming the place."""
    pending: list[tuple[object, Loc]] = [(body, loc)]
    while pending:
        node, place = pending.pop()
        if len(place) > MAX_DEPTH:
            raise InputError("json.too_deep", f"At most {MAX_DEPTH} levels.", loc=place[:20])
        if isinstance(node, dict):
            for key, value in node.items():
                _refuse_text(key, place)
                pending.append((value, (*place, key)))
        elif isinstance(node, list):
            pending.extend((value, (*place, index)) for index, value in enumerate(node))
        elif isinstance(node, str):
            _refuse_text(node, place)
        elif isinstance(node, float) and not math.isfinite(node):
            raise InputError("json.number", "This number is too large.", loc=place)


def _refuse_text(text: str, loc: Loc) -> None:
    if "\0" in text:
        raise InputError("text.nul", "Text must not hold the character NUL.", loc=loc)
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise InputError(
                "text.surrogate", f"Character {error.start} is half of a pair.", loc=loc
            ) from error
