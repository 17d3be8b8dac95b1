"""The way to a model: one connection a call, bounded in time and size, to allowed addresses only.

litellm and the libraries below it send through `Wire`. What really happened on the way is kept
in the call's `Exchange`, so that it need not be guessed from their exceptions.
"""

from __future__ import annotations

import ipaddress
import ssl
import time
from collections.abc import Iterable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import httpcore
import httpx

from loomverify.addresses import Address, addresses_of, ends_of

MAX_REPLY_BYTES = 8 * 1024 * 1024
CONNECT_SECONDS = 5.0
CREDENTIAL_SERVICES = frozenset(
    ipaddress.ip_address(text) for text in ("fd00:ec2::254", "100.100.100.200", "192.0.0.192")
)
"""Besides the link-local addresses, where every cloud hands out its machines' credentials."""


class Cut(StrEnum):
    """Why we ended an exchange ourselves."""

    LATE = "late"
    TOO_LARGE = "too_large"
    REFUSED = "refused"


@dataclass(slots=True)
class Exchange:
    """What one call may do, and what came of it.

    Its seconds count from its first request: what libraries load before is not the model's.
    `status`, `headers` and `body` are there once the whole answer is.
    """

    seconds: float
    is_private_allowed: bool = True
    requests: int = 0
    received: int = 0
    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    cut: Cut | None = None
    why: str = ""
    deadline: float = 0.0
    """On the monotonic clock."""

    def begin(self) -> None:
        self.deadline = self.deadline or time.monotonic() + self.seconds
        self.requests += 1

    def end(self, cut: Cut, why: str) -> None:
        if self.cut is None:
            self.cut, self.why = cut, why

    def seconds_left(self, timeout: float | None) -> float:
        """The smaller of a library's timeout and what is left of the whole.

        Raises:
            httpcore.ReadTimeout: nothing is left.
        """
        left = self.deadline - time.monotonic()
        if left <= 0:
            self.end(Cut.LATE, "")
            raise httpcore.ReadTimeout("the time of the call is over")
        return left if timeout is None else min(left, timeout)


exchange_under_way: ContextVar[Exchange | None] = ContextVar("exchange", default=None)


def _exchange() -> Exchange:
    exchange = exchange_under_way.get()
    if exchange is None:  # nothing but a call has business outside
        raise httpcore.ConnectError("no call is under way")
    return exchange


class Wire(httpx.HTTPTransport):
    def __init__(self) -> None:
        context = httpx.create_ssl_context()  # SSL_CERT_FILE names an operator's own roots
        super().__init__(verify=context)
        # A connection that is kept would be another call's, with another call's leave.
        self._pool = httpcore.ConnectionPool(
            ssl_context=context,
            max_connections=None,
            max_keepalive_connections=0,
            network_backend=_Backend(),
        )

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        exchange = _exchange()
        exchange.begin()
        request.headers["Accept-Encoding"] = "identity"
        response = super().handle_request(request)
        try:
            _refuse_odd(exchange, response)
            exchange.body = response.read()
        finally:
            response.close()
        exchange.status, exchange.headers = response.status_code, response.headers
        return httpx.Response(
            response.status_code, headers=response.headers, content=exchange.body, request=request
        )


def _refuse_odd(exchange: Exchange, response: httpx.Response) -> None:
    if response.headers.get("Content-Encoding", "identity") != "identity":
        exchange.end(Cut.REFUSED, "The answer is compressed, though plain was asked for.")
    elif 300 <= response.status_code < 400:
        exchange.end(Cut.REFUSED, f"It answers {response.status_code}; redirects are not followed.")
    if exchange.cut is Cut.REFUSED:
        raise httpx.ReadError(exchange.why)


class _Backend(httpcore.NetworkBackend):
    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        exchange = _exchange()
        inner = httpcore.SyncBackend()
        addresses = _checked(host, port, exchange)
        for left, address in zip(range(len(addresses) - 1, -1, -1), addresses, strict=True):
            seconds = min(CONNECT_SECONDS, exchange.seconds_left(timeout))
            try:
                stream = inner.connect_tcp(address, port, seconds, local_address, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout):
                if not left:
                    raise
            else:
                return _BoundedStream(stream, exchange)
        raise httpcore.ConnectError("the name has no address")


class _BoundedStream(httpcore.NetworkStream):
    def __init__(self, inner: httpcore.NetworkStream, exchange: Exchange) -> None:
        self._inner = inner
        self._exchange = exchange

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        try:
            part = self._inner.read(max_bytes, self._exchange.seconds_left(timeout))
        except httpcore.ReadTimeout:
            self._exchange.end(Cut.LATE, "")
            raise
        self._exchange.received += len(part)
        if self._exchange.received > MAX_REPLY_BYTES:
            self._exchange.end(Cut.TOO_LARGE, "")
            raise httpcore.ReadError("the answer is too large")
        return part

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._inner.write(buffer, self._exchange.seconds_left(timeout))

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.NetworkStream:
        seconds = self._exchange.seconds_left(timeout)
        secured = self._inner.start_tls(ssl_context, server_hostname, seconds)
        return _BoundedStream(secured, self._exchange)

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)


def _checked(host: str, port: int, exchange: Exchange) -> list[str]:
    """The addresses of a host. One that is refused refuses them all: it may be the next answer.

    Raises:
        httpcore.ConnectError: the name has no address, or one that must not be reached.
    """
    try:
        texts = [str(address) for address in addresses_of(host, port)]
    except (OSError, UnicodeError) as error:
        raise httpcore.ConnectError("the name has no address") from error
    for text in texts:
        why = refusal(text, is_private_allowed=exchange.is_private_allowed)
        if why:
            exchange.end(Cut.REFUSED, why)
            raise httpcore.ConnectError(why)
    return texts


def refusal(text: str, *, is_private_allowed: bool) -> str:
    """Why an address must not be reached, '' when it may be."""
    ends = ends_of(ipaddress.ip_address(text))
    said = (_refusal(end, is_private_allowed=is_private_allowed) for end in ends)
    return next(filter(None, said), "")


def _refusal(end: Address, *, is_private_allowed: bool) -> str:
    if end.is_link_local or end in CREDENTIAL_SERVICES:
        return "Its address is one where clouds hand out credentials; it is never asked."
    if end.is_multicast or end.is_unspecified:
        return "Its address is not one of a machine."
    if not end.is_global and not is_private_allowed:
        return (
            "Its address is a private one. The operator can allow those: "
            "LOOMVERIFY_JUDGE_PRIVATE_HOSTS=yes."
        )
    return ""
