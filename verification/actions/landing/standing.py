"""Where the work of a change stands, by what was done with it: it may come and go more than once."""

from __future__ import annotations

from dataclasses import dataclass

from verification.actions.models import Action, ActionKind, ActionState, Change, ChangeKind

MOVING = (ActionKind.COMMIT, ActionKind.REVERT, ActionKind.RESTORE)


@dataclass(frozen=True, slots=True)
class Standing:
    """`base` and `commit`: what stood on the target branch last; empty: nothing ever did."""

    base: str = ""
    commit: str = ""
    reverts: int = 0
    restores: int = 0
    was_taken_back: bool = False

    @property
    def has_landed(self) -> bool:
        """Whether the work stands on the target branch: it was committed before, or by us."""
        return bool(self.commit) and not self.was_taken_back

    def turn_of(self, kind: ActionKind) -> int:
        """Which time it is that an action of this kind is asked for."""
        if kind is ActionKind.REVERT:
            return self.restores + 1
        return max(1, self.reverts) if kind is ActionKind.RESTORE else 1


def standing_of(change: Change) -> Standing:
    base, commit = "", ""
    if change.kind == ChangeKind.COMMIT:
        base, commit = change.base_sha, change.commit_sha
    reverts, restores, was_taken_back = 0, 0, False
    done = Action.objects.filter(change=change, state=ActionState.DONE, kind__in=MOVING)
    for kind, expected, new in done.order_by("pk").values_list("kind", "expected_sha", "new_sha"):
        if kind == ActionKind.REVERT:
            reverts, was_taken_back = reverts + 1, True
            continue
        if kind == ActionKind.RESTORE:
            restores, was_taken_back = restores + 1, False
        if new:  # without, the target branch held all of it already
            base, commit = expected, new
    return Standing(base, commit, reverts, restores, was_taken_back)
