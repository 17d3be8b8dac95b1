"""What is expected of an entry point or a service, read from YAML. Hostile input."""

from __future__ import annotations

import re

from processes.definition.model import Level
from processes.definition.reading import Fields, Value
from verification.engine.gating.plans import is_odd
from verification.engine.gating.stages import RUN, SECONDS, Ready, Start

MAX_STARTS = 20
MAX_TEXT_BYTES = 60_000
"""An input is handed over in the environment, of which a kernel takes 128 KiB for one value."""
MAX_EXIT_CODE = 123
"""Those above say of a shell that it ran out of time or found nothing to run."""
MAX_PORT = 65_535
ROOM_SECONDS = 5
"""A service takes longer than it is waited for: to be started, looked at once more, and ended."""
MAX_READY_SECONDS = SECONDS[RUN] - ROOM_SECONDS
NO_COMMANDS: tuple[str, ...] = ()
NO_STARTS: tuple[Start, ...] = ()
_PATH = re.compile(r"/[!-~]{0,500}")


def read_starts(value: Value) -> tuple[Start, ...]:
    """Read one start or a list of them; one that is not understood is left out, and complained of."""
    is_list = value.kind == "a list"
    entries = (value.entries() or []) if is_list else [value]
    if len(entries) > MAX_STARTS:
        value.complain("value.too_long", f"Of {value.path} only the first {MAX_STARTS} are tried.")
    if not entries:
        value.complain("value.empty", f"{value.path} names nothing to start.")
    found = [_start(entry) for entry in entries[:MAX_STARTS]]
    return tuple(one for one in found if one is not None)


def read_commands(value: Value) -> tuple[str, ...] | None:
    """One command or a list of them, as they would stand in a plan."""
    texts = value.texts()
    if texts is None:
        return None
    commands = tuple(text for text in texts if text)
    if not commands or is_odd(commands):
        value.complain("value.command", f"{value.path} holds no commands that can be run.")
        return None
    return commands


def _start(entry: Value) -> Start | None:
    if entry.is_scalar:
        commands = read_commands(entry)
        return Start(commands[0], line=entry.line) if commands else None
    before = _errors(entry)
    fields = entry.mapping()
    if fields is None:
        return None
    start = _read(entry, fields)
    fields.close()
    return start if _errors(entry) == before else None


def _read(entry: Value, fields: Fields) -> Start:
    if not fields.has("command"):
        fields.complain("key.missing", f"{entry.path}.command is required.".lstrip("."))
    commands = fields.read("command", read_commands, NO_COMMANDS)
    ready = fields.read("ready", _ready, None)
    if ready is not None or fields.has("ready"):
        for key in ("input", "expected_output", "expected_exit_code"):
            if fields.has(key):
                fields.complain("start.service", "A service answers: nothing else counts.", key)
    return Start(
        command="\n".join(commands),
        input=fields.read("input", _text, ""),
        output=fields.read("expected_output", _text, None),
        exit_code=fields.read("expected_exit_code", _exit_code, 0),
        ready=ready,
        line=entry.line,
    )


def _ready(value: Value) -> Ready | None:
    fields = value.mapping()
    if fields is None:
        return None
    if not fields.has("port"):
        fields.complain("key.missing", f"{value.path}.port is required.")
    ready = Ready(
        port=fields.read("port", lambda one: one.integer(1, MAX_PORT), 0),
        path=fields.read("path", _url_path, "/"),
        seconds=fields.read("seconds", lambda one: one.integer(1, MAX_READY_SECONDS), 20),
    )
    fields.close()
    return ready


def _url_path(value: Value) -> str | None:
    text = value.text()
    if text is None or _PATH.fullmatch(text):
        return text
    value.complain("value.path", f"{value.path} must begin with / and hold no blanks.")
    return None


def _exit_code(value: Value) -> int | None:
    return value.integer(0, MAX_EXIT_CODE)


def _text(value: Value) -> str | None:
    """Every character counts, a block's last line break as well."""
    if value.text(strip=False) is None:
        return None
    text = str(value.node.value)
    try:
        size = len(text.encode())
    except UnicodeError:
        size = MAX_TEXT_BYTES + 1
    if size <= MAX_TEXT_BYTES:
        return text
    value.complain("value.too_long", f"{value.path} may hold at most {MAX_TEXT_BYTES} bytes.")
    return None


def _errors(value: Value) -> int:
    return sum(one.level is Level.ERROR for one in value.log.problems)
