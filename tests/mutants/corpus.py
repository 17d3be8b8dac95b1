"""The shipped cases, in the order in which they are most likely to find the next defect."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

# What the engine does not own is imported here once, and shared by every fork.
from tests.mutants.mutant import Mutant
from tests.mutants.running import CRASHED, Document, Killed, try_out
from verification.golden import replaying  # noqa: F401
from verification.golden.documents import reading  # noqa: F401
from verification.golden.shipped import builtin_definitions, shipped_documents


@dataclass(slots=True)
class Corpus:
    """`left_out` are cases that do not hold here with the engine as it is: they prove nothing."""

    documents: list[Document]
    left_out: Sequence[str] = ()
    kills: dict[tuple[str, str], int] = field(default_factory=dict)

    @classmethod
    def shipped(cls) -> Corpus:
        builtin_definitions()
        documents: list[dict[str, Any]] = [one for _, one in shipped_documents()]
        left_out = []
        while failing := try_out(None, documents).by:
            assert failing != CRASHED, "the engine as it is cannot be read"
            left_out.append(failing)
            documents = [one for one in documents if one["id"] != failing]
        return cls(documents, left_out)

    def kill(self, numbered: tuple[int, Mutant]) -> tuple[int, Killed]:
        number, mutant = numbered
        module = mutant.module
        self.documents.sort(key=lambda one: -self.kills.get((module, one["id"]), 0))
        killed = try_out(mutant, self.documents)
        if killed.by:
            self.kills[module, killed.by] = self.kills.get((module, killed.by), 0) + 1
        return number, killed
