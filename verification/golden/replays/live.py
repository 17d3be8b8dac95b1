"""Judges that are asked anew in a replay: paid from the budget, their answers kept."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import partial
from typing import Any

from processes.definition.model import Definition
from processes.models import Process
from verification.engine.golden.given import TOKEN, Given, digest_of
from verification.engine.golden.replay import CannotReplay, World, case_of
from verification.engine.golden.standing import Standing
from verification.engine.judges.asking import Answer, Ask, Question
from verification.engine.protocol.prompt import token_of
from verification.engine.verifier import VerifierSpec
from verification.golden.models import Replay
from verification.golden.replaying import Judged
from verification.golden.replays import claiming
from verification.golden.replays.claiming import Claimed
from verification.runs import paying
from verification.runs.judging import known_of_judges
from verification.runs.side_by_side import side_by_side

Entry = dict[str, Any]
"""A question and what was answered, as `ReplayResult.played` keeps it."""


@dataclass(frozen=True, slots=True)
class Paid:
    """Whose budget a case's calls count to, and whose lease they need."""

    replay: Replay
    claimed: Claimed
    process_id: int

    @classmethod
    def of(cls, replay: Replay, claimed: Claimed, process: str) -> Paid:
        """Raises `CannotReplay` where the project has no such process."""
        rows = Process.objects.filter(project=replay.project_id, slug=process)
        process_id = rows.values_list("pk", flat=True).first()
        if process_id is None:
            raise CannotReplay(f"This project has no process {process!r} whose budget could pay.")
        return cls(replay, claimed, process_id)

    @property
    def project_id(self) -> int:
        return self.replay.project_id

    @property
    def share_of_day(self) -> Decimal:
        return Decimal(1)

    def grant(self, estimate: Decimal, *, seconds: float) -> bool:
        """Its calls are not bounded but by the day's budgets, which set the estimate aside."""
        claiming.hold(self.replay.pk, self.claimed, longer=seconds)
        return True

    def settle(self, granted: Decimal, actual: Decimal) -> None:
        claiming.add_cost(self.replay.pk, actual)


def fresh_fence() -> str:
    """What is submitted cannot know it."""
    return secrets.token_hex(16)


def asked_live(
    paid: Paid, given: Given, definition: Definition, verifier: VerifierSpec, world: World
) -> tuple[World, LiveJudge]:
    """The world of a verifier version whose own connections are asked, and their judge."""
    known = known_of_judges(paid.replay.project_id, verifier.models)
    judge = LiveJudge(paid)
    asking = replace(world, live=judge, judges=known)
    case = case_of(given, definition, verifier, asking)
    judge.fence, judge.token = case.fence, token_of(case)
    return asking, judge


def doubted(judged: Judged, judges: Sequence[LiveJudge]) -> dict[str, str]:
    """Columns of a case that fails where an answer was lost: that says nothing of the case."""
    lost = [one["detail"] for judge in judges for one in judge.played if one["lost"]]
    if judged.standing is not Standing.FAILING or not lost:
        return {}
    return {
        "standing": Standing.NOT_JUDGED,
        "error_text": f"A judge gave no answer. {lost[0]}"[:500],
    }


@dataclass(slots=True)
class LiveJudge:
    """The engine's `Judge` for one live replay of one case. `tier` is the one under way.

    `played` keeps every question with its answer, `{{token}}` in the place of the token, so that
    they can become the case's recordings.
    """

    paid: Paid
    fence: str = ""
    token: str = ""
    tier: int = 2
    played: list[Entry] = field(default_factory=list)
    _asked: Counter[tuple[int, Ask]] = field(default_factory=Counter)

    def ask(self, questions: Sequence[Question]) -> Sequence[Answer]:
        answers = side_by_side([partial(paying.ask, self.paid, one) for one in questions])
        return [
            self._kept(question, answer)
            for question, answer in zip(questions, answers, strict=True)
        ]

    def note(self, ref: int, recovery: str) -> None:
        if ref:
            self.played[ref - 1]["recovery"] = recovery

    def _kept(self, question: Question, answer: Answer) -> Answer:
        self._asked[self.tier, question.ask] += 1
        self.played.append(
            {
                "tier": self.tier,
                "ask": question.ask.value,
                "number": self._asked[self.tier, question.ask],
                "judge": question.judge,
                "model": answer.model,
                "prompt": digest_of(question),
                "is_missing": False,
                "is_stale": False,
                "recovery": "",
                "text": answer.text.replace(self.token, TOKEN) if self.token else answer.text,
                "lost": answer.lost,
                "detail": answer.detail,
                "is_cut": answer.is_cut,
                "fence": self.fence,
            }
        )
        return replace(answer, ref=len(self.played))
