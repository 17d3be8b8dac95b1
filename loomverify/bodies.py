"""Request bodies, bounded in size and pace before anything reads or keeps them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any

from loomverify.errors import InputError

MAX_BODY_BYTES = 88 * 1024 * 1024
"""An archive and the JSON beside it, each at its largest, and what separates them."""
IDLE_SECONDS = 20.0
DRAIN_SECONDS = 1.5

Message = Mapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[dict[str, Any], Receive, Send], Awaitable[None]]


class BoundedBodies:
    """Refuse a body that is too large or stands still; the application never sees it."""

    def __init__(
        self,
        application: Application,
        *,
        max_bytes: int = MAX_BODY_BYTES,
        idle_seconds: float = IDLE_SECONDS,
    ) -> None:
        self._application = application
        self._max_bytes = max_bytes
        self._idle_seconds = idle_seconds

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._application(scope, receive, send)
            return
        headers = dict(scope["headers"])
        try:
            self._check_size(int(headers.get(b"content-length", b"0")))
            await self._application(scope, self._bounded(receive), send)
        except InputError as error:
            if b"expect" not in headers:  # else the client has sent nothing yet
                await _drain(receive)
            await _answer(send, error)

    def _bounded(self, receive: Receive) -> Receive:
        received = 0
        complete = False

        async def bounded() -> Message:
            nonlocal received, complete
            if complete:
                return await receive()
            try:
                async with asyncio.timeout(self._idle_seconds):
                    message = await receive()
            except TimeoutError:
                raise InputError(
                    "body.too_slow", "The body stood still.", loc=("body",), status=408
                ) from None
            received += len(message.get("body", b""))
            complete = not message.get("more_body", False)
            self._check_size(received)
            return message

        return bounded

    def _check_size(self, size: int) -> None:
        if size > self._max_bytes:
            raise InputError(
                "body.too_large", f"At most {self._max_bytes} bytes.", loc=("body",), status=413
            )


async def _drain(receive: Receive) -> None:
    """Read on for a moment: many clients hear no answer before they have sent everything."""
    with suppress(TimeoutError):
        async with asyncio.timeout(DRAIN_SECONDS):
            while (await receive()).get("more_body", False):
                pass


async def _answer(send: Send, error: InputError) -> None:
    from loomverify.api import problem_of  # Django is set up by now

    answer = problem_of(error)
    headers = [(name.lower().encode(), value.encode()) for name, value in answer.items()]
    headers += [(b"connection", b"close"), (b"content-length", b"%d" % len(answer.content))]
    await send({"type": "http.response.start", "status": error.status, "headers": headers})
    await send({"type": "http.response.body", "body": answer.content})
