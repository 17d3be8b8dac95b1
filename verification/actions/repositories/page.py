"""What the settings page shows of a repository."""

from __future__ import annotations

from dataclasses import dataclass

from verification.actions.models import Repository
from verification.actions.repositories.reaching import NEEDS_KEY, Reached, reached

BY = {
    Reached.PATH: "reached by its path, as the workers' user",
    Reached.NOTHING: "reached without a token",
    Reached.TOKEN: "reached by the token in {}",
    Reached.KEY: "reached by the SSH key that {} names",
    Reached.WORKER_KEY: "reached by the workers' own SSH key, for every project alike",
    Reached.NO_KEY: "not reached",
}


@dataclass(frozen=True, slots=True)
class Row:
    """`row` has the counts `waiting` and `done`."""

    row: Repository

    @property
    def reached(self) -> str:
        return BY[reached(self.row)].format(self.row.credential_reference)

    @property
    def lacks(self) -> str:
        """What keeps it from being reached at all; empty: nothing that is known here."""
        return NEEDS_KEY if reached(self.row) is Reached.NO_KEY else ""
