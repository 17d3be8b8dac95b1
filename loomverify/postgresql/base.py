"""Django's PostgreSQL backend with a pool that gets over a restarted server at once.

psycopg's pool meets its dead connections one by one and pauses longer after each: with a full
pool, requests fail for half a minute after a restart of a second.
"""

from __future__ import annotations

from typing import Any

from django.db.backends.postgresql import base
from psycopg import Connection, OperationalError
from psycopg_pool import ConnectionPool


class DatabaseWrapper(base.DatabaseWrapper):
    @property
    def pool(self) -> Any:
        pools: dict[str, Any] = self._connection_pools  # type: ignore[attr-defined]
        is_new = self.alias not in pools
        pool = super().pool
        if pool is not None and is_new:
            pool._check = check_or_drain
        return pool


def check_or_drain(connection: Connection[Any]) -> None:
    """Check a connection before it is given out; where one is dead, the idle others are too."""
    try:
        ConnectionPool.check_connection(connection)
    except OperationalError:
        pool: Any = connection._pool
        if pool is not None:
            pool.drain()
        raise
