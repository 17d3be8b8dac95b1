"""An install that failed for the network's or the machine's sake: nothing is known of the work."""

from __future__ import annotations

import re2

_TROUBLE = re2.compile(
    rb"(?i)temporary failure in name resolution|name or service not known|could not resolve"
    rb"|connection (?:refused|reset|timed out|aborted|broken)|network is unreachable"
    rb"|no route to host|newconnectionerror|readtimeouterror|connecttimeouterror|proxyerror"
    rb"|max retries exceeded|read timed out|sslerror|certificate verify failed|tls handshake"
    rb"|econnrefused|econnreset|enotfound|etimedout|eai_again|socket hang up"
    rb"|no space left on device|disk quota exceeded"
    rb"|getaddrinfo|unknown host|could not (?:reach host|transfer)|network failure"
    rb"|unable to load the service index"
    rb"|dial tcp|i/o timeout|server misbehaving|unexpected eof"
    rb"|\b(?:429|500|502|503|504) (?:too many|internal|bad gateway|service|gateway|server error)"
)


def tells_of_network(written: bytes) -> bool:
    """Whether what an installer wrote speaks of a network or an index that is not there.

    Work that names an index which does not exist is in doubt, too: a person is asked.
    """
    return bool(_TROUBLE.search(written))
