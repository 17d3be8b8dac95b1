"""Where a name leads, for whoever connects to addresses that somebody else has written down."""

from __future__ import annotations

import ipaddress
import socket

NAT64 = ipaddress.ip_network("64:ff9b::/96")
ISATAP, ISATAP_MASK = 0x00005EFE, 0xFDFFFFFF
"""Of the first half of an interface's name; a tunnel to the IPv4 address in the other (RFC 5214)."""

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network


def addresses_of(host: str, port: int) -> list[Address]:
    """Resolve a host, each address once.

    Raises:
        OSError, UnicodeError: the name has no address.
    """
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    texts = dict.fromkeys(str(entry[4][0]).partition("%")[0] for entry in found)
    return [ipaddress.ip_address(text) for text in texts]


def reached_by(address: Address) -> Address:
    """The IPv4 address that an IPv6 one stands for; else the address itself."""
    if isinstance(address, ipaddress.IPv4Address):
        return address
    if address in NAT64 or int(address) >> 32 & ISATAP_MASK == ISATAP:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    embedded = address.ipv4_mapped or address.sixtofour or (address.teredo or (None, None))[1]
    return embedded or address
