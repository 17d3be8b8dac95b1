"""Tool calls in the shapes of agent frameworks, read into the one shape that is stored.

Nothing here trusts anything. A call of an unusual shape keeps what can be read of it, and its
oddities say what is unusual. Source: docs/api.md, "Tool calls".
"""

from __future__ import annotations

import json
from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from loomverify.errors import InputError, Loc
from verification.runs.intake.reading import (
    MAX_VALUES,
    count_values,
    refuse_constant,
    refuse_duplicate_keys,
    refuse_unkeepable,
    validate_body,
)
from verification.runs.intake.schemas import (
    MAX_LIST,
    MAX_MESSAGES,
    MAX_NAME,
    MAX_ODDITIES,
    MAX_ODDITY,
    RunIn,
)

CALLS, MESSAGES = "tool_calls", "messages"
MAX_NAMED_FIELDS = 5
UNNAMED = "unknown"
"""The tool of a call that names none."""

NAMES = ("tool", "name", "tool_name", "toolName", "function")
ARGUMENTS = (
    "args", "arguments", "input", "tool_input", "parameters", "params", "action", "code", "queries",
)  # fmt: skip
RESULTS = ("result", "output", "content", "response", "outputs", "results")
FLAGS = ("is_error", "isError")
IDS = ("tool_call_id", "tool_use_id", "toolCallId", "call_id", "id")
ENVELOPES = ("function", "function_call", "params")
"""Objects that hold name and arguments of a call: OpenAI's, and those of MCP's requests."""
STATUSES = {"success": True, "succeeded": True, "error": False, "failed": False, "failure": False}
PLAIN_FIELDS = (
    "type", "role", "status", "success", "error", "files_changed", "index", "jsonrpc", "method",
    "started_at", "ended_at", "finished_at", "completed_at", "created_at", "timestamp", "time",
    "duration", "duration_ms", "duration_seconds", "cache_control", "_meta",
)  # fmt: skip
KNOWN = frozenset((*NAMES, *ARGUMENTS, *RESULTS, *FLAGS, *IDS, *ENVELOPES, *PLAIN_FIELDS))

CALL_TYPES = ("tool_use", "_call")
"""How types of blocks and items end that are calls: `tool_use`, `function_call`, `mcp_call`."""
NAMED_TYPES = ("tool_call", "function_call", "mcp_call")
"""The types of calls that name their tool; others are called by it, such as `web_search_call`."""
ANSWER_TYPES = ("tool_result", "tool_response", "tool_error", "call_output")
ANSWER_ROLES = ("tool", "function")
TEXT_TYPES = ("text", "output_text", "input_text")


def read_run(body: Mapping[str, Any], *, loc: Loc = ("body",)) -> RunIn:
    """Check a body whose tool calls may have any shape, or stand in `messages`.

    Raises:
        InputError: 422, all that cannot be stored with its place.
    """
    calls, messages = body.get(CALLS), body.get(MESSAGES)
    if calls is not None and messages is not None:
        raise InputError(
            "messages.beside_tool_calls",
            "Send tool_calls or messages: the calls are taken from the messages.",
            loc=(*loc, MESSAGES),
        )
    body = {name: value for name, value in body.items() if name != MESSAGES}
    if calls is None and messages is None:
        return validate_body(body, loc=loc)
    reader = _CallReader(has_messages=messages is not None)
    if messages is not None:
        reader.read(_calls_in(_listed(messages, MESSAGES, MAX_MESSAGES, loc)))
    else:
        items = _listed(calls, CALLS, 2 * MAX_LIST, loc)
        reader.read(((CALLS, number), item) for number, item in enumerate(items))
    if len(reader.calls) > MAX_LIST:
        place = reader.calls[MAX_LIST].place
        raise InputError("too_long", f"At most {MAX_LIST} tool calls.", loc=(*loc, *place))
    body[CALLS] = [call.stored() for call in reader.calls]
    return validate_body(body, loc=loc, call_places=[call.place for call in reader.calls])


