"""What the engine asks of a sandbox. Fakes and a real engine stand behind it."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from verification.engine.gating.stages import Ended, Part, Stage


class SandboxLost(Exception):
    """The sandbox, not the work, is at fault: says how, in words for an operator."""


@dataclass(frozen=True, slots=True)
class Installed:
    """`image` names what the rest is run in; `ended` None: it was there already, or is not needed."""

    image: str
    ended: Ended | None = None


class Box(Protocol):
    """One container with the work in it."""

    def run(self, stage: Stage) -> Ended:
        """Run a command in the component's folder; leave nothing of it running.

        Raises:
            SandboxLost: the container or its engine is gone.
        """


class Sandbox(Protocol):
    def install(self, part: Part) -> Installed:
        """Install what a component needs, or find it installed.

        Raises:
            SandboxLost: the engine is gone, or has not the image.
        """

    def told(self, part: Part) -> str:
        """What an install that is not done again said as it was; '' where nobody knows."""

    def box(self, part: Part, image: str = "") -> AbstractContextManager[Box]:
        """Open a container with the work in it; of the tools alone where no image is named.

        Raises:
            SandboxLost: the engine is gone, or has not the image.
        """
