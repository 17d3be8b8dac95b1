"""Results of tool calls that begin with an error."""

from __future__ import annotations

import re
from typing import Any

from verification.engine.evidence import Json

READ_CHARS = 400
"""Only the beginning of a result is read: a log or a file may mention errors further down."""
MAX_DEPTH = 4
FLAGS: dict[str, bool] = {"isError": True, "is_error": True, "success": False, "ok": False}
"""Keys of a result, and the value by which each reports an error."""
ERRORS = ("error", "errors")
TEXTS = ("content", "text", "output", "result", "message")

_NOTHING = (
    r"(?!\s*(?:none|null|nil|false|n/a|-+|no(?: errors?)?|0(?: errors?)?)"
    r"(?: found)?\s*(?:[.,;!]|\n|$))"
)
_BEGINNING = re.compile(
    r"\W{0,8}(?!no\b|without\b|zero\b|0\b)(?:"
    r"(?:(?:fatal|internal|unexpected|uncaught|unhandled|runtime|system|tool|api|server|http|\d{3})"
    r"[ _]){0,3}(?:error|exception)\b[*_`\]]{0,3}(?: \(?(?:code )?\d{1,5}\)?)?"
    rf"(?:\s?[:!]|\s[-\u2013\u2014]\s){_NOTHING}\s*\S"
    r"|(?:an? )?(?:\w{1,20} )?(?:error|exception) (?:has |was )?"
    r"(?:occurred|thrown|while|calling|executing)\b"
    r"|traceback \(most recent call last\)|exception in thread|unhandled promise rejection"
    r"|thread '[^'\n]{0,100}' panicked|panic: |fatal: |segmentation fault"
    r"|<(?:\w{1,30}_)?error\b[^>\n]{0,100}>"
    r")",
    re.IGNORECASE,
)
_ERROR_CLASS = re.compile(
    r"\W{0,8}[A-Za-z_][\w.$]{0,100}(?:Error|Exception)\b\s?:"
    r"(?!\s*[-+]?\d[\d.,e%-]*\s*(?:\n|$))\s*\S"
)
"""`ValueError: …`, `java.lang.IllegalStateException: …`, but no metric such as `MeanError: 0.1`."""
_JSON_ERROR = re.compile(
    r'\s*\{\s*"errors?"\s*:(?!\s*(?:null|false|0\b|""|\[\s*\]|\{\s*\}))'
    r'|\s*\{[^{}]{0,300}"is_?error"\s*:\s*true',
    re.IGNORECASE,
)


def error_in_result(result: Json) -> str:
    """Return the beginning of a result that reports an error, '' for every other result."""
    for _ in range(MAX_DEPTH):
        if isinstance(result, str):
            return _error_in_text(result)
        if isinstance(result, list):
            result = result[0] if result else None
        elif isinstance(result, dict):
            if error := _reported(result):
                return error
            result = next((result[key] for key in TEXTS if key in result), None)
        else:
            return ""
    return ""


def _reported(result: dict[str, Any]) -> str:
    """What an object reports by a flag or by the error that it holds."""
    flags = [key for key, failed in FLAGS.items() if result.get(key) is failed]
    errors = [result[key] for key in ERRORS if result.get(key) not in (None, False, 0, "", [], {})]
    is_success = result.get("success") is True or result.get("ok") is True
    if not flags and (is_success or not errors):
        return ""
    texts = [*errors, *(result[key] for key in TEXTS if key in result)]
    return next(filter(None, map(_beginning, texts)), "") or f"{flags[0]} is {result[flags[0]]}"


def _beginning(value: Json) -> str:
    """The first text in it."""
    for _ in range(MAX_DEPTH):
        if isinstance(value, str):
            return value.strip()[:READ_CHARS]
        if isinstance(value, list):
            value = value[0] if value else None
        elif isinstance(value, dict):
            value = next((value[key] for key in ("message", *TEXTS) if key in value), None)
        else:
            return str(value) if value else ""
    return ""


def _error_in_text(text: str) -> str:
    beginning = text[: 2 * READ_CHARS].strip()[:READ_CHARS]
    patterns = (_BEGINNING, _ERROR_CLASS, _JSON_ERROR)
    return beginning if any(pattern.match(beginning) for pattern in patterns) else ""