def _listed(value: Any, name: str, most: int, loc: Loc) -> Sequence[Any]:
    if not isinstance(value, list):
        raise InputError("list_type", "Input should be a valid list", loc=(*loc, name))
    if len(value) > most:
        raise InputError("too_long", f"At most {most} entries.", loc=(*loc, name))
    return value


def _calls_in(messages: Sequence[Any]) -> Iterator[tuple[Loc, Any]]:
    """Yield calls and their results in the order of the messages, each with its place.

    Messages are OpenAI's, Anthropic's or items of OpenAI's Responses.
    """
    for number, message in enumerate(messages):
        place = (MESSAGES, number)
        if not isinstance(message, dict):
            yield place, message
            continue
        content, calls = message.get("content"), message.get(CALLS)
        blocks = [
            ((*place, "content", index), block)
            for index, block in enumerate(content if isinstance(content, list) else ())
            if isinstance(block, dict) and (_is_call(block) or _is_answer(block))
        ]
        if blocks:
            yield from blocks
        elif _is_call(message) or _is_answer(message):
            yield place, message
        if any(_is_call(block) for _, block in blocks):
            continue  # tool_calls, where it is there too, says the same again
        if isinstance(calls, list):
            yield from (((*place, CALLS, index), call) for index, call in enumerate(calls))
        elif calls is not None:
            yield (*place, CALLS), calls
        if isinstance(message.get("function_call"), dict):
            yield (*place, "function_call"), {"function": message["function_call"]}


def _kind(item: Mapping[str, Any]) -> str:
    return str(item.get("type") or "").replace("-", "_")


def _is_call(item: Mapping[str, Any]) -> bool:
    return _kind(item).endswith(CALL_TYPES)


def _is_answer(item: Mapping[str, Any]) -> bool:
    """Whether it is the result of a call that stands elsewhere."""
    if _kind(item).endswith(ANSWER_TYPES):
        return True
    if item.get("role") in ANSWER_ROLES or _kind(item) == "tool":
        return not any(key in item for key in ARGUMENTS)
    if "jsonrpc" in item:
        return "method" not in item
    has_id = isinstance(item.get("tool_use_id") or item.get("tool_call_id"), str)
    return has_id and not any(key in item for key in (*NAMES, *ARGUMENTS, *ENVELOPES))


@dataclass(slots=True)
class _Call:
    """A call while it is read. `place` is where it stands in the body."""

    place: Loc
    tool: str = UNNAMED
    success: bool | None = None
    error: Any = None
    args: Any = None
    result: Any = None
    files_changed: Any = None
    id: str = ""
    explains_success: bool = False
    """True: its success is stated, or an oddity says why not, or its protocol has none."""
    oddities: list[str] = field(default_factory=list)

    def odd(self, oddity: str) -> None:
        if len(self.oddities) < MAX_ODDITIES:
            self.oddities.append(oddity[:MAX_ODDITY])

    def stored(self) -> dict[str, Any]:
        names = ("tool", "success", "error", "args", "result", "files_changed", "oddities")
        fields = {name: getattr(self, name) for name in names}
        return {name: value for name, value in fields.items() if value is not None and value != []}


