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

    def answer(self, key: str, *, of: int = 0) -> Answer | None:
        """Of another sample, or of a run that was verified in these very words.

        What left a run in doubt is asked anew. `of` is the sampled run that is asked about: what
        a lost worker heard of it is heard again, whatever it was.
        """
        rows = SampledAnswer.objects.filter(cache_key=key)
        if of and (own := rows.filter(sampled_run=of).order_by("-pk").first()):
            return _answer(own)
        rows = rows.filter(sampled_run__lost="", sampled_run__answered_at__isnull=False)
        if sampled := rows.exclude(recovery__in=("", Stage.UNREADABLE)).order_by("-pk").first():
            return _answer(sampled)
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


def _answer(row: SampledAnswer) -> Answer:
    return Answer(
        text=row.text, model=row.model, cached=True, calls=0, ref=row.pk, is_cut=row.is_cut
    )
