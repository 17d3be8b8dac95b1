"""Many patterns over many texts within one allowance of time for the whole run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from processes.definition.patterns import weight
from verification.engine.evidence import (
    Answer,
    CouldNotInspect,
    Matches,
    NotInspected,
    Pattern,
    Probe,
)
from verification.engine.verifier import Limits

MAX_LOSSES = 3
"""After so many deaths of the probe the rest is not asked for."""

NOT_REACHED = "The time for all patterns of a run was over."
LOST_TOO_OFTEN = "The probe was lost too often."

Told = tuple[int, range, Answer]


@dataclass
class Search:
    """Cheap patterns come first; each is told of by its number, with the texts it was sought in.

    All patterns of a run share `search_seconds` of the limits over all its texts: what is left
    then is unknown. One has `pattern_seconds`, so that a slow one leaves time to the others.
    """

    probe: Probe
    clock: Callable[[], float]
    limits: Limits
    losses: int = field(default=0, init=False)
    is_started: bool = field(default=False, init=False)
    spent: float = field(default=0.0, init=False)
    _spent_on: defaultdict[str, float] = field(
        default_factory=lambda: defaultdict(float), init=False
    )
    _given_up: dict[str, NotInspected] = field(default_factory=dict, init=False)

    def ask(self, patterns: Sequence[Pattern], texts: Sequence[bytes]) -> Iterator[Told]:
        """Tell every pattern's answer for every text; places count within their range."""
        self._start()
        numbers = sorted(range(len(patterns)), key=lambda number: weight(patterns[number].text))
        yield from self._ask(_Question(patterns, texts), numbers, range(len(texts)))

    def _start(self) -> None:
        """What a first start takes is no pattern's delay; what a restart takes is."""
        if not self.is_started:
            self.is_started = True
            try:
                self.probe.start()
            except CouldNotInspect:
                self.losses = MAX_LOSSES

    def _ask(self, question: _Question, numbers: Sequence[int], span: range) -> Iterator[Told]:
        known = [(number, self._given_up.get(question.text(number))) for number in numbers]
        yield from ((number, span, answer) for number, answer in known if answer)
        left = [number for number, answer in known if not answer]
        while left:
            if why := self._why_not():
                yield from ((number, span, NotInspected(why)) for number in left)
                return
            try:
                answers = self._search(question, left, span)
            except CouldNotInspect as error:
                yield from self._split(question, left, span, error)
                return
            for number, answer in zip(left, answers, strict=False):
                self._note(question.text(number), answer)
                yield number, span, answer
            left = left[len(answers) :]

    def _split(
        self, question: _Question, numbers: Sequence[int], span: range, error: CouldNotInspect
    ) -> Iterator[Told]:
        """Ask for less at a time, so that one text or pattern spoils no other."""
        if len(span) > 1:
            for text in span:
                yield from self._ask(question, numbers, range(text, text + 1))
        elif len(numbers) > 1:
            for number in numbers:
                yield from self._ask(question, [number], span)
        else:
            self.losses += 1
            yield numbers[0], span, NotInspected(str(error))

    def _search(self, question: _Question, numbers: Sequence[int], span: range) -> Sequence[Answer]:
        asked = [
            replace(
                question.patterns[number],
                seconds=self.limits.pattern_seconds - self._spent_on[question.text(number)],
            )
            for number in numbers
        ]
        started = self.clock()
        try:
            return self.probe.search(
                asked,
                question.texts[span.start : span.stop],
                seconds=self.limits.search_seconds - self.spent,
            )
        finally:
            self.spent += self.clock() - started

    def _note(self, pattern: str, answer: Answer) -> None:
        if isinstance(answer, NotInspected):
            self._given_up[pattern] = answer
        elif isinstance(answer, Matches):
            self._spent_on[pattern] += answer.seconds

    def _why_not(self) -> str:
        if self.losses >= MAX_LOSSES:
            return LOST_TOO_OFTEN
        return NOT_REACHED if self.spent >= self.limits.search_seconds else ""


@dataclass(frozen=True, slots=True)
class _Question:
    patterns: Sequence[Pattern]
    texts: Sequence[bytes]

    def text(self, number: int) -> str:
        return self.patterns[number].text