class _CallReader:
    """Reads calls and results, and puts each result to its call."""

    def __init__(self, *, has_messages: bool) -> None:
        self.calls: list[_Call] = []
        self._has_messages = has_messages
        self._values_left = MAX_VALUES
        self._open: set[int] = set()
        """Calls without a result, by their position."""
        self._waiting: defaultdict[tuple[str, str], deque[int]] = defaultdict(deque)
        """Positions of calls by their id, by their tool, and of all, oldest first."""

    def read(self, items: Iterator[tuple[Loc, Any]]) -> None:
        for place, item in items:
            if not isinstance(item, dict):
                call = _Call(place, args=item, explains_success=True)
                call.odd(f"it is {_kind_of(item)}, not an object")
                self.calls.append(call)
            elif _is_answer(item):
                self._read_answer(place, item)
            else:
                self._read_call(place, item)
        for position, call in enumerate(self.calls):
            is_pending = self._has_messages and position in self._open
            if call.success is None and not (call.explains_success or is_pending):
                call.odd("nothing states whether it succeeded")

    def _read_call(self, place: Loc, item: Mapping[str, Any]) -> None:
        is_named = any(isinstance(item.get(key), str) for key in NAMES)
        envelopes = (item.get(key) for key in ENVELOPES if not is_named)
        inner = next((one for one in envelopes if isinstance(one, dict)), {})
        given = {key: value for key, value in item.items() if value is not inner}
        fields = {**inner, **{key: value for key, value in given.items() if key not in inner}}
        call = _Call(place)
        self._read_name(call, fields)
        self._read_arguments(call, fields)
        call.files_changed = fields.get("files_changed")
        unknown = sorted(set(item) - KNOWN)
        if unknown and not self._has_messages:
            names = ", ".join(name[:40] for name in unknown[:MAX_NAMED_FIELDS])
            call.odd(f"fields that no tool call has are left out: {names}")
        position = len(self.calls)
        self.calls.append(call)
        if any(key in fields for key in (*RESULTS, *FLAGS, "success", "error")):
            _read_ending(call, fields)
            return
        self._open.add(position)
        for key in (("id", _id_of(item)), ("tool", call.tool), ("all", "")):
            self._waiting[key].append(position)

    def _read_answer(self, place: Loc, item: Mapping[str, Any]) -> None:
        position = self._asked(item)
        if position is None:
            call = _Call(place)
            self._read_name(call, item)
            call.odd("it is the result of no call that was submitted")
            self.calls.append(call)
        else:
            call = self.calls[position]
            self._open.remove(position)
        _read_ending(call, item)

    def _asked(self, item: Mapping[str, Any]) -> int | None:
        """The oldest open call of its id; where it names none, the newest of its tool, or of all."""
        name, tool = _id_of(item), _first_text(item, NAMES)
        key = ("id", name) if name else ("tool", tool) if tool else ("all", "")
        waiting = self._waiting[key]
        end = 0 if name else -1
        while waiting and waiting[end] not in self._open:
            waiting.popleft() if name else waiting.pop()
        return waiting[end] if waiting else None

    def _read_name(self, call: _Call, fields: Mapping[str, Any]) -> None:
        kind = _kind(fields)
        name = next((fields[key] for key in NAMES if fields.get(key) is not None), None)
        if name is None and kind.endswith("_call") and not kind.endswith(NAMED_TYPES):
            name = kind.removesuffix("_call")
        if not isinstance(name, str) or not name.strip():
            call.odd("it names no tool" if name is None else f"the tool is {_kind_of(name)}")
            return
        if len(name) > MAX_NAME:
            call.odd(f"the name of the tool is longer than {MAX_NAME} characters")
        call.tool = name[:MAX_NAME]

    def _read_arguments(self, call: _Call, fields: Mapping[str, Any]) -> None:
        key = next((key for key in ARGUMENTS if fields.get(key) is not None), "args")
        call.args = fields.get(key)
        if key == "arguments" and isinstance(call.args, str):
            call.args = self._parsed(call, call.args)

    def _parsed(self, call: _Call, text: str) -> Any:
        """Arguments that stand as JSON in a text; what cannot be kept as JSON stays a text."""
        if not text.strip():
            return None
        self._values_left -= count_values(text.encode())
        if self._values_left < 0:
            call.odd("the arguments hold too many values to be read")
            return text
        try:
            parsed = json.loads(
                text, parse_constant=refuse_constant, object_pairs_hook=refuse_duplicate_keys
            )
            refuse_unkeepable(parsed, ("body", *call.place, "args"))
        except (ValueError, RecursionError, InputError):
            call.odd("the arguments are no JSON")
            return text
        return parsed


