"""Changes to repositories, as a submission brings them. Who knows repositories registers here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from loomverify.accounts.access import Access
from loomverify.errors import FaultError, InputError, Loc
from verification.runs.intake.schemas import ChangeIn, RunIn
from verification.runs.models import Run

BESIDE = ("files", "base", "diff")


@dataclass(frozen=True, slots=True)
class Applied:
    """A change that was applied to its base, in memory: nothing is stored yet.

    `files` and `base` yield what is under test and what was there before, by path. `changed` are
    the paths among `files` that the change added or altered. `told` is what the stored body says
    of it; `keep` writes its row, in the transaction that writes the run's. `forget` takes away what
    applying it has left, where it must not be kept.
    """

    files: Callable[[], Iterator[tuple[str, bytes]]]
    base: Callable[[], Iterator[tuple[str, bytes]]]
    changed: frozenset[str]
    diff: str
    told: Mapping[str, Any]
    keep: Callable[[Run], None]
    forget: Callable[[], None]


class Changes(Protocol):
    def __call__(self, access: Access, change: ChangeIn, *, loc: Loc) -> Applied:
        """Apply a change to its base.

        Raises:
            InputError: with its place; nothing is stored.
        """


_taking: list[Changes] = []


def register(changes: Changes) -> None:
    _taking[:] = [changes]


def applied(
    access: Access, body: RunIn, *, archives: Mapping[str, Any], loc: Loc
) -> Applied | None:
    """The submission's change, applied. None: it brings none.

    Raises:
        InputError: `change.beside_files`, or what is wrong with the change.
    """
    if body.change is None:
        return None
    for field in BESIDE:
        if getattr(body, field) is not None:
            raise InputError(
                "change.beside_files",
                "The files under test are the base with the change: send nothing else of them.",
                loc=(*loc, field),
            )
    for name in archives:
        raise InputError(
            "change.beside_files",
            "The files under test are the base with the change: send no archive.",
            loc=("body", name),
        )
    if not _taking:
        raise FaultError("nobody takes changes")
    return _taking[0](access, body.change, loc=(*loc, "change"))
