"""An install that failed for the network's or the machine's sake: nothing is known of the work."""

from __future__ import annotations

import re2

# An index that is ill, or asks for patience; 401 to 404 may well be what the work named wrongly.
_STATUS = rb"(?:408|425|429|500|502|503|504|52[0-9])\b"
_TROUBLE = (
    # Names.
    rb"temporary failure in name resolution|name or service not known|name does not resolve",
    rb"(?:couldn.t|could not|failed to|unable to) resolve (?:host|proxy|the (?:remote )?host)",
    rb"no such host|unknown ?host|nodename nor servname|getaddrinfo|nameresolutionerror",
    rb"no address associated with hostname|enotfound|eai_(?:again|fail)|server misbehaving",
    # Connections.
    rb"connection (?:was )?(?:refused|reset|timed ?out|time-?out|aborted|broken|closed)",
    rb"(?:couldn.t|could not|failed to|unable to) connect to|too many connection resets",
    rb"network (?:is |was )?(?:unreachable|failure|error)|host is unreachable|no route to host",
    rb"trouble with your network connection|spurious network error|max retries exceeded",
    rb"e(?:conn(?:refused|reset|aborted)|netunreach|hostunreach|netdown)\b|socket hang up",
    rb"(?:newconnection|protocol|proxy|incompleteread|chunkedencoding)error|incompleteread\(",
    rb"incomplete-download|transferred a partial file|err_pnpm_meta_fetch_fail",
    rb"fail(?:ure|ed) (?:when receiving|sending) data|http/?2 framing layer|not closed cleanly",
    rb"remote end closed connection|remote host terminated|stream error: stream id",
    rb'unexpected eof(?: while reading|\s*$|["\').,;:])|": eof$|dial tcp|curl error \d+ while',
    # Time.
    rb"(?:connect|read|request|operation|socket|handshake|resolving) timed ?out|timeout was reached",
    rb"(?:connect|socket|handshake|connection|network|gateway) ?time-?out|e(?:socket)?timedout",
    rb"(?:connect|read)timeouterror|net::(?:open|read|write)timeout|err_socket_(?:\w+_)?timeout",
    rb"i/o timeout|client\.timeout exceeded|context deadline exceeded|has timed out after \d+ ?ms",
    rb"no data was received for \d+ ?ms",
    # Certificates, and what is spoken by them.
    rb"certificate (?:has expired|is (?:expired|not yet valid|not trusted))|cert_has_expired",
    rb"certificate verif(?:y|ication) failed|failed to verify certificate|ssl certificate problem",
    rb"self.signed certificate|unable to get local issuer|unable_to_(?:get_issuer|verify_leaf)",
    rb"pkix path building failed|sslhandshakeexception|sslerror|ssl_error_|ssl connect error",
    rb"tls handshake|ssl connection could not be established",
    # What an index answered.
    rb"(?:error:?|status(?: code)?:?|code|responded with|response|got|returned|http/[12](?:\.1)?)"
    rb'[ :=("]{0,3}e?' + _STATUS,
    rb"\b" + _STATUS + rb":? (?:too many|internal|bad gateway|service|gateway|server error|origin)",
    rb"err_pnpm_fetch_" + _STATUS,
    rb"too many requests|bad gateway|service (?:temporarily )?unavailable|rate limit exceeded",
    rb"net::http(?:toomanyrequests|internalservererror|badgateway|serviceunavailable|gatewaytime)",
    # Tools that say no more than that.
    rb"could not (?:reach host|fetch specs|transfer)|network error while fetching",
    rb"could not be fully loaded|unable to load the service index",
    rb"failed to retrieve information about|error occurred while sending the request",
    # The machine.
    rb"no space left on device|disk quota exceeded|resource temporarily unavailable",
)
_TROUBLES = re2.compile(rb"(?im)" + rb"|".join(_TROUBLE))


def tells_of_network(written: bytes) -> bool:
    """Whether what an installer wrote speaks of a network or an index that is not there.

    Work that names an index which does not exist is in doubt, too: a person is asked.
    """
    return bool(_TROUBLES.search(written))
