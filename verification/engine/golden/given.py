"""A golden case's inputs, as frozen values: all that a replay needs to climb again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from verification.engine.case import MAX_PROMPT_CHARS, Case
from verification.engine.evidence import Submission
from verification.engine.gates import GateReport
from verification.engine.judges.asking import Ask, Question
from verification.engine.outcome import Verdict
from verification.engine.progress import EarlierFindings
from verification.engine.verifier import JudgeModels

PRIMARY, ALTERNATE = "primary", "alternate"
TOKEN = "{{token}}"  # noqa: S105 - a place to be filled
"""In a recorded reply: what a judge copies from the prompt into its answer."""
FENCE = "0000000000000000"


@dataclass(frozen=True, slots=True)
class Recording:
    """What a judge answered: the `number`-th question (from 1) of this kind in this tier.

    `lost` is the reason code for which nothing came. `prompt` is the digest of the question it
    answered, '' where that is not known.
    """

    tier: int
    ask: Ask
    number: int
    text: str = ""
    lost: str = ""
    is_cut: bool = False
    prompt: str = ""

    @property
    def key(self) -> tuple[int, Ask, int]:
        return (self.tier, self.ask, self.number)


@dataclass(frozen=True, slots=True)
class Seats:
    """The models behind the judges that were recorded; '' and (): no such judge was there.

    `prompt_chars` is the longest prompt that every one of them took.
    """

    primary: str = "recorded"
    alternate: str = ""
    panel: tuple[str, ...] = ()
    prompt_chars: int = MAX_PROMPT_CHARS

    @property
    def models(self) -> JudgeModels:
        """Names of their own: a verifier version's connections play no part in a replay."""
        return JudgeModels(
            primary=PRIMARY if self.primary else "",
            alternate=ALTERNATE if self.alternate else "",
            panel=tuple(f"panel-{number}" for number, _ in enumerate(self.panel, start=1)),
        )

    @property
    def known(self) -> dict[str, Any]:
        """What a case knows of its judges."""
        return {"judge_models": self.by_name, "prompt_chars": self.prompt_chars}

    @property
    def by_name(self) -> dict[str, str]:
        panel = {f"panel-{number}": model for number, model in enumerate(self.panel, start=1)}
        return {PRIMARY: self.primary, ALTERNATE: self.alternate, **panel}


@dataclass(frozen=True, slots=True)
class History:
    """What the task had behind it. `is_same_candidate`: this very work came last.

    `last_candidate` is the submission hash of what came last, '' where it is not known.
    `was_counted`: this very work used up an attempt before; None: it did if it came last.
    `findings` are the problems of earlier attempts; None: there was no earlier attempt.
    """

    attempts_used: int = 0
    submissions: int = 0
    repeats: int = 0
    is_same_candidate: bool = False
    last_candidate: str = ""
    exhausted_reason: str = ""
    was_counted: bool | None = None
    findings: EarlierFindings | None = None


@dataclass(frozen=True, slots=True)
class Decided:
    """What a person made of it afterwards.

    `is_last`: nothing of the task was decided after it. `is_known`: the same work used up an
    attempt elsewhere. `has_ended`: the task ended for a reason of this run's own.
    """

    verdict: Verdict
    is_last: bool = True
    is_known: bool = False
    has_ended: bool = False


@dataclass(frozen=True, slots=True)
class Given:
    """`tier` None: the phase's own. `gates` None: no sandbox. `decided` None: nobody was asked."""

    phase: str
    submission: Submission
    tier: int | None = None
    recordings: Sequence[Recording] = ()
    seats: Seats = Seats()
    gates: Sequence[GateReport] | None = None
    history: History = field(default=History())
    decided: Decided | None = None
    fence: str = FENCE


@dataclass(frozen=True, slots=True)
class RecordedGates:
    """The sandbox's place, taken by what it reported."""

    reports: Sequence[GateReport]

    def run(self, case: Case) -> Sequence[GateReport]:
        return [report for report in self.reports if report.gate in case.phase.gates]


def digest_of(question: Question) -> str:
    """Name a question by what a judge was shown: 16 hexadecimal digits."""
    said = json.dumps([question.system, question.prompt, question.schema], sort_keys=True)
    return hashlib.sha256(said.encode(errors="replace")).hexdigest()[:16]
