"""Many patterns over many texts in few round trips, and nothing lost with one lost answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from verification.engine.evidence import (
    CouldNotInspect,
    Matches,
    NotInspected,
    Pattern,
    Probe,
    UnsupportedPattern,
)

MAX_BATCH_CHARS = 1_000_000
MAX_TEXT_CHARS = 20_000_000
MAX_LOSSES = 3
"""After so many lost answers the rest is not asked for: each costs a deadline."""

Answer = Matches | UnsupportedPattern | NotInspected


@dataclass
class Search:
    """`search` gives one row per text with one answer per pattern."""

    probe: Probe
    losses: int = field(default=0, init=False)

    def search(self, patterns: Sequence[Pattern], texts: Sequence[str]) -> list[Sequence[Answer]]:
        rows: list[Sequence[Answer]] = []
        for batch in _batches(texts):
            rows += self._ask(patterns, batch)
        return rows

    def _ask(self, patterns: Sequence[Pattern], texts: Sequence[str]) -> Sequence[Sequence[Answer]]:
        if len(texts[0]) > MAX_TEXT_CHARS:
            return _nothing("It is too long to be searched.", patterns, texts)
        if self.losses >= MAX_LOSSES:
            return _nothing("The probe was lost too often.", patterns, texts)
        try:
            return self.probe.matches(patterns, texts)
        except CouldNotInspect as error:
            if len(patterns) * len(texts) == 1:
                self.losses += 1
                return _nothing(str(error), patterns, texts)
        if len(texts) > 1:
            return [self._ask(patterns, [text])[0] for text in texts]
        return [[self._ask([pattern], texts)[0][0] for pattern in patterns]]


def _nothing(why: str, patterns: Sequence[Pattern], texts: Sequence[str]) -> list[Sequence[Answer]]:
    return [[NotInspected(why)] * len(patterns)] * len(texts)


def _batches(texts: Sequence[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    size = 0
    for text in texts:
        if batch and size + len(text) > MAX_BATCH_CHARS:
            yield batch
            batch, size = [], 0
        batch.append(text)
        size += len(text)
    if batch:
        yield batch
