"""Replies that were heard before: what is asked in the same words is not paid for twice."""

from __future__ import annotations

import math
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Avg

from verification.adapters.judge import Connection
from verification.engine.judges.asking import Answer, Question
from verification.engine.protocol.reply import Stage
from verification.rules.models import SampledAnswer
from verification.runs import calls


@dataclass(frozen=True, slots=True)
class Known:
    """`project` and `prompt_version` are part of what an answer depends on."""

    project: UUID
    prompt_version: int

    def key(self, question: Question, connection: Connection) -> str:
        return calls.key_of(self.project, self.prompt_version, question, connection)

    def answer(self, key: str) -> Answer | None:
        """Of another sample, or of a run that was verified in these very words."""
        rows = SampledAnswer.objects.filter(cache_key=key)
        sampled = rows.exclude(recovery__in=("", Stage.UNREADABLE)).order_by("-pk").first()
        if sampled:
            return Answer(text=sampled.text, model=sampled.model, cached=True, calls=0)
        call = calls.answered_before(key, is_counting=False)
        if call and (text := calls.text_of(call)) is not None:
            return Answer(text=text, model=call.model, cached=True, calls=0)
        return None

    def usual_answer(self, model: str) -> int | None:
        """How many tokens an answer to a sample has on average."""
        rows = SampledAnswer.objects.filter(sampled_run__sample__project__uuid=self.project)
        found = rows.filter(model=model).aggregate(tokens=Avg("completion_tokens"))["tokens"]
        return math.ceil(found) if found else None

    def has(self, key: str) -> bool:
        return self.answer(key) is not None
