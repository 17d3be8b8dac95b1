"""Where a name leads, for whoever connects to addresses that somebody else has written down."""

from __future__ import annotations

import ipaddress
import queue
import socket
import threading
from typing import Any

LOOKUP_SECONDS = 5.0
_LOOKUPS = threading.BoundedSemaphore(32)
"""A look-up cannot be ended from here: so many at most are waited for, or left behind."""

NAT64 = ipaddress.ip_network("64:ff9b::/96")
ISATAP, ISATAP_MASK = 0x00005EFE, 0xFDFFFFFF
"""Of the first half of an interface's name; a tunnel to the IPv4 address in the other (RFC 5214)."""

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network


def addresses_of(host: str, port: int) -> list[Address]:
    """Resolve a host, each address once.

    Raises:
        OSError, UnicodeError: the name has no address.
        TimeoutError: whoever is asked for it does not answer.
    """
    found = _looked_up(host, port)
    texts = dict.fromkeys(str(entry[4][0]).partition("%")[0] for entry in found)
    return [ipaddress.ip_address(text) for text in texts]


def _looked_up(host: str, port: int) -> list[Any]:
    """As the system does it, which may take as long as it likes."""
    answers: queue.SimpleQueue[list[Any] | Exception] = queue.SimpleQueue()
    lookups = _LOOKUPS

    def look() -> None:
        try:
            answers.put(list(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)))
        except Exception as error:
            answers.put(error)
        finally:
            lookups.release()

    if not lookups.acquire(timeout=LOOKUP_SECONDS):
        raise TimeoutError
    threading.Thread(target=look, daemon=True).start()
    try:
        found = answers.get(timeout=LOOKUP_SECONDS)
    except queue.Empty:
        raise TimeoutError from None
    if isinstance(found, Exception):
        raise found
    return found


def ends_of(address: Address) -> tuple[Address, ...]:
    """Where a connection to an address may end: whoever allows it has to allow each of these.

    An IPv6 address that only stands for an IPv4 one ends there. That of a tunnel by ISATAP lies in
    a network of its own, and names the IPv4 address behind it, too.
    """
    if isinstance(address, ipaddress.IPv4Address):
        return (address,)
    last = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    if address in NAT64:
        return (last,)
    if int(address) >> 32 & ISATAP_MASK == ISATAP:
        return (address, last)
    embedded = address.ipv4_mapped or address.sixtofour or (address.teredo or (None, None))[1]
    return (embedded or address,)
