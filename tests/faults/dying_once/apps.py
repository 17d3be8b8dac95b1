"""Has a worker kill itself with SIGKILL once, at the step that a variable names."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import ParamSpec, TypeVar

from django.apps import AppConfig

P = ParamSpec("P")
R = TypeVar("R")

VARIABLE = "DIES_ONCE"
"""`before _save_tier`, `before finish` or `after finish`."""
MARK = "died"


class DyingOnceConfig(AppConfig):
    name = "tests.faults.dying_once"
    label = "dying_once"

    def ready(self) -> None:
        from verification.runs import worker

        when, _, step = os.environ[VARIABLE].partition(" ")
        setattr(worker, step, dying(getattr(worker, step), when))


def dying(step: Callable[P, R], when: str) -> Callable[P, R]:
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
        if when == "before":
            _die_once()
        result = step(*args, **kwargs)
        _die_once()
        return result

    return wrapper


def _die_once() -> None:
    try:
        Path(os.environ["LOOMVERIFY_DATA"], MARK).touch(exist_ok=False)
    except FileExistsError:
        return
    os.kill(os.getpid(), signal.SIGKILL)
