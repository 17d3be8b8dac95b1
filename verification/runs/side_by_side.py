"""Calls that wait for the network at the same time, and one thread that keeps the books."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from queue import SimpleQueue
from typing import Any, TypeAlias, TypeVar

T = TypeVar("T")


Step: TypeAlias = Callable[[], Any]
Here: TypeAlias = Callable[[Step], Any]
"""Has a step done by the thread that owns the database connection; returns its result."""


Desk: TypeAlias = SimpleQueue[tuple[Step, Future[Any]] | None]


class Interrupted(Exception):
    """The thread that kept the books was told to stop."""


def side_by_side(calls: Sequence[Callable[[Here], T]]) -> list[T]:
    """Make all calls at once and return their results in order.

    A single call needs no thread. The first failure is raised when all have ended.
    """
    if len(calls) < 2:
        return [call(_at_once) for call in calls]
    desk: Desk = SimpleQueue()

    def here(step: Step) -> Any:
        done: Future[Any] = Future()
        desk.put((step, done))
        return done.result()

    with ThreadPoolExecutor(len(calls)) as pool:
        running = [pool.submit(call, here) for call in calls]
        for one in running:
            one.add_done_callback(lambda _: desk.put(None))
        _keep_books(desk, len(running))
    return [one.result() for one in running]


def _keep_books(desk: Desk, calls_left: int) -> None:
    """Do what is handed in until every call has ended; nobody is left waiting."""
    stopped: BaseException | None = None
    while calls_left:
        try:
            handed = desk.get()
        except BaseException as interruption:
            stopped = interruption
            continue
        if handed is None:
            calls_left -= 1
            continue
        step, done = handed
        try:
            if stopped:
                raise Interrupted
            done.set_result(step())
        except BaseException as error:
            done.set_exception(error)
    if stopped:
        raise stopped


def _at_once(step: Step) -> Any:
    return step()
