"""What speaks against a change, said by rooms that the changing room does not know."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Generic, TypeVar

from loomverify.errors import Conflict, Issue

Wish = TypeVar("Wish")
REASON = "corpus_reason"
NOTHING: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Word:
    """What one guard says of a change. `objection` None: nothing against it.

    `figures` are what it rests on; the audit log keeps them with the change, under the guard's
    `name`. Pages show `shown` by `template`, which finds it as `word`.
    """

    name: str
    objection: Issue | None
    figures: str
    template: str
    shown: Any


class Objected(Conflict):
    """A change that somebody has to give a reason of its own for: one for all that is said."""

    def __init__(self, objections: Sequence[Issue]) -> None:
        said = " ".join(objection.msg for objection in objections)
        super().__init__(objections[0].code, said, loc=("body", REASON))
        self.issues = tuple(Issue(one.code, one.msg, ("body", REASON)) for one in objections)


class Guards(Generic[Wish]):
    """Those who are asked before a change of one kind; each says one `Word`, or nothing."""

    def __init__(self) -> None:
        self._guards: list[Callable[[Wish], Word | None]] = []

    def register(self, guard: Callable[[Wish], Word | None]) -> None:
        self._guards.append(guard)

    def words(self, wish: Wish) -> list[Word]:
        return [word for guard in self._guards if (word := guard(wish)) is not None]

    def need(
        self, wish: Wish, *, reason: str, answered: Mapping[str, str] = NOTHING
    ) -> dict[str, list[Any]]:
        """Return what the audit log keeps of it. With a reason nothing stands in the way.

        `answered` says by a guard's name why its objection is answered already, if it has one.

        Raises:
            Objected: something speaks against it, and no reason is given; all that does is told.
        """
        words = self.words(wish)
        objecting = [word for word in words if word.objection is not None]
        unanswered = [word.objection for word in objecting if not answered.get(word.name)]
        said = reason.strip()
        if unanswered and not said:
            raise Objected([objection for objection in unanswered if objection])
        kept: dict[str, list[Any]] = {word.name: [None, word.figures] for word in words}
        if objecting:
            told = said or " ".join(answered[word.name] for word in objecting)
            kept[REASON] = [None, told.replace("\x00", "\ufffd")]
        return kept
