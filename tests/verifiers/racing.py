"""Two who do something at the same moment."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from django.db import connection

from loomverify.errors import InputError


def at_once(act: Callable[[int], Any]) -> list[Any]:
    """What each of the two is answered: a value, or the refusal's code."""
    gate = threading.Barrier(2)

    def apart(number: int) -> Any:
        gate.wait()
        try:
            return act(number)
        except InputError as refusal:
            return refusal.code
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(apart, range(2)))
