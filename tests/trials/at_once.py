"""Several who act at the same moment, each on a connection of their own."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from django.db import connection

from loomverify.errors import InputError


def at_once(*acts: Callable[[], Any]) -> list[Any]:
    """What each act answered, or its refusal's code."""
    gate = threading.Barrier(len(acts))

    def act(one: Callable[[], Any]) -> Any:
        gate.wait()
        try:
            return one()
        except InputError as refusal:
            return refusal.code
        finally:
            connection.close()

    with ThreadPoolExecutor(len(acts)) as pool:
        return list(pool.map(act, acts))
