"""How a receiver knows that a delivery is ours, and recent."""

from __future__ import annotations

import hashlib
import hmac
import secrets

SCHEME = "v1"


def make_secret() -> str:
    return f"whsec_{secrets.token_urlsafe(32)}"


def sign(secret: str, *, timestamp: int, body: bytes) -> str:
    """Return the `LoomVerify-Signature` header: HMAC-SHA256 over `{timestamp}.{body}`.

    The timestamp is in seconds since 1970, UTC.
    """
    digest = hmac.new(secret.encode(), f"{timestamp}.".encode() + body, hashlib.sha256)
    return f"{SCHEME}={digest.hexdigest()}"
