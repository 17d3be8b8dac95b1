"""Containers that only look at the work: none of it is run there, so that components share them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass, field

from verification.adapters.sandbox.container import Container
from verification.adapters.sandbox.opening import MAX_LIFE_SECONDS
from verification.engine.gates import OUT_OF_MEMORY_EXIT_CODE
from verification.engine.gating.sandbox import Box
from verification.engine.gating.stages import Ended, Stage

MOST_SECONDS = MAX_LIFE_SECONDS / 2
"""Who takes one that is as old as this still ends before it is swept."""


@dataclass(slots=True)
class Lookers:
    """Those that are open, and of these the ones that nobody looks from at the moment."""

    opened: ExitStack = field(default_factory=ExitStack)
    idle: list[tuple[float, Container]] = field(default_factory=list)

    @contextmanager
    def box(
        self,
        open_one: Callable[[], AbstractContextManager[Container]],
        boxed: Callable[[Container], Box],
    ) -> Iterator[Box]:
        since, container = self._taken() or (
            time.monotonic(),
            self.opened.enter_context(open_one()),
        )
        box = _Watched(boxed(container))
        yield box
        if box.is_sound:
            self.idle.append((since, container))
        else:
            container.close()

    def _taken(self) -> tuple[float, Container] | None:
        with suppress(IndexError):  # others take them, too
            since, container = self.idle.pop()
            if time.monotonic() - since < MOST_SECONDS:
                return since, container
        return None


@dataclass(slots=True)
class _Watched:
    """What was lost, stopped or without memory in it leaves it to nobody else."""

    box: Box
    is_sound: bool = True

    def run(self, stage: Stage) -> Ended:
        was_sound, self.is_sound = self.is_sound, False
        ended = self.box.run(stage)
        self.is_sound = was_sound and ended.exit_code not in (None, OUT_OF_MEMORY_EXIT_CODE)
        return ended
