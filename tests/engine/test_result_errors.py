"""Which results of tool calls begin with an error."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from processes.definition.model import Enforcement, ToolSuccessPolicy
from tests.engine.cases import evaluate, told
from tests.tables import check_rows
from verification.engine.checks.tools.result_errors import READ_CHARS, error_in_result
from verification.engine.evidence import ToolCall
from verification.engine.outcome import Verdict
from verification.engine.verifier import Flags

ERRORS: list[Any] = [
    "Error: payment failed",
    "error: user not found",
    "  \n**Error**: no such order",
    "❌ Error: refused",
    "Error 429: too many requests",
    "Error (code 500): internal",
    "Internal Server Error: try later",
    "API error - quota",
    "Exception: boom",
    "An error occurred while booking.",
    "An unexpected error has occurred",
    "Error calling tool",
    "Traceback (most recent call last):\n  File \"a.py\", line 1\nKeyError: 'x'",
    "ValueError: invalid literal",
    "java.lang.IllegalStateException: closed",
    'Exception in thread "main" java.lang.Error',
    "thread 'main' panicked at src/main.rs:2",
    "panic: runtime error",
    "fatal: not a git repository",
    "<tool_use_error>File does not exist.</tool_use_error>",
    '{"error": "payment failed"}',
    '{"isError": true, "content": []}',
    {"isError": True, "content": [{"type": "text", "text": "No such city."}]},
    {"is_error": True},
    {"error": {"code": -32602, "message": "Unknown tool"}},
    {"errors": [{"message": "Unknown field"}]},
    {"success": False, "message": "refused"},
    {"ok": False},
    [{"type": "text", "text": "Error: refused"}],
    {"content": [{"type": "text", "text": "Error: refused"}]},
]
NO_ERRORS: list[Any] = [
    None,
    "",
    7,
    True,
    [],
    {},
    "Errors: 0",
    "Error: none",
    "Error: null",
    "No error occurred.",
    "0 errors: all tests passed",
    "Error rate: 0.2 %",
    "Error handling is described below.",
    "MeanSquaredError: 0.03",
    "error_log.txt: 3 lines",
    "The report lists one error: a missing total.",
    "class PaymentError(Exception):\n    pass",
    "Done.\nError: only in the second line",
    "x" * READ_CHARS + "\nError: far down",
    '{"error": null, "rows": 3}',
    '{"error": ""}',
    {"error": None, "rows": 3},
    {"error": "", "stdout": "fine"},
    {"success": True, "error": "a warning"},
    {"isError": False, "content": [{"type": "text", "text": "Sunny."}]},
    {"error_count": 0},
    [{"type": "image", "data": "AAAA"}],
]


@check_rows("result", ERRORS, ids=repr)
def test_a_result_that_begins_with_an_error_is_recognised(result: Any) -> None:
    assert error_in_result(result)


@check_rows("result", NO_ERRORS, ids=repr)
def test_any_other_result_is_no_error(result: Any) -> None:
    assert error_in_result(result) == ""


@pytest.mark.parametrize("success", [True, None])
def test_an_error_in_the_result_is_a_remark_and_rejects_nothing(success: bool | None) -> None:
    call = ToolCall("book_flight", success, result="Error: payment failed")

    conclusion = evaluate(tool_calls=(call,))

    assert conclusion.verdict is Verdict.ACCEPT
    assert told(conclusion) == [("tool-calls", "advisory", "tool_result_error")]
    assert conclusion.findings[0].message == ("book_flight reports an error: Error: payment failed")


def test_an_error_of_a_call_without_success_is_a_remark() -> None:
    conclusion = evaluate(tool_calls=(ToolCall("book_flight", None, "refused"),))

    assert told(conclusion) == [("tool-calls", "advisory", "tool_result_error")]


def test_a_call_that_counts_as_failed_is_reported_once() -> None:
    call = ToolCall("book_flight", False, "refused", result="Error: refused")

    assert [one[2] for one in told(evaluate(tool_calls=(call,)))] == ["tool_failed"]


def test_the_legacy_engine_counts_no_errors_in_results() -> None:
    call = ToolCall("book_flight", True, result="Error: payment failed")

    conclusion = evaluate(tool_calls=(call,), flags=Flags(policy_engine_enabled=False))

    assert conclusion.verdict is Verdict.ACCEPT
    assert conclusion.findings[0].enforcement is Enforcement.OBSERVE


def test_a_call_without_success_neither_fails_nor_forgives() -> None:
    calls = (ToolCall("book", False, "refused"), ToolCall("book", None))

    conclusion = evaluate(tool_calls=calls, tool_policy=ToolSuccessPolicy.METHOD_RESILIENT)

    assert told(conclusion) == [("tool-calls", "hard", "tool_failed")]


def test_oddities_of_a_call_are_one_remark() -> None:
    call = ToolCall("book", None, args=3, oddities=("success is missing", "error is an object"))

    conclusion = evaluate(tool_calls=(call,))

    assert told(conclusion) == [("tool-calls", "advisory", "odd_payload")]
    assert conclusion.findings[0].message == (
        "book: success is missing; error is an object; args is a bare value, not an object."
    )


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["error", "content", "text", "success"]), inner)
    ),
    max_leaves=8,
)


@given(JSON)
def test_any_result_is_read_within_bounds(result: Any) -> None:
    assert len(error_in_result(result)) <= READ_CHARS
