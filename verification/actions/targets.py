"""Which addresses a webhook may reach, decided on the address that is then connected to."""

from __future__ import annotations

import ipaddress
import socket
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

MAX_URL_LENGTH = 500
NAT64 = ipaddress.ip_network("64:ff9b::/96")
DEFAULT_PORTS = {"http": 80, "https": 443}

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class TargetRefused(Exception):
    """One sentence that says what is wrong with a webhook's target."""


class TargetUnknown(TargetRefused):
    """The name has no address now; it may have one later."""


@dataclass(frozen=True, slots=True)
class Target:
    """Where to connect. The host is not resolved again, so it cannot point elsewhere by then."""

    url: str
    addresses: tuple[str, ...]


def find_target(url: str, *, loopback_allowed: bool) -> Target:
    """Resolve a webhook's host and check each of its addresses.

    Raises:
        TargetRefused: the URL is not one to send to, or an address is not a public one.
    """
    parts, port = _split(url)
    host = parts.hostname or ""
    addresses = _resolve(host, port)
    for address in addresses:
        if not _is_open(address, loopback_allowed=loopback_allowed):
            raise TargetRefused(f"{host} leads to {address}, which is not a public address.")
    return Target(url=url, addresses=tuple(str(address) for address in addresses))


def _split(url: str) -> tuple[SplitResult, int]:
    if len(url) > MAX_URL_LENGTH:
        raise TargetRefused(f"The URL is longer than {MAX_URL_LENGTH} characters.")
    if not url.isprintable() or any(mark.isspace() for mark in url):
        raise TargetRefused("The URL holds characters that no URL has.")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise TargetRefused("This is not a URL.") from error
    if parts.scheme not in DEFAULT_PORTS or not parts.hostname:
        raise TargetRefused("The URL must start with https:// or http:// and name a host.")
    if parts.username or parts.password:
        raise TargetRefused("The URL must not hold a user name or password.")
    return parts, DEFAULT_PORTS[parts.scheme] if port is None else port


def _resolve(host: str, port: int) -> list[Address]:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise TargetUnknown(f"{host} has no address.") from error
    texts = dict.fromkeys(str(entry[4][0]).partition("%")[0] for entry in found)
    return [ipaddress.ip_address(text) for text in texts]


def _is_open(address: Address, *, loopback_allowed: bool) -> bool:
    inner = _embedded(address) or address
    if inner.is_loopback:
        return loopback_allowed
    return inner.is_global and not inner.is_multicast and not inner.is_reserved


def _embedded(address: Address) -> ipaddress.IPv4Address | None:
    """The IPv4 address that an IPv6 one stands for."""
    if isinstance(address, ipaddress.IPv4Address):
        return None
    if address in NAT64:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour or (address.teredo or (None, None))[1]
