"""Tool calls in the shapes of agent frameworks, as they are read and stored."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loomverify.errors import InputError
from tests.runs.conftest import Caller, body_of
from tests.tables import check_rows
from tests.tiers import long_search
from verification.runs.intake.schemas import MAX_LIST, MAX_ODDITIES
from verification.runs.intake.tool_calls import read_run
from verification.runs.models import Submission

Json = dict[str, Any]
TASK = {"process": "general", "task": {"id": "t", "description": "Book a flight."}}
ARGS = {"city": "Oslo"}


def read(**body: Any) -> list[Json]:
    run = read_run({**TASK, **body})
    return [call.model_dump(exclude_none=True) for call in run.tool_calls or ()]


def oddities(call: Any) -> list[str]:
    [found] = read(tool_calls=[call])
    return list(found.get("oddities", ()))


UNSTATED = "nothing states whether it succeeded"
ODD: list[tuple[Any, list[str]]] = [
    (None, ["it is null, not an object"]),
    ("read_file", ["it is a text, not an object"]),
    ([], ["it is a list, not an object"]),
    ({}, ["it names no tool", UNSTATED]),
    ({"tool": None, "success": True}, ["it names no tool"]),
    ({"tool": " ", "success": True}, ["the tool is a text"]),
    ({"tool": 7, "success": True}, ["the tool is a number"]),
    (
        {"tool": "x" * 201, "success": True},
        ["the name of the tool is longer than 200 characters"],
    ),
    ({"tool": "x"}, [UNSTATED]),
    ({"tool": "x", "success": None}, ["success is null, not true or false"]),
    ({"tool": "x", "success": "yes"}, ["success is a text, not true or false"]),
    ({"tool": "x", "success": 1}, ["success is a number, not true or false"]),
    ({"tool": "x", "success": False, "error": {"code": 5}}, ["the error is an object, not a text"]),
    ({"tool": "x", "error": "refused"}, [UNSTATED]),
    ({"tool": "x", "result": {"success": True}}, ["success stands within the result"]),
    ({"tool": "x", "result": {"success": False}}, ["success stands within the result"]),
    ({"tool": "x", "success": True, "is_error": True}, ["success is true beside is_error"]),
    ({"tool": "x", "isError": "no"}, ["isError is a text, not true or false"]),
    (
        {"tool": "x", "success": True, "sucess": False},
        ["fields that no tool call has are left out: sucess"],
    ),
    (
        {"function": {"name": "x", "arguments": '{"a": '}},
        ["the arguments are no JSON", UNSTATED],
    ),
    (
        {"type": "tool_result", "tool_use_id": "1", "content": "done"},
        ["it names no tool", "it is the result of no call that was submitted"],
    ),
    ({"tool": "x", "success": True, "id": "1", "duration_ms": 3}, []),
    ({"tool": "x", "success": True, "error": None, "result": {"success": False}}, []),
]  # fmt: skip


@check_rows(("call", "expected"), ODD, ids=str)
def test_an_odd_call_is_kept_and_says_what_is_odd(call: Any, expected: list[str]) -> None:
    assert oddities(call) == expected


def test_what_can_be_read_of_an_odd_call_is_kept() -> None:
    odd = {"tool": "fetch", "success": False, "error": {"code": 429}, "args": ARGS}

    [call] = read(tool_calls=[odd])

    assert (call["tool"], call["success"], call["args"]) == ("fetch", False, ARGS)
    assert json.loads(call["error"]) == {"code": 429}


def test_success_within_a_result_is_neither_success_nor_failure() -> None:
    calls = read(
        tool_calls=[{"tool": "x", "result": {"success": value}} for value in (True, False)]
    )

    assert [call.get("success") for call in calls] == [None, None]


def test_a_call_in_our_shape_is_stored_as_it_was_sent() -> None:
    sent = {
        "tool": "read", "success": False, "error": "boom", "args": '{"a": 1}',
        "result": {"content": [{"type": "text", "text": "x"}], "isError": True},
        "files_changed": ["a.md"],
    }  # fmt: skip

    assert read(tool_calls=[sent]) == [sent]


OPENAI_CALL = {
    "id": "call_1",
    "type": "function",
    "function": {"name": "get_weather", "arguments": json.dumps(ARGS)},
}
OPENAI = [
    {"role": "system", "content": "You book flights."},
    {"role": "user", "content": "Weather in Oslo?"},
    {"role": "assistant", "content": None, "tool_calls": [OPENAI_CALL]},
    {"role": "tool", "tool_call_id": "call_1", "content": "Sunny."},
    {"role": "assistant", "content": "It is sunny."},
]
RESPONSES = [
    {"role": "user", "content": "Weather in Oslo?"},
    {"type": "reasoning", "summary": []},
    {
        "type": "function_call", "call_id": "call_1", "id": "fc_1", "status": "completed",
        "name": "get_weather", "arguments": json.dumps(ARGS),
    },
    {"type": "function_call_output", "call_id": "call_1", "output": "Sunny."},
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Yes."}]},
]  # fmt: skip
TOOL_USE = {"type": "tool_use", "id": "toolu_1", "name": "get_weather", "input": ARGS}


def tool_result(**fields: Any) -> Json:
    return {"type": "tool_result", "tool_use_id": "toolu_1", "content": "Sunny.", **fields}


def anthropic(**result: Any) -> list[Json]:
    return [
        {"role": "user", "content": "Weather in Oslo?"},
        {"role": "assistant", "content": [{"type": "text", "text": "I look."}, TOOL_USE]},
        {"role": "user", "content": [tool_result(**result)]},
    ]


WEATHER = {"tool": "get_weather", "args": ARGS, "result": "Sunny."}
TEXTS = [{"type": "text", "text": "HTTP 429"}, {"type": "text", "text": "Try later."}]
FAILED = {
    "tool": "get_weather", "args": ARGS, "success": False, "error": "HTTP 429\nTry later.",
}  # fmt: skip


def mcp(**result: Any) -> list[Json]:
    params = {"name": "get_weather", "arguments": ARGS}
    return [
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params},
        {"jsonrpc": "2.0", "id": 1, **result},
    ]


SHAPES: dict[str, tuple[Json, list[Json]]] = {
    "openai messages": ({"messages": OPENAI}, [WEATHER]),
    "openai calls and results": ({"tool_calls": [OPENAI_CALL, OPENAI[3]]}, [WEATHER]),
    "openai function_call": (
        {
            "messages": [
                {"role": "assistant", "function_call": OPENAI_CALL["function"]},
                {"role": "function", "name": "get_weather", "content": "Sunny."},
            ]
        },
        [WEATHER],
    ),
    "openai responses": ({"messages": RESPONSES}, [WEATHER]),
    "anthropic messages": ({"messages": anthropic()}, [{**WEATHER, "success": True}]),
    "anthropic failure": ({"messages": anthropic(content=TEXTS, is_error=True)}, [FAILED]),
    "anthropic blocks": (
        {"tool_calls": [TOOL_USE, tool_result(content=TEXTS, is_error=True)]},
        [FAILED],
    ),
    "mcp request and result": (
        {"tool_calls": mcp(result={"content": TEXTS[:1], "isError": False})},
        [{**WEATHER, "success": True, "result": "HTTP 429"}],
    ),
    "mcp failure": (
        {"tool_calls": mcp(result={"content": TEXTS, "isError": True})},
        [FAILED],
    ),
    "mcp error": (
        {"tool_calls": mcp(error={"code": -32602, "message": "Unknown tool"})},
        [{**FAILED, "error": '{"code": -32602, "message": "Unknown tool"}'}],
    ),
    "mcp call with its result": (
        {
            "tool_calls": [
                {"name": "get_weather", "arguments": ARGS, "content": TEXTS, "isError": True}
            ]
        },
        [FAILED],
    ),
    "mcp result in our shape": (
        {
            "tool_calls": [
                {"tool": "get_weather", "args": ARGS, "result": {"content": TEXTS, "isError": True}}
            ]
        },
        [FAILED],
    ),
    "langchain": (
        {
            "messages": [
                {
                    "type": "ai", "content": [TOOL_USE],
                    "tool_calls": [{"name": "get_weather", "args": ARGS, "id": "toolu_1"}],
                },
                {"type": "tool", "tool_call_id": "toolu_1", "status": "error", "content": TEXTS},
            ]
        },
        [FAILED],
    ),
    "vercel": (
        {
            "messages": [
                {
                    "role": "assistant",
                    "content": [
                        {
                            "type": "tool-call", "toolCallId": "1",
                            "toolName": "get_weather", "input": ARGS,
                        }
                    ],
                },
                {
                    "role": "tool",
                    "content": [
                        {
                            "type": "tool-result", "toolCallId": "1", "toolName": "get_weather",
                            "output": {"type": "error-text", "value": "HTTP 429\nTry later."},
                        }
                    ],
                },
            ]
        },
        [FAILED],
    ),
    "a call that waits for its result": (
        {"messages": OPENAI[:3]},
        [{"tool": "get_weather", "args": ARGS}],
    ),
    "no calls": ({"messages": OPENAI[:2]}, []),
}  # fmt: skip


@check_rows(("body", "expected"), list(SHAPES.values()), ids=str)
def test_calls_of_known_protocols_are_read(body: Json, expected: list[Json]) -> None:
    assert read(**body) == expected


def test_results_find_their_calls_by_id_in_any_order() -> None:
    calls = [{"type": "tool_use", "id": f"{n}", "name": f"tool_{n}", "input": {}} for n in (1, 2)]
    results = [{"type": "tool_result", "tool_use_id": f"{n}", "content": f"{n}"} for n in (2, 1)]

    found = read(tool_calls=[*calls, *results])

    assert [(call["tool"], call["result"]) for call in found] == [("tool_1", "1"), ("tool_2", "2")]


def test_a_second_result_never_replaces_the_first() -> None:
    results = [tool_result(is_error=True, content="refused"), tool_result(content="fine")]

    first, second = read(tool_calls=[TOOL_USE, *results])

    assert (first["success"], first["error"]) == (False, "refused")
    assert second["tool"] == "unknown"
    assert "it is the result of no call that was submitted" in second["oddities"]


def test_an_id_that_is_used_again_belongs_to_the_next_call() -> None:
    results = [tool_result(content="1"), tool_result(content="2")]

    found = read(tool_calls=[TOOL_USE, results[0], TOOL_USE, results[1]])

    assert [call["result"] for call in found] == ["1", "2"]


HOSTILE_ARGUMENTS = [
    '{"a": "\\u0000"}',
    '{"a": "\\ud800"}',
    '{"a": 1, "a": 2}',
    '{"a": NaN}',
    '{"a": 1e999}',
    "[" * 1_000 + "]" * 1_000,
    "[" * 100_000,
    f'{{"a": {"9" * 5_000}}}',
]


@check_rows("text", HOSTILE_ARGUMENTS, ids=lambda text: text[:30])
def test_arguments_that_cannot_be_kept_as_json_stay_a_text(text: str) -> None:
    [call] = read(tool_calls=[{"function": {"name": "x", "arguments": text}, "success": True}])

    assert call["args"] == text
    assert call["oddities"] == ["the arguments are no JSON"]


def test_arguments_share_one_allowance_of_values() -> None:
    text = json.dumps([0] * 200_000)
    sent = {"function": {"name": "x", "arguments": text}, "success": True}

    first, second = read(tool_calls=[sent, sent])

    assert len(first["args"]) == 200_000
    assert second["args"] == text
    assert second["oddities"] == ["the arguments hold too many values to be read"]


@pytest.mark.parametrize(
    ("body", "place"),
    [
        ({"tool_calls": {}}, ["tool_calls"]),
        ({"tool_calls": "x"}, ["tool_calls"]),
        ({"messages": {}}, ["messages"]),
        ({"messages": [], "tool_calls": []}, ["messages"]),
        ({"tool_calls": [{}] * (MAX_LIST + 1)}, ["tool_calls", MAX_LIST]),
        ({"messages": [{}] * 20_001}, ["messages"]),
        (
            {"messages": [{"tool_calls": [{}] * (MAX_LIST + 1)}]},
            ["messages", 0, "tool_calls", MAX_LIST],
        ),
        (
            {"tool_calls": [{"tool": "x", "success": False, "error": "e" * 5_000_001}]},
            ["tool_calls", 0, "error"],
        ),
        (
            {"messages": anthropic(is_error=True, content="e" * 5_000_001)},
            ["messages", 1, "content", 1, "error"],
        ),
    ],
)
def test_what_cannot_be_stored_is_refused_at_its_place(body: Json, place: list[Any]) -> None:
    with pytest.raises(InputError) as caught:
        read(**body)

    assert caught.value.status == 422
    assert [list(issue.loc) for issue in caught.value.issues] == [["body", *place]]


def test_an_odd_call_refuses_no_submission(agent: Caller) -> None:
    run = agent.submit(
        output="Booked.",
        tool_calls=[
            None,
            {"tool": "book", "success": True, "result": "Error: payment failed"},
            {"tool": "pay", "success": False, "error": {"code": 429, "message": "rate limit"}},
        ],
        process="general",
    )
    findings = {(one["reason_code"], one["place"]["tool_call"]) for one in run["findings"]}

    assert findings == {
        ("odd_payload", 0), ("tool_result_error", 1), ("odd_payload", 2), ("tool_failed", 2),
    }  # fmt: skip


def test_messages_are_stored_as_the_calls_that_they_hold(agent: Caller) -> None:
    run = agent.submit(messages=anthropic(content="HTTP 429", is_error=True), process="general")

    body = Submission.objects.get().body
    assert "messages" not in body
    assert body["tool_calls"] == [{**FAILED, "error": "HTTP 429"}]
    assert [one["reason_code"] for one in run["findings"]] == ["tool_failed"]


def test_the_same_messages_again_are_the_same_request(agent: Caller) -> None:
    body = {**body_of(), "messages": OPENAI}

    first, again = (agent.post("/runs", body, idempotency_key="k") for _ in range(2))

    assert (first.status_code, again.status_code) == (202, 200)


WORDS = st.sampled_from(
    ["tool", "name", "success", "error", "result", "args", "arguments", "function", "type", "role",
     "content", "id", "tool_use_id", "tool_call_id", "is_error", "isError", "tool_calls", "params",
     "tool_use", "tool_result", "function_call", "function_call_output", "text", "tool", "x"]
)  # fmt: skip
ANY = st.recursive(
    st.none() | st.booleans() | st.integers(0, 9) | WORDS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORDS, inner, max_size=5),
    max_leaves=20,
)


@long_search(400)
@given(st.lists(ANY, max_size=6), st.sampled_from(["tool_calls", "messages"]))
def test_whatever_calls_are_they_are_read(items: list[Any], name: str) -> None:
    for call in read(**{name: items}):
        assert 0 < len(call["tool"]) <= 200
        assert len(call.get("oddities", ())) <= MAX_ODDITIES
