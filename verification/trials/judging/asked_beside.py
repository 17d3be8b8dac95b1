"""What judges were asked on both sides, and what they said: question by question."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from verification.runs.artefacts import Diff, diff_of
from verification.runs.beside.counting import calls_of
from verification.runs.evidence_store import EvidenceLost, read_blob
from verification.runs.exchanges import LOST, ListedCall
from verification.runs.models import Blob, ModelCall
from verification.runs.prompt_parts import parts_of_request
from verification.trials.models import Comparison

MAX_PAIRS: Final = 100
_Name = tuple[int, str, int]
"""Tier, what was asked, and the how-manieth of its kind."""


@dataclass(frozen=True, slots=True)
class AskedPair:
    """A question of both sides, or of one alone. `number` counts from 1."""

    number: int
    tier: int
    old: ListedCall | None
    new: ListedCall | None

    @property
    def ask(self) -> str:
        call = self.new or self.old
        return call.ask if call else ""

    @property
    def is_same_question(self) -> bool:
        return self._is_same("request_id")

    @property
    def is_same_reply(self) -> bool:
        return self._is_same("reply_id")

    @property
    def said(self) -> str:
        """What the two have in common, in words."""
        if self.old is None or self.new is None:
            return (
                "asked by the new one alone" if self.old is None else "asked by the old one alone"
            )
        question = "the same question" if self.is_same_question else "another question"
        return f"{question}, {'the same reply' if self.is_same_reply else 'another reply'}"

    def _is_same(self, name: str) -> bool:
        """Contents are kept once per project: the same one is the same row."""
        if self.old is None or self.new is None:
            return False
        return bool(getattr(self.old.row, name) == getattr(self.new.row, name))


@dataclass(frozen=True, slots=True)
class Differences:
    """Line by line, from the old one to the new one."""

    pair: AskedPair
    question: Diff
    reply: Diff


def pairs_of(row: Comparison) -> list[AskedPair]:
    old, new = row.old_evaluation_id, row.new_evaluation_id
    if old is None or new is None:
        return []
    ids = calls_of([old, new])
    calls = ModelCall.objects.filter(pk__in=[*ids[old], *ids[new]]).order_by("tier", "seq")
    calls = calls.select_related("evaluation", "request__project", "reply__project")
    left, right = (_named(one for one in calls if one.pk in ids[side]) for side in (old, new))
    names = sorted({**right, **left}, key=lambda name: (name[0], _place(name, left, right)))
    return [
        AskedPair(number, name[0], left.get(name), right.get(name))
        for number, name in enumerate(names[:MAX_PAIRS], start=1)
    ]


def differences_of(pair: AskedPair) -> Differences:
    old, new = (one.row if one else None for one in (pair.old, pair.new))
    return Differences(
        pair,
        question=diff_of(*(_question(one) for one in (old, new))),
        reply=diff_of(*(_stored(one.reply) if one else "" for one in (old, new))),
    )


def _place(name: _Name, *sides: Mapping[_Name, ListedCall]) -> tuple[int, str]:
    """Where it stood among the calls of its tier; the later one where the sides differ."""
    return max(side[name].row.seq for side in sides if name in side), name[1]


def _named(calls: Iterable[ModelCall]) -> Mapping[_Name, ListedCall]:
    return dict(_numbered(calls))


def _numbered(calls: Iterable[ModelCall]) -> Iterator[tuple[_Name, ListedCall]]:
    seen: Counter[tuple[int, str]] = Counter()
    for call in calls:
        seen[call.tier, call.ask] += 1
        yield (call.tier, call.ask, seen[call.tier, call.ask]), ListedCall(call)


def _question(call: ModelCall | None) -> str:
    """Part by part under its title, as a person reads it."""
    if call is None:
        return ""
    parts = parts_of_request(_stored(call.request))
    return "\n\n".join(f"# {part.title}\n{part.text}" for part in parts)


def _stored(blob: Blob | None) -> str:
    if blob is None:
        return ""
    try:
        return read_blob(blob).decode(errors="replace")
    except EvidenceLost:
        return LOST
