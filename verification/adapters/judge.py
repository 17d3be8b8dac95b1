"""One call to a model behind a named connection, and the retries of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from typing import Any


class Again(StrEnum):
    """When another call may help."""

    NEVER = "never"
    AT_ONCE = "at_once"
    """A parameter was refused, which is remembered: the next call goes without it."""
    LATER = "later"


@dataclass(frozen=True, slots=True)
class Connection:
    """A model that can be asked. Without a price of its own, the listed one counts.

    `structured_output`: None leaves it to what is known of the provider.
    `is_private_allowed`: whether its address may be one of a private network; an address that
    serves a cloud's credentials never may.
    """

    name: str
    model: str
    base_url: str = ""
    api_key: str = field(default="", repr=False)
    input_usd_per_million: Decimal | None = None
    output_usd_per_million: Decimal | None = None
    timeout_seconds: float = 60.0
    max_output_tokens: int = 4000
    max_input_chars: int = 200_000
    structured_output: bool | None = None
    is_private_allowed: bool = True


@dataclass(frozen=True, slots=True)
class Completion:
    """What came back. `lost` is the reason code for which nothing did, '' where something did.

    `detail` says in a sentence what went wrong, or what is odd about the text; it holds no key.
    `calls` is 0 where nothing was sent. `retry_after` is in seconds, as the provider asked.
    """

    text: str = ""
    lost: str = ""
    detail: str = ""
    model: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: Decimal = Decimal(0)
    retry_after: float | None = None
    duration_ms: int = 0
    calls: int = 1
    again: Again = Again.NEVER


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a lost answer is asked for again: full jitter, doubling, bounded in all."""

    tries: int = 4
    first_wait_seconds: float = 1.0
    longest_wait_seconds: float = 20.0
    stop_after_seconds: float = 180.0


def complete(
    connection: Connection,
    *,
    system: str,
    prompt: str,
    schema: Mapping[str, Any] | None = None,
    temperature: float = 0.0,
    timeout: float | None = None,
) -> Completion:
    """Make one call. It never raises: what went wrong is `lost` and `detail`."""
    raise NotImplementedError


def retrying(
    connection: Connection,
    *,
    system: str,
    prompt: str,
    schema: Mapping[str, Any] | None = None,
    temperature: float = 0.0,
    patience: Patience = Patience(),
    on_try: Callable[[Completion, int], None] = lambda completion, number: None,
    may_call: Callable[[], str] = lambda: "",
) -> Completion:
    """Call, and call again while that may help; return the last completion.

    `may_call` is asked before each call and answers '' or the reason code that forbids it; then
    nothing is sent. `on_try` hears of each call as it ends, numbered from 1.
    """
    raise NotImplementedError
