"""Threads that wait for the outside world, so that no worker's process has to."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from django.db import connection

logger = logging.getLogger(__name__)

PLACES = 16


@dataclass(slots=True)
class Outbound:
    """At most `places` threads of this process at a time. Those of a process that ends end, too."""

    places: int = PLACES
    under_way: set[threading.Thread] = field(default_factory=set)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def start(self, work: Callable[[], object]) -> bool:
        """Begin it in a thread of its own. False: all places are taken."""
        with self.lock:
            if len(self.under_way) >= self.places:
                return False
            thread = threading.Thread(target=self._run, args=(work,), daemon=True)
            self.under_way.add(thread)
        thread.start()
        return True

    def wait(self, seconds: float) -> bool:
        """Until all that was begun is over, or the time is. False: something is under way."""
        until = time.monotonic() + seconds
        for thread in list(self.under_way):
            thread.join(max(0.0, until - time.monotonic()))
        return not self.under_way

    def _run(self, work: Callable[[], object]) -> None:
        try:
            work()
        except Exception:
            logger.exception("outbound_failed")
        finally:
            connection.close()
            with self.lock:
                self.under_way.discard(threading.current_thread())


OUTBOUND = Outbound()
