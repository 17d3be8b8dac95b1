"""What an evaluation is about, and what it may reach for in the world."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from processes.definition.model import Definition, Phase
from verification.engine.evidence import Base, Probe, Submission, Workspace
from verification.engine.judges.asking import CustomAnswer, Judge
from verification.engine.verifier import VerifierSpec

if TYPE_CHECKING:
    from verification.engine.gates import GateReport, Gates

MAX_PROMPT_CHARS = 200_000


@dataclass(frozen=True, slots=True)
class Case:
    """`tier` is the highest tier asked for, 1 to 3.

    `fence` marks what is quoted to a judge as data: the submitter cannot know it.
    `nonce` keeps this evaluation's replies apart from every other's; '' lets them be shared.
    `attempt` counts the task's submissions from 1. `judge_models` gives the model behind each
    connection that the verifier names; a connection that is absent is known by its name alone.
    `gated` is what gates reported before a judge is asked. `waivers` tell by fingerprint who accepts
    a security finding until when, and why.
    `prompt_chars` is the longest prompt, system and all, that every one of them takes;
    `prompt_room` is what the verifier makes use of.
    """

    definition: Definition
    phase: Phase
    submission: Submission
    verifier: VerifierSpec
    tier: int
    fence: str = "0000000000000000"
    nonce: str = ""
    attempt: int = 1
    judge_models: Mapping[str, str] = field(default_factory=dict, hash=False)
    prompt_chars: int = MAX_PROMPT_CHARS
    gated: tuple[GateReport, ...] = ()
    waivers: Mapping[str, str] = field(default_factory=dict, hash=False)

    @property
    def is_legacy(self) -> bool:
        return not self.verifier.flags.policy_engine_enabled

    @property
    def prompt_room(self) -> int:
        return min(self.prompt_chars, self.verifier.limits.prompt_chars)


class CustomVerifiers(Protocol):
    """The operator's own verifiers."""

    def names(self) -> Collection[str]:
        """Those that can be called by name."""

    def call(self, name: str, case: Case, workspace: Workspace) -> CustomAnswer:
        """Call one in a process of its own. A verifier that breaks is an answer."""


@dataclass(frozen=True, slots=True)
class Ports:
    """`clock` gives monotonic seconds. `judge` None: no model can be asked from here.

    `gates` None: this installation has no sandbox, so that none was lost. `base` None: nobody
    submitted the workspace as it was before the work.
    """

    workspace: Workspace
    probe: Probe
    clock: Callable[[], float]
    judge: Judge | None = None
    custom: CustomVerifiers | None = None
    gates: Gates | None = None
    base: Base | None = None
