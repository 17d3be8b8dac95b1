"""What speaks against a change, said by rooms that the changing room does not know."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from loomverify.errors import Conflict, Issue

Wish = TypeVar("Wish")
REASON = "corpus_reason"


@dataclass(frozen=True, slots=True)
class Word:
    """What one guard says of a change. `objection` None: nothing against it.

    `figures` are what it rests on, kept in the audit log with the change. Pages show `shown`
    by `template`, which finds it as `word`.
    """

    objection: Issue | None
    figures: str
    template: str
    shown: Any


class Objected(Conflict):
    """A change that somebody has to give a reason of its own for."""

    def __init__(self, objection: Issue) -> None:
        super().__init__(objection.code, objection.msg, loc=("body", REASON))


class Guards(Generic[Wish]):
    """Those who are asked before a change of one kind; each says one `Word`, or nothing."""

    def __init__(self) -> None:
        self._guards: list[Callable[[Wish], Word | None]] = []

    def register(self, guard: Callable[[Wish], Word | None]) -> None:
        self._guards.append(guard)

    def words(self, wish: Wish) -> list[Word]:
        return [word for guard in self._guards if (word := guard(wish)) is not None]

    def need(self, wish: Wish, *, reason: str) -> dict[str, list[Any]]:
        """Return what the audit log keeps of it. With a reason nothing stands in the way.

        Raises:
            Objected: something speaks against it, and no reason is given.
        """
        kept: dict[str, list[Any]] = {}
        for word in self.words(wish):
            if word.objection is not None and not reason.strip():
                raise Objected(word.objection)
            kept["corpus"] = [None, word.figures]
            if word.objection is not None:
                kept[REASON] = [None, reason.strip().replace("\x00", "\ufffd")]
        return kept
