"""The judge of a replay: what was answered before, and never anything made up."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from verification.engine.golden.given import TOKEN, Recording, Seats, digest_of
from verification.engine.judges.asking import Answer, Ask, Question
from verification.engine.reasons import REASONS

MISSING = "infra_verifier_error"
NOT_RECORDED = "No answer to this question was recorded."
_TOKEN_PLACE = re.compile(rf"(token(?:&\w+;|\W){{1,40}}){re.escape(TOKEN)}", re.IGNORECASE)
"""Under its name, in whatever marks: work may hold `{{token}}` itself, and a judge quote it."""


@dataclass(frozen=True, slots=True)
class Played:
    """One question of a replay. `is_stale`: the recording answered another one than was asked."""

    tier: int
    ask: Ask
    number: int
    judge: str
    prompt: str
    is_missing: bool = False
    is_stale: bool = False
    recovery: str = ""


@dataclass(slots=True)
class RecordedJudge:
    """Answers by tier, kind of question and number. `tier` is the one under way.

    What was not recorded is lost, and told in `played`: the replay could not be judged. `asked`
    are the questions of `played` in full.
    """

    recordings: Mapping[tuple[int, Ask, int], Recording]
    seats: Seats
    token: str
    tier: int = 1
    played: list[Played] = field(default_factory=list)
    asked: list[Question] = field(default_factory=list)
    _numbers: Counter[tuple[int, Ask]] = field(default_factory=Counter)

    def ask(self, questions: Sequence[Question]) -> Sequence[Answer]:
        return [self._answer(question) for question in questions]

    def note(self, ref: int, recovery: str) -> None:
        self.played[ref - 1] = replace(self.played[ref - 1], recovery=recovery)

    def _answer(self, question: Question) -> Answer:
        self._numbers[self.tier, question.ask] += 1
        number = self._numbers[self.tier, question.ask]
        found = self.recordings.get((self.tier, question.ask, number))
        prompt = digest_of(question)
        is_stale = found is not None and found.prompt not in ("", prompt)
        self.played.append(
            Played(self.tier, question.ask, number, question.judge, prompt, found is None, is_stale)
        )
        self.asked.append(question)
        model, ref = self.seats.by_name.get(question.judge, ""), len(self.played)
        if found is None:
            return Answer(lost=MISSING, detail=NOT_RECORDED, model=model, ref=ref)
        if found.lost:
            lost = found.lost if found.lost in REASONS else MISSING
            return Answer(lost=lost, detail="As it was recorded.", model=model, ref=ref)
        text = _TOKEN_PLACE.sub(lambda place: f"{place[1]}{self.token}", found.text)
        return Answer(text=text, model=model, ref=ref, is_cut=found.is_cut)
