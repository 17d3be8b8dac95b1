"""What a lost answer means: its reason code, a sentence for people, and whether to try again."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from verification.adapters.judge_wire import MAX_REPLY_BYTES, Cut, Exchange

MAX_SAID_CHARS = 300
MAX_RETRY_AFTER_SECONDS = 3600.0
SECRET = re.compile(r"\b(?:sk|pk|lv|gsk|xai|key|Bearer)[-_ ][A-Za-z0-9._*-]{8,}")
TOO_LONG = re.compile(
    r"context.?(length|window)|maximum context|too many (input )?tokens|(prompt|input) is too long",
    re.IGNORECASE,
)
NO_QUOTA = re.compile(r"insufficient_quota|exceeded your current quota|billing", re.IGNORECASE)
PARAMETERS = {
    "response_format": re.compile(
        r"response.?format|json_schema|json_object|structured.?output|guided.?json|output_config",
        re.IGNORECASE,
    ),
    "temperature": re.compile(r"temperature", re.IGNORECASE),
    "max_tokens": re.compile(r"max_tokens|max_completion_tokens", re.IGNORECASE),
}
"""Parameters that a provider may refuse, by the words it does so with."""

INFRA, LIMITED = "infra_verifier_error", "rate_limited"


@dataclass(frozen=True, slots=True)
class Fault:
    """Why nothing came back. `refused` names the parameter without which it may go."""

    code: str
    detail: str
    is_passing: bool = False
    retry_after: float | None = None
    refused: str = ""


def fault_of(exchange: Exchange, error: Exception, *, key: str, now: datetime) -> Fault:
    """Tell from what happened on the wire; the libraries' exceptions differ by provider."""
    if exchange.cut is not None:
        return _cut(exchange)
    if exchange.status is None:
        return _unanswered(exchange, error, key)
    if exchange.status < 400:
        return Fault(INFRA, "It answered with what is not a completion.", is_passing=True)
    return _answered(exchange, exchange.status, _message(exchange.body, key), now)


def _cut(exchange: Exchange) -> Fault:
    if exchange.cut is Cut.LATE:
        return Fault(INFRA, "It did not answer in time.", is_passing=True)
    if exchange.cut is Cut.TOO_LARGE:
        return Fault(INFRA, f"Its answer is larger than {MAX_REPLY_BYTES // 1024**2} MB.")
    return Fault(INFRA, exchange.why)


def _unanswered(exchange: Exchange, error: Exception, key: str) -> Fault:
    if not exchange.requests:
        return Fault(INFRA, f"The call could not be made: {_one_line(str(error), key)}")
    cause: BaseException | None = error
    while cause is not None:
        if "timeout" in type(cause).__name__.lower():
            return Fault(INFRA, "It did not answer in time.", is_passing=True)
        cause = cause.__cause__ or cause.__context__
    return Fault(INFRA, "The connection could not be made, or broke.", is_passing=True)


def _answered(exchange: Exchange, status: int, said: str, now: datetime) -> Fault:
    wait = _retry_after(exchange.headers, now)
    if status == 402 or (status == 429 and NO_QUOTA.search(said)):
        return Fault(LIMITED, _sentence(f"The account has no quota left (HTTP {status}).", said))
    if status == 429:
        detail = "It is asked too often (HTTP 429)."
        return Fault(LIMITED, _sentence(detail, said), is_passing=True, retry_after=wait)
    if status >= 500 or status in (408, 409, 425):
        detail = f"It failed (HTTP {status})."
        return Fault(INFRA, _sentence(detail, said), is_passing=True, retry_after=wait)
    return _refused(status, said)


def _refused(status: int, said: str) -> Fault:
    if status in (401, 403):
        return Fault(INFRA, _sentence(f"The key was refused (HTTP {status}).", said))
    if status == 404:
        detail = "There is no such model, or no such address (HTTP 404)."
        return Fault(INFRA, _sentence(detail, said))
    if status == 413 or TOO_LONG.search(said):
        detail = f"The prompt is longer than the model takes (HTTP {status})."
        return Fault(INFRA, _sentence(detail, said))
    if status in (400, 422):
        for parameter, words in PARAMETERS.items():
            if words.search(said):
                detail = f"It refuses {parameter} (HTTP {status})."
                return Fault(INFRA, _sentence(detail, said), refused=parameter)
    return Fault(INFRA, _sentence(f"It refuses the request (HTTP {status}).", said))


def _message(body: bytes, key: str) -> str:
    """What an answer says in the shape that providers give errors; other bodies are not repeated."""
    try:
        document = json.loads(body[: 64 * 1024])
    except (ValueError, RecursionError):
        return ""
    error = document.get("error", document) if isinstance(document, dict) else None
    if isinstance(error, str):
        return _one_line(error, key)
    if not isinstance(error, dict):
        return ""
    parts = [error.get(name) for name in ("message", "code", "param")]
    return _one_line(" ".join(part for part in parts if isinstance(part, str)), key)


def _one_line(text: str, key: str) -> str:
    """Masked before it is cut: half a key is still one."""
    start = masked(text[: 8 * MAX_SAID_CHARS], key)
    line = " ".join("".join(mark if mark.isprintable() else " " for mark in start).split())
    return line if len(line) <= MAX_SAID_CHARS else f"{line[: MAX_SAID_CHARS - 1]}…"


def masked(text: str, key: str) -> str:
    """The text without the key, and without what looks like one."""
    if len(key) >= 4:
        text = text.replace(key, "***")
    return SECRET.sub("***", text)


def _sentence(detail: str, said: str) -> str:
    return f"{detail} It says: {said}" if said else detail


def _retry_after(headers: Mapping[str, str], now: datetime) -> float | None:
    """Seconds, from a number or a date; None where nothing sensible is asked."""
    text = str(headers.get("retry-after", "")).strip()[:40]
    seconds: float | None = None
    if re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", text):
        seconds = float(text)
    elif text:
        seconds = _until(text, now)
    return None if seconds is None else min(max(0.0, seconds), MAX_RETRY_AFTER_SECONDS)


def _until(text: str, now: datetime) -> float | None:
    try:
        moment: Any = parsedate_to_datetime(text)
    except (ValueError, TypeError, OverflowError):
        return None
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return float((aware - now).total_seconds())
