"""Agents that wait for a run: bounded in number and time, woken by PostgreSQL."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import defaultdict
from collections.abc import Callable, Iterator
from uuid import UUID

import psycopg
from asgiref.sync import sync_to_async
from django.db import connection
from psycopg.conninfo import make_conninfo
from psycopg.pq import Conninfo

from verification.runs.models import RUN_OVER

logger = logging.getLogger(__name__)

MAX_WAITERS = 256
RECONNECT_SECONDS = 1.0
LOOK_AGAIN_SECONDS = 10
"""A notice that was lost costs no more than this."""
ADDRESS_FIELDS = frozenset(option.keyword.decode() for option in Conninfo.get_defaults())


class Waiters:
    """Everybody who waits in this process; one connection listens for all of them."""

    def __init__(self) -> None:
        self._events: defaultdict[str, set[asyncio.Event]] = defaultdict(set)
        self._listener: asyncio.Task[None] | None = None
        self._listening = asyncio.Event()

    @property
    def is_full(self) -> bool:
        return sum(map(len, self._events.values())) >= MAX_WAITERS

    @contextlib.contextmanager
    def waiting_for(self, uuid: UUID) -> Iterator[asyncio.Event]:
        """An event that is set when the run or replay of this name is over or decided.

        Also when word may have been missed. Look at it after entering, then wait: nothing falls
        between.
        """
        event = asyncio.Event()
        self._events[str(uuid)].add(event)
        try:
            yield event
        finally:
            self._events[str(uuid)].discard(event)
            if not self._events[str(uuid)]:
                del self._events[str(uuid)]

    async def listen(self) -> None:
        """Return once notices of this moment and later will be heard, or a second has passed."""
        if self._listener is None or self._listener.done():
            self._listening.clear()
            self._listener = asyncio.create_task(self._listen_forever())
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._listening.wait(), RECONNECT_SECONDS)

    async def _listen_forever(self) -> None:
        while True:
            try:
                await self._listen_once()
            except (psycopg.Error, OSError) as error:
                logger.warning("listener_lost error=%s", type(error).__name__)
            self._listening.clear()
            self._wake_all()
            await asyncio.sleep(RECONNECT_SECONDS)

    async def _listen_once(self) -> None:
        async with await psycopg.AsyncConnection.connect(_address(), autocommit=True) as listener:
            await listener.execute(f"listen {RUN_OVER}")
            self._listening.set()
            self._wake_all()
            async for notice in listener.notifies():
                for event in self._events.get(notice.payload, ()):
                    event.set()

    def _wake_all(self) -> None:
        for events in self._events.values():
            for event in events:
                event.set()


_waiters: dict[asyncio.AbstractEventLoop, Waiters] = {}


def waiters() -> Waiters:
    """The waiters of the running event loop."""
    loop = asyncio.get_running_loop()
    if loop not in _waiters:
        _waiters.clear()  # a loop that ended leaves nothing behind
        _waiters[loop] = Waiters()
    return _waiters[loop]


async def look_until(is_there: Callable[[], bool], news: asyncio.Event, deadline: float) -> None:
    """Look whenever there may be news: word of what is waited for, or a while without any."""
    while not await sync_to_async(is_there)():
        left = deadline - asyncio.get_running_loop().time()
        if left <= 0:
            return
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(news.wait(), min(left, LOOK_AGAIN_SECONDS))
        news.clear()


def _address() -> str:
    parameters = connection.get_connection_params()
    return make_conninfo(**{name: parameters[name] for name in ADDRESS_FIELDS & parameters.keys()})
