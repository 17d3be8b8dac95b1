"""What is asked of a model and what comes back, and the count of it within one tier."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from enum import StrEnum
from typing import Any, Protocol

from verification.engine.outcome import Status
from verification.engine.verifier import Limits

MAX_CALLS = Limits().judge_calls
"""Calls of one tier-2 evaluation, retries among them, where the verifier says nothing else.

Source: docs/engine.md, "Judges".
"""
MAX_TRIES = Limits().call_tries
"""One call and up to three retries after a lost answer, likewise."""


class Ask(StrEnum):
    """What a call is for."""

    ASSESS = "assess"
    AGAIN = "again"
    """The same judge, told what its first answer lacked."""
    RESTATE = "restate"
    VOTE = "vote"
    COMPARE = "compare"
    CONFIRM = "confirm"


@dataclass(frozen=True, slots=True)
class Question:
    """One question, asked in a fresh context.

    `judge` is the name of a connection. `nonce` keeps apart the replies that must not be shared
    (votes, A/A pairs); '' lets an equal question of before answer this one. `tries` bounds the
    calls that may be spent on it, retries after a lost answer among them.
    """

    judge: str
    ask: Ask
    system: str
    prompt: str
    schema: Mapping[str, Any] | None = field(default=None, hash=False)
    nonce: str = ""
    temperature: float = 0.0
    tries: int = MAX_TRIES


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back. `lost` is the reason code for which nothing did, '' where something did.

    `calls` counts all that were made for it (0 from the cache), `cost_usd` is a decimal string:
    what these calls cost, never a running total. `ref` names the last call for `Judge.note`.
    `is_cut`: the model had to stop before it wanted to.
    """

    text: str = ""
    lost: str = ""
    detail: str = ""
    model: str = ""
    cached: bool = False
    calls: int = 1
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: str = "0"
    ref: int = 0
    is_cut: bool = False


class Judge(Protocol):
    """Models behind named connections."""

    def ask(self, questions: Sequence[Question]) -> Sequence[Answer]:
        """Ask all of them side by side; answers in their order. A lost answer is an answer."""

    def note(self, ref: int, recovery: str) -> None:
        """Keep by which recovery stage the answer of a call was read."""


@dataclass
class Conversation:
    """The calls of one tier, counted against their bound."""

    judge: Judge
    max_calls: int = MAX_CALLS
    max_tries: int = MAX_TRIES
    answers: list[Answer] = field(default_factory=list)

    @property
    def calls(self) -> int:
        return sum(answer.calls for answer in self.answers)

    @property
    def calls_left(self) -> int:
        return max(0, self.max_calls - self.calls)

    def ask(self, question: Question) -> Answer:
        """Ask one question; `tries` is cut to what the bound leaves.

        With nothing left the answer is lost as `parse_inconclusive`: all that was asked before
        could not be read.
        """
        if not self.calls_left:
            return Answer(lost="parse_inconclusive", detail="No call was left.", calls=0)
        [answer] = self.ask_all([question])
        return answer

    def ask_all(self, questions: Sequence[Question]) -> Sequence[Answer]:
        """Ask side by side."""
        each = max(1, self.calls_left // max(1, len(questions)))
        bounded = [replace(question, tries=min(self.max_tries, each)) for question in questions]
        answers = self.judge.ask(bounded)
        self.answers += answers
        return answers

    def note(self, answer: Answer, recovery: str) -> None:
        if not answer.lost:
            self.judge.note(answer.ref, recovery)

    @property
    def totals(self) -> dict[str, Any]:
        """The fields of a tier report that add up its calls."""
        cost = sum((Decimal(answer.cost_usd) for answer in self.answers), Decimal(0))
        models = dict.fromkeys(answer.model for answer in self.answers if answer.model)
        return {
            "model": ", ".join(models)[:120],
            "calls": self.calls,
            "cached": sum(answer.cached for answer in self.answers),
            "prompt_tokens": sum(answer.prompt_tokens for answer in self.answers),
            "completion_tokens": sum(answer.completion_tokens for answer in self.answers),
            "cost_usd": str(cost),
        }


@dataclass(frozen=True, slots=True)
class Ballot:
    """One vote. `passed` is None where it could not be read or was lost."""

    index: int
    model: str
    passed: bool | None
    confidence: float | None = None
    why: str = ""


def share_of_passes(ballots: Sequence[Ballot]) -> float:
    """Passes by all votes, 0 to 1; at least one vote."""
    return sum(ballot.passed is True for ballot in ballots) / len(ballots)


@dataclass(frozen=True, slots=True)
class CustomAnswer:
    """How a custom verifier ended.

    `status` is passed (with `result`, any JSON), failed (`message`, `code`, `metadata`), or error.
    `is_invalid`: the output did not have the shape its model asks for (`metadata` holds `errors`,
    each with `loc` and `msg`); `is_fatal`: no further attempt can help. `detail` is for operators:
    what the verifier printed, and its stack where it broke.
    """

    status: Status
    result: Any = None
    message: str = ""
    code: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict, hash=False)
    is_invalid: bool = False
    is_fatal: bool = False
    duration_ms: int = 0
    detail: str = ""
