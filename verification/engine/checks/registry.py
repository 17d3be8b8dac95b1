"""Checks by id, in the order in which they look."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from verification.engine.case import Case, Ports
from verification.engine.finding import Finding, TraceEntry

Observation = Finding | TraceEntry
Look = Callable[[Case, Ports], Iterator[Observation]]


@dataclass(frozen=True, slots=True)
class Check:
    """`id` is stable: it is the `rule` of the check's findings."""

    id: str
    look: Look


CHECKS: dict[str, Check] = {}


def check(check_id: str) -> Callable[[Look], Look]:
    def register(look: Look) -> Look:
        if check_id in CHECKS:
            raise ValueError(f"two checks are called {check_id}")
        CHECKS[check_id] = Check(check_id, look)
        return look

    return register
