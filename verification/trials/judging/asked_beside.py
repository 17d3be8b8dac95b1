"""What judges were asked on both sides, and what they said: question by question."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

from verification.runs.artefacts import Diff, diff_of, whole_of
from verification.runs.beside.counting import calls_of
from verification.runs.evidence_store import EvidenceLost, read_blob
from verification.runs.exchanges import LOST, ListedCall
from verification.runs.models import Blob, ModelCall
from verification.runs.prompt_parts import parts_of_request
from verification.trials.models import Comparison

MAX_PAIRS: Final = 100
Name = tuple[int, str, int]
"""Tier, what was asked, and the how-manieth of its kind."""


class Call(Protocol):
    """One side's question with its answer. `place` orders those of a tier.

    `state`: what is wrong with a recorded answer, in words; '' where nothing is. A `reply_key` of
    None: none came.
    """

    @property
    def row(self) -> Any: ...
    @property
    def ask(self) -> str: ...
    @property
    def place(self) -> int: ...
    @property
    def state(self) -> str: ...
    @property
    def question_key(self) -> Hashable: ...
    @property
    def reply_key(self) -> Hashable: ...
    def question(self) -> str: ...
    def reply(self) -> str: ...


class RunCall(ListedCall):
    """A call over a run. Contents are kept once per project: the same one is the same row."""

    state = ""

    @property
    def place(self) -> int:
        return self.row.seq

    @property
    def question_key(self) -> Hashable:
        return self.row.request_id

    @property
    def reply_key(self) -> Hashable:
        return self.row.reply_id

    def question(self) -> str:
        return question_of(self.row.request)

    def reply(self) -> str:
        return _stored(self.row.reply)


@dataclass(frozen=True, slots=True)
class AskedPair:
    """A question of both sides, or of one alone. `number` counts from 1."""

    number: int
    tier: int
    old: Call | None
    new: Call | None

    @property
    def ask(self) -> str:
        call = self.new or self.old
        return call.ask if call else ""

    @property
    def is_same_question(self) -> bool:
        return self._is_same("question_key")

    @property
    def is_same_reply(self) -> bool:
        return self._is_same("reply_key")

    @property
    def said(self) -> str:
        """What the two have in common, in words."""
        if self.old is None or self.new is None:
            return (
                "asked by the new one alone" if self.old is None else "asked by the old one alone"
            )
        question = "the same question" if self.is_same_question else "another question"
        if self.old.reply_key is self.new.reply_key is None:
            return f"{question}, no reply"
        return f"{question}, {'the same reply' if self.is_same_reply else 'another reply'}"

    @property
    def states(self) -> list[str]:
        """What is wrong with recorded answers, and of which side where it is one alone."""
        sides = {name: one.state for name, one in (("old", self.old), ("new", self.new)) if one}
        if len(set(sides.values())) == 1:
            return [state for state in set(sides.values()) if state]
        return [f"{state} for the {name} one" for name, state in sides.items() if state]

    def _is_same(self, name: str) -> bool:
        if self.old is None or self.new is None:
            return False
        return bool(getattr(self.old, name) == getattr(self.new, name))


@dataclass(frozen=True, slots=True)
class Differences:
    """Line by line, from the old one to the new one; whole where the two are the same."""

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
    return paired(left, right)


def paired(old: Mapping[Name, Call], new: Mapping[Name, Call]) -> list[AskedPair]:
    """In the order of the tiers, and in each as it was asked."""
    names = sorted({**new, **old}, key=lambda name: (name[0], _place(name, old, new)))
    return [
        AskedPair(number, name[0], old.get(name), new.get(name))
        for number, name in enumerate(names[:MAX_PAIRS], start=1)
    ]


def differences_of(pair: AskedPair) -> Differences:
    calls = (pair.old, pair.new)
    questions = [one.question() if one else "" for one in calls]
    replies = [one.reply() if one else "" for one in calls]
    return Differences(
        pair,
        question=_beside(*questions, is_same=pair.is_same_question),
        reply=_beside(*replies, is_same=pair.is_same_reply),
    )


def _beside(old: str, new: str, *, is_same: bool) -> Diff:
    return whole_of(new) if is_same else diff_of(old, new)


def _place(name: Name, *sides: Mapping[Name, Call]) -> tuple[int, str]:
    """Where it stood among the calls of its tier; the later one where the sides differ."""
    return max(side[name].place for side in sides if name in side), name[1]


def _named(calls: Iterable[ModelCall]) -> Mapping[Name, Call]:
    return dict(_numbered(calls))


def _numbered(calls: Iterable[ModelCall]) -> Iterator[tuple[Name, Call]]:
    seen: Counter[tuple[int, str]] = Counter()
    for call in calls:
        seen[call.tier, call.ask] += 1
        yield (call.tier, call.ask, seen[call.tier, call.ask]), RunCall(call)


def question_of(blob: Blob | None) -> str:
    """What was sent, part by part under its title, as a person reads it."""
    parts = parts_of_request(_stored(blob))
    return "\n\n".join(f"# {part.title}\n{part.text}" for part in parts)


def _stored(blob: Blob | None) -> str:
    if blob is None:
        return ""
    try:
        return read_blob(blob).decode(errors="replace")
    except EvidenceLost:
        return LOST
