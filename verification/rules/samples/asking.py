"""One run of a sample: the judge is asked, or heard again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial

from django.db import IntegrityError

from verification.engine.judges.asking import Answer, Question
from verification.engine.judges.one_rule import Said, said_of
from verification.engine.verifier import VerifierSpec
from verification.rules.models import Sample, SampledAnswer
from verification.rules.samples import claiming
from verification.rules.samples.answers import Known
from verification.rules.samples.cast import Candidate, cast
from verification.rules.samples.claiming import Claimed, RunTaken
from verification.runs import paying
from verification.runs.side_by_side import Here
from verification.runs.storable import storable
from verification.verifiers import selectors
from verification.verifiers.budgets import SHARE_BESIDE_LIVE


@dataclass(slots=True)
class Purse:
    """What was agreed to for a sample, as one run's questions draw on it."""

    claimed: Claimed
    is_spent: bool = False

    @property
    def project_id(self) -> int:
        return self.claimed.sample.project_id

    @property
    def process_id(self) -> int:
        return self.claimed.sample.process_id

    @property
    def share_of_day(self) -> Decimal:
        return SHARE_BESIDE_LIVE

    def grant(self, estimate: Decimal, *, seconds: float) -> bool:
        self.is_spent = not claiming.grant(self.claimed, estimate, seconds=seconds)
        return not self.is_spent

    def settle(self, granted: Decimal, actual: Decimal) -> None:
        claiming.settle(self.claimed, granted, actual)


@dataclass(slots=True)
class SampleJudge:
    """The engine's `Judge` for one run of a sample. Rows are read and written `here` alone."""

    purse: Purse
    known: Known
    here: Here

    def ask(self, questions: Sequence[Question]) -> Sequence[Answer]:
        return [self._answered(question) for question in questions]

    def note(self, ref: int, recovery: str) -> None:
        if ref:
            self.here(lambda: SampledAnswer.objects.filter(pk=ref).update(recovery=recovery))

    def _answered(self, question: Question) -> Answer:
        key = self.here(partial(self._key, question))
        own = self.purse.claimed.pk
        heard: Answer | None = self.here(partial(self.known.answer, key, of=own)) if key else None
        if heard is not None:
            return heard
        answer = paying.ask(self.purse, question, self.here)
        if answer.lost or not answer.text:
            return answer
        return replace(answer, ref=self.here(partial(self._keep, key, answer)))

    def _key(self, question: Question) -> str:
        """'' where there is no such judge: then nothing is asked either."""
        name = question.judge
        connection = selectors.without_key(project_id=self.purse.project_id, name=name)
        return self.known.key(question, connection) if connection else ""

    def _keep(self, key: str, answer: Answer) -> int:
        claimed = self.purse.claimed
        try:
            kept = SampledAnswer.objects.create(
                sampled_run_id=claimed.pk,
                cache_key=key,
                text=storable(answer.text),
                model=answer.model[:120],
                completion_tokens=answer.completion_tokens,
                is_cut=answer.is_cut,
            )
        except IntegrityError as error:
            raise RunTaken(f"run {claimed.run_id} was deleted") from error
        return kept.pk


@dataclass(frozen=True, slots=True)
class Asking:
    """Asks about the runs of one sample."""

    sample: Sample
    candidate: Candidate
    verifier: VerifierSpec
    known: Known

    @classmethod
    def of(cls, sample: Sample) -> Asking:
        verifier = VerifierSpec.from_json(sample.verifier_version.spec)
        known = Known(sample.project.uuid, verifier.prompt_version)
        candidate = Candidate.of(sample.candidate_text, sample.rule_index)
        return cls(sample, candidate, verifier, known)

    def said(self, purse: Purse, here: Here) -> Said:
        """What the judge says of the run; nothing, where the rule does not speak."""
        run_id = purse.claimed.run_id
        # The same in each sample: an answer that was wanting is not bettered twice either.
        nonce = f"sample {run_id}"
        made = here(partial(cast, run_id, self.candidate, self.verifier, nonce))
        if made is None:
            return Said()
        judge = SampleJudge(purse, self.known, here)
        return said_of(self.candidate.rule, made.case, made.ports, judge)
