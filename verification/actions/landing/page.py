"""What pages show of an action."""

from __future__ import annotations

from dataclasses import dataclass

from verification.actions.landing.services import APPROVABLE
from verification.actions.landing.wording import APPROVALS, KINDS, REASONS, STATES
from verification.actions.models import Action, ActionKind, ActionState, Change
from verification.runs.wording import Badge

SHOWN_DIGITS = 12


@dataclass(frozen=True, slots=True)
class Row:
    row: Action

    @property
    def badge(self) -> Badge:
        return STATES[ActionState(self.row.state)]

    @property
    def words(self) -> str:
        return KINDS[ActionKind(self.row.kind)]

    @property
    def branch(self) -> str:
        return self.row.ref.removeprefix("refs/heads/")

    @property
    def commit(self) -> str:
        return self.row.new_sha[:SHOWN_DIGITS]

    @property
    def why(self) -> str:
        """The sentence of its reason, unless the detail says it with more."""
        return REASONS.get(self.row.reason_code, self.row.reason_code)

    @property
    def detail(self) -> str:
        return "" if self.row.detail == self.why else self.row.detail

    @property
    def is_waiting(self) -> bool:
        return self.row.state in APPROVABLE

    @property
    def approval(self) -> str:
        is_held = self.row.state == ActionState.HELD
        return "Try again" if is_held else APPROVALS[ActionKind(self.row.kind)]


@dataclass(frozen=True, slots=True)
class Box:
    """A run's change, as its page shows it."""

    change: Change
    rows: list[Row]

    @property
    def base(self) -> str:
        return self.change.base_sha[:SHOWN_DIGITS]

    @property
    def paths(self) -> list[dict[str, str]]:
        words = {"A": "added", "M": "changed", "D": "deleted", "R": "moved", "T": "changed"}
        return [
            {"path": one["path"], "status": words.get(one["status"], one["status"])}
            for one in self.change.paths
        ]
