"""One call to a model behind a named connection, and the retries of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any

import tenacity

from verification.adapters.judge_faults import INFRA, fault_of
from verification.adapters.judge_litellm import key_for, library, response_format
from verification.adapters.judge_models import MILLION, listing
from verification.adapters.judge_reply import Reply, read
from verification.adapters.judge_wire import Exchange, exchange_under_way

_refused: set[tuple[str, str, str]] = set()
"""Model, address and the parameter that it refuses, for as long as this process lives."""


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
    is_cut: bool = False
    """The text ends where the model had to stop, not where it wanted to."""


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
    length = len(system) + len(prompt)
    if length > connection.max_input_chars:
        detail = (
            f"The prompt has {length:,} characters; this connection takes "
            f"{connection.max_input_chars:,}."
        )
        return Completion(lost=INFRA, detail=detail, model=connection.model, calls=0)
    parameters = _parameters(connection, schema, temperature)
    messages = [{"role": "system", "content": system}] if system else []
    messages.append({"role": "user", "content": prompt})
    seconds = timeout or connection.timeout_seconds
    litellm = library()
    began = time.monotonic()
    exchange = Exchange(seconds, connection.is_private_allowed)
    token = exchange_under_way.set(exchange)
    try:
        response = litellm.completion(messages=messages, timeout=seconds, **parameters)
        completion = _said(connection, response, length)
    except Exception as error:  # litellm raises what its providers' libraries raise
        completion = _lost(connection, exchange, error)
    finally:
        exchange_under_way.reset(token)
    milliseconds = round((time.monotonic() - began) * 1000)
    return replace(completion, calls=min(1, exchange.requests), duration_ms=milliseconds)


def _parameters(
    connection: Connection, schema: Mapping[str, Any] | None, temperature: float
) -> dict[str, Any]:
    model, address = connection.model, connection.base_url
    parameters: dict[str, Any] = {
        "model": model,
        "api_base": address or None,
        "api_key": key_for(model, connection.api_key),
        "max_tokens": connection.max_output_tokens,
        "temperature": temperature,
        "response_format": response_format(model, schema, connection.structured_output),
        "max_retries": 0,
        "num_retries": 0,
    }
    for name in ("response_format", "temperature", "max_tokens"):
        if parameters[name] is None or (model, address, name) in _refused:
            del parameters[name]
    if "max_tokens" not in parameters:
        parameters["max_completion_tokens"] = connection.max_output_tokens
    return parameters


def _said(connection: Connection, response: Any, prompt_chars: int) -> Completion:
    reply = read(response, prompt_chars=prompt_chars)
    if reply is None:
        detail = "It answered, and the answer holds no text of a model."
        return Completion(lost=INFRA, detail=detail, model=connection.model, again=Again.LATER)
    return Completion(
        text=reply.text,
        detail=reply.detail,
        model=connection.model,
        prompt_tokens=reply.prompt_tokens,
        completion_tokens=reply.completion_tokens,
        cost_usd=_cost(connection, reply),
        is_cut=reply.is_cut,
    )


def _lost(connection: Connection, exchange: Exchange, error: Exception) -> Completion:
    fault = fault_of(exchange, error, key=connection.api_key, now=datetime.now(UTC))
    again = Again.LATER if fault.is_passing else Again.NEVER
    if fault.refused:
        refused = (connection.model, connection.base_url, fault.refused)
        again = Again.NEVER if refused in _refused else Again.AT_ONCE
        _refused.add(refused)
    return Completion(
        lost=fault.code,
        detail=fault.detail,
        model=connection.model,
        retry_after=fault.retry_after,
        again=again,
    )


def price(connection: Connection) -> tuple[Decimal, Decimal] | None:
    """USD per million tokens in and out: the connection's, else the listed one, else None."""
    listed = listing(connection.model)
    own = (connection.input_usd_per_million, connection.output_usd_per_million)
    asked = own[0] if own[0] is not None else listed.input_usd_per_million
    said = own[1] if own[1] is not None else listed.output_usd_per_million
    return None if asked is None or said is None else (asked, said)


def _cost(connection: Connection, reply: Reply) -> Decimal:
    asked, said = price(connection) or (Decimal(0), Decimal(0))
    return (asked * reply.prompt_tokens + said * reply.completion_tokens) / MILLION


def retrying(
    connection: Connection,
    *,
    system: str,
    prompt: str,
    schema: Mapping[str, Any] | None = None,
    temperature: float = 0.0,
    timeout: float | None = None,
    patience: Patience = Patience(),
    on_try: Callable[[Completion, int], None] = lambda completion, number: None,
    may_call: Callable[[], str] = lambda: "",
) -> Completion:
    """Call, and call again while that may help; return the last completion.

    `may_call` is asked before each call and answers '' or the reason code that forbids it; then
    nothing is sent. `on_try` hears of each call as it ends, numbered from 1.
    """
    began, tried = time.monotonic(), 0

    def once() -> Completion:
        nonlocal tried
        forbidden = may_call()
        if forbidden:
            return Completion(lost=forbidden, model=connection.model, calls=0)
        left = patience.stop_after_seconds - (time.monotonic() - began)
        tried += 1
        completion = complete(
            connection,
            system=system,
            prompt=prompt,
            schema=schema,
            temperature=temperature,
            timeout=max(0.1, min(timeout or connection.timeout_seconds, left)),
        )
        on_try(completion, tried)
        return completion

    return _retries(patience)(once)


def _retries(patience: Patience) -> tenacity.Retrying:
    jitter = tenacity.wait_random_exponential(
        multiplier=patience.first_wait_seconds, max=patience.longest_wait_seconds
    )

    def wait(state: tenacity.RetryCallState) -> float:
        lost = _result(state)
        if lost.again is Again.AT_ONCE:
            return 0.0
        return max(lost.retry_after or 0.0, jitter(state))

    def is_asked_for_more(state: tenacity.RetryCallState) -> bool:
        """To come back earlier than asked would be rude: whoever called may come back later."""
        return (_result(state).retry_after or 0.0) > patience.longest_wait_seconds

    is_over = tenacity.stop_any(
        tenacity.stop_after_attempt(max(1, patience.tries)),
        tenacity.stop_before_delay(patience.stop_after_seconds),
    )
    return tenacity.Retrying(
        retry=tenacity.retry_if_result(lambda completion: completion.again is not Again.NEVER),
        stop=lambda state: is_asked_for_more(state) or is_over(state),
        wait=wait,
        retry_error_callback=_result,
    )


def _result(state: tenacity.RetryCallState) -> Completion:
    completion: Completion = state.outcome.result()  # type: ignore[union-attr]
    return completion
