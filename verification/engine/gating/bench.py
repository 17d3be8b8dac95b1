"""The container that the gates of a component share: a new one where it was stopped."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, field

from verification.engine.gates import OUT_OF_MEMORY_EXIT_CODE
from verification.engine.gating.judging import Judged, judged
from verification.engine.gating.sandbox import Box, Sandbox, SandboxLost
from verification.engine.gating.stages import Ended, Part, Stage
from verification.engine.gating.starting import start_all
from verification.engine.gating.unnamed import unnamed

NOT_AGAIN = (
    "The container was stopped, and what ran in it before could not be run again as it ran then."
)


@dataclass(slots=True)
class Bench:
    """`ran` is what came to its end, with its exit code: whatever follows may need what it left.

    `is_wanting`: something did not come to its end in the container that is there now. `lost`:
    why nothing more can be run.
    """

    part: Part
    sandbox: Sandbox
    image: str
    stack: ExitStack
    box: Box | None = None
    ran: list[tuple[Stage, int]] = field(default_factory=list)
    was_stopped: bool = False
    is_wanting: bool = False
    lost: str = ""

    def run(self, stage: Stage) -> tuple[Ended, Judged]:
        """Never raises: what is lost says so."""
        self.is_wanting = self.was_stopped
        try:
            ended, found = self._run(stage, self._opened())
        except SandboxLost as lost:
            ended = Ended(lost=str(lost))
            found = judged(self.part, stage, ended)
        if ended.lost or ended.exit_code is None or ended.exit_code == OUT_OF_MEMORY_EXIT_CODE:
            self.box = None  # it was stopped, or may have been, with all that ran in it
            self.was_stopped = not stage.is_apart
        elif not stage.is_apart:
            self.ran.append((stage, ended.exit_code))
        return ended, found

    def _run(self, stage: Stage, box: Box) -> tuple[Ended, Judged]:
        if stage.starts:
            ended, found = start_all(self.part, stage, box.run)
        else:
            ended = box.run(stage)
            found = judged(self.part, stage, ended)
        return ended, unnamed(self.part, found)

    def _opened(self) -> Box:
        """A new one is brought as far as the last one was: nothing of it is judged again.

        Raises:
            SandboxLost: it cannot be opened, or not be brought so far.
        """
        if self.lost:
            raise SandboxLost(self.lost)
        if self.box is None:
            box = self.stack.enter_context(self.sandbox.box(self.part, self.image))
            for stage, code in self.ran:
                if box.run(stage).exit_code != code:
                    self.lost = NOT_AGAIN
                    raise SandboxLost(NOT_AGAIN)
            self.box = box
        return self.box
