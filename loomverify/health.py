"""`python -m loomverify.health ROLE`: what a container's health check asks. Exit code 0 or 1."""

from __future__ import annotations

import http.client
import os
import socket
import sys
from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit

from loomverify.env import environment

TIMEOUT_SECONDS = 5
BEAT_TOLERANCE_SECONDS = 60


def main(argv: Sequence[str]) -> int:
    roles = {
        "web": web,
        "worker": beating,
        "worker-beside": beating,
        "worker-sandbox": beating,
        "relay": beating,
        "scheduler": broker,
    }
    role = argv[0] if argv else ""
    if role not in roles:
        sys.stderr.write(f"usage: python -m loomverify.health {'|'.join(roles)}\n")
        return 1
    try:
        reason = roles[role](role, os.environ)
    except Exception as error:  # whatever it is, the answer is "not healthy"
        reason = f"{type(error).__name__}: {error}"
    if reason:
        sys.stderr.write(f"{role}: {reason}\n")
    return 1 if reason else 0


def web(_role: str, variables: Mapping[str, str]) -> str:
    """Ask the server as a visitor would, past any proxy: it refuses other host names."""
    port = int(variables.get("PORT") or "8000")
    host = urlsplit(variables.get("BASE_URL") or "http://localhost").netloc
    visit = http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT_SECONDS)
    visit.request("GET", "/healthz", headers={"Host": host})
    status = visit.getresponse().status
    visit.close()
    return "" if status == http.HTTPStatus.OK else f"answered {status}"


def beating(role: str, variables: Mapping[str, str]) -> str:
    """Look for a heartbeat of this host's process."""
    import psycopg

    with psycopg.connect(variables["DATABASE_URL"], connect_timeout=TIMEOUT_SECONDS) as connection:
        row = connection.execute(
            "select max(at) > now() - make_interval(secs => %s) from runs_heartbeat"
            " where role = %s and starts_with(name, %s)",
            (BEAT_TOLERANCE_SECONDS, role, f"{role}@{socket.gethostname()}:"),
        ).fetchone()
    return "" if row and row[0] else "no recent heartbeat"


def broker(_role: str, _variables: Mapping[str, str]) -> str:
    if environment().redis_url:
        import redis

        redis.Redis.from_url(environment().redis_url, socket_timeout=TIMEOUT_SECONDS).ping()
    return ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