def _read_ending(call: _Call, fields: Mapping[str, Any]) -> None:
    """How the call ended: its success, its error and its result."""
    key = next((key for key in RESULTS if fields.get(key) is not None), "result")
    result, error = fields.get(key), fields.get("error")
    call.success = _stated_success(call, fields, result)
    is_our_shape = "success" in fields and key == "result"
    call.result = result if is_our_shape else _content(result)
    if error in (None, "", False, [], {}):
        error = ""
    elif not isinstance(error, str):
        if "jsonrpc" not in fields:
            call.odd(f"the error is {_kind_of(error)}, not a text")
        error = _as_text(error)
    if call.success is False and not error and not is_our_shape and call.result is not None:
        error, call.result = _as_text(call.result), None
    call.error = error or None


def _stated_success(call: _Call, fields: Mapping[str, Any], result: Any) -> bool | None:
    """What the shape itself says; None where it says nothing, or nothing that can be read."""
    success = fields.get("success")
    flags = {key: fields[key] for key in FLAGS if fields.get(key) is not None}
    call.explains_success = "success" in fields or bool(flags)
    for name, value in flags.items():
        if not isinstance(value, bool):
            call.odd(f"{name} is {_kind_of(value)}, not true or false")
        elif success is True and value:
            call.odd(f"success is true beside {name}")
    if isinstance(success, bool):
        return success
    if "success" in fields:
        call.odd(f"success is {_kind_of(success)}, not true or false")
        return None
    if flags:
        values = [value for value in flags.values() if isinstance(value, bool)]
        return not any(values) if values else None
    if isinstance(result, dict):
        if isinstance(result.get("isError"), bool):
            return not result["isError"]
        if "error" in _kind(result).split("_"):
            return False
        if isinstance(result.get("success"), bool):
            call.odd("success stands within the result")
            call.explains_success = True
            return None
    if str(fields.get("status")) in STATUSES:
        return STATUSES[str(fields["status"])]
    return _implied_success(call, fields)


def _implied_success(call: _Call, fields: Mapping[str, Any]) -> bool | None:
    """What a protocol means where it says nothing."""
    kind = _kind(fields)
    if kind.endswith("tool_error"):
        return False
    if kind.endswith("tool_result"):  # Anthropic leaves is_error out of a success
        return True
    if "jsonrpc" in fields or kind == "mcp_call":
        return not fields.get("error")
    # OpenAI's results have no field for it: their text says what happened.
    call.explains_success = _is_answer(fields)
    return None


def _content(value: Any) -> Any:
    """The text of a content list that holds nothing else; any other value as it is."""
    if isinstance(value, dict) and value.keys() == {"type", "value"}:
        return value["value"]
    if isinstance(value, dict) and isinstance(value.get("content"), list):
        return value if value.get("structuredContent") is not None else _content(value["content"])
    if not isinstance(value, list) or not value:
        return value
    blocks = [block for block in value if isinstance(block, dict)]
    texts = [block.get("text") for block in blocks if block.get("type", "text") in TEXT_TYPES]
    strings = [text for text in texts if isinstance(text, str)]
    return "\n".join(strings) if len(strings) == len(value) else value


def _as_text(value: Any) -> str:
    content = _content(value)
    return content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)


def _first_text(item: Mapping[str, Any], names: Sequence[str]) -> str:
    return next((item[key] for key in names if isinstance(item.get(key), str)), "")


def _id_of(item: Mapping[str, Any]) -> str:
    ids = (item[key] for key in IDS if isinstance(item.get(key), str | int))
    return str(next(ids, ""))


def _kind_of(value: Any) -> str:
    if value is None:
        return "null"
    kinds = ((bool, "a truth value"), (str, "a text"), (list, "a list"), (dict, "an object"))
    return next((name for kind, name in kinds if isinstance(value, kind)), "a number")
