"""Which addresses a webhook may reach, decided on the address that is then connected to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import ip_network
from urllib.parse import SplitResult, urlsplit

from django.conf import settings

from loomverify.addresses import Address, Network, addresses_of, ends_of

MAX_URL_LENGTH = 500
DEFAULT_PORTS = {"http": 80, "https": 443}
NOBODYS = tuple(map(ip_network, ("fec0::/10", "3fff::/20", "192.88.99.0/24")))
"""Site-local, for documents, and a relay out of use: `ipaddress` takes them for public."""


class TargetRefused(Exception):
    """One sentence that says what is wrong with a webhook's target."""


class TargetUnknown(TargetRefused):
    """The name has no address now; it may have one later."""


@dataclass(frozen=True, slots=True)
class Target:
    """Where to connect. The host is not resolved again, so it cannot point elsewhere by then."""

    url: str
    addresses: tuple[str, ...]


def allowed_target(url: str) -> Target:
    """As the operator allows it. Raises `TargetRefused`."""
    env = settings.ENV
    return find_target(url, loopback_allowed=not env.production, networks=env.private_networks)


def find_target(url: str, *, loopback_allowed: bool, networks: Sequence[Network] = ()) -> Target:
    """Resolve a webhook's host and check each of its addresses.

    Raises:
        TargetRefused: the URL is not one to send to, or an address is neither a public one nor in
            one of the networks.
    """
    parts, port = _split(url)
    host = parts.hostname or ""
    addresses = _resolve(host, port)
    for address in addresses:
        ends = ends_of(address)
        if not all(_is_open(one, networks, loopback_allowed=loopback_allowed) for one in ends):
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
        return addresses_of(host, port)
    except TimeoutError as error:
        raise TargetUnknown(f"Nothing said in time which address {host} has.") from error
    except (OSError, UnicodeError) as error:
        raise TargetUnknown(f"{host} has no address.") from error


def _is_open(address: Address, networks: Sequence[Network], *, loopback_allowed: bool) -> bool:
    if any(address in network for network in networks):
        return True
    if address.is_loopback:
        return loopback_allowed
    if any(address in network for network in NOBODYS):
        return False
    return address.is_global and not address.is_multicast and not address.is_reserved
