"""Makes a worker kill itself with SIGKILL now and then, between any two of its steps."""

from __future__ import annotations

import os
import random
import signal
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from django.apps import AppConfig

P = ParamSpec("P")
R = TypeVar("R")

DEATHS = {
    "_load": 0.03,  # claimed, nothing begun
    "_save_tier": 0.03,  # climbing
    "finish": 0.08,  # a tier is saved, the end is not
}


class ChaosConfig(AppConfig):
    name = "tests.faults.chaos"
    label = "chaos"

    def ready(self) -> None:
        from verification.runs import worker

        for name, chance in DEATHS.items():
            setattr(worker, name, dying_before(getattr(worker, name), chance))
        setattr(worker, "finish", dying_after(getattr(worker, "finish"), 0.03))  # noqa: B009, B010


def dying_before(step: Callable[P, R], chance: float) -> Callable[P, R]:
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
        _die(chance)
        return step(*args, **kwargs)

    return wrapper


def dying_after(step: Callable[P, R], chance: float) -> Callable[P, R]:
    """Committed, but the message is not acknowledged."""

    def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
        result = step(*args, **kwargs)
        _die(chance)
        return result

    return wrapper


def _die(chance: float) -> None:
    if random.random() < chance:  # noqa: S311 - chance, not a secret
        os.kill(os.getpid(), signal.SIGKILL)
