from __future__ import annotations

import json
from typing import Any

import pytest

from loomverify.errors import InputError
from tests.tables import check_rows
from verification.runs.intake.reading import (
    MAX_JSON_BYTES,
    inline_files,
    parse_body,
    validate_body,
)

MINIMAL: dict[str, Any] = {"process": "general", "task": {"id": "t-1", "description": "Do it."}}


@check_rows(
    ("raw", "code", "status"),
    [
        (b"", "json.invalid", 400),
        (b"{", "json.invalid", 400),
        (b'{"a": NaN}', "json.invalid", 400),
        (b'{"a": ' + b"9" * 5000 + b"}", "json.invalid", 400),
        (b"\xff{}", "json.not_utf8", 400),
        (b"[]", "json.not_an_object", 422),
        (b'{"a": 1e999}', "json.number", 422),
        (b'{"a": "x\\u0000"}', "text.nul", 422),
        (b'{"a\\u0000": 1}', "text.nul", 422),
        (b'{"a": "\\ud800"}', "text.surrogate", 422),
        (b"[" * 200_000, "json.too_deep", 400),
        (b'{"a":' + b"[" * 300 + b"]" * 300 + b"}", "json.too_deep", 422),
        (b" " * (MAX_JSON_BYTES + 1), "body.too_large", 413),
    ],
)
def test_what_cannot_be_kept_is_refused(raw: bytes, code: str, status: int) -> None:
    with pytest.raises(InputError) as caught:
        parse_body(raw)

    assert (caught.value.code, caught.value.status) == (code, status)


def test_the_place_of_bad_text_is_named() -> None:
    raw = json.dumps({"tool_calls": [{"args": {"x": ["ok", "bad\0"]}}]}).encode()

    with pytest.raises(InputError) as caught:
        parse_body(raw)

    assert caught.value.issues[0].loc == ("body", "tool_calls", 0, "args", "x", 1)


@check_rows(
    ("field", "value", "loc"),
    [
        ("tier", "1", ("body", "tier")),
        ("tier", 4, ("body", "tier")),
        ("tier", True, ("body", "tier")),
        ("output", 5, ("body", "output")),
        ("return_code", 1.5, ("body", "return_code")),
        ("tool_calls", {}, ("body", "tool_calls")),
        ("tool_calls", [{"tool": "x", "success": 1}], ("body", "tool_calls", 0, "success")),
        ("tool_calls", [{"tool": "x", "success": "yes"}], ("body", "tool_calls", 0, "success")),
        ("task", {"id": "", "description": ""}, ("body", "task", "id")),
        (
            "task",
            {"id": "t", "description": "", "max_attempts": 0},
            ("body", "task", "max_attempts"),
        ),
        ("claims", [{"text": "x"}], ("body", "claims", 0, "label")),
        ("acceptence", "typo", ("body", "acceptence")),
    ],
)
def test_a_wrong_field_is_named(field: str, value: Any, loc: tuple[str | int, ...]) -> None:
    with pytest.raises(InputError) as caught:
        validate_body({**MINIMAL, field: value})

    assert loc in [issue.loc for issue in caught.value.issues]
    assert caught.value.status == 422


def test_everything_wrong_is_said_at_once() -> None:
    with pytest.raises(InputError) as caught:
        validate_body({"process": 1, "task": {"id": 2}})

    assert len(caught.value.issues) == 3


@pytest.mark.parametrize("payload", [None, [], {}, "text", 0, 1.5, True, [{"deep": [None]}]])
def test_anything_may_stand_where_anything_may_stand(payload: Any) -> None:
    call = {"tool": "t", "success": True, "args": payload, "result": payload}

    run = validate_body({**MINIMAL, "tool_calls": [call]})

    assert run.tool_calls is not None
    assert run.tool_calls[0].args == payload


def test_inline_files_are_text_or_base64() -> None:
    run = validate_body({**MINIMAL, "files": {"./a.txt": "é", "b.bin": {"base64": "AAE="}}})

    assert inline_files(run) == {"a.txt": "é".encode(), "b.bin": b"\x00\x01"}


@pytest.mark.parametrize(
    ("files", "code"),
    [
        ({"../a": "x"}, "path.unsafe"),
        ({"a": "x", "./a": "y"}, "path.duplicate"),
        ({"a": {"base64": "no base64!"}}, "file.base64"),
    ],
)
def test_inline_files_obey_the_rules_of_archives(files: dict[str, Any], code: str) -> None:
    run = validate_body({**MINIMAL, "files": files})

    with pytest.raises(InputError) as caught:
        inline_files(run)

    assert caught.value.code == code
