"""Actions in words, for pages and people."""

from __future__ import annotations

from verification.actions.models import ActionKind, ActionState
from verification.runs.wording import REMEDIATION_STATES, WAIVER_STATES, Badge

_CHECK = REMEDIATION_STATES["resolved"].sign
_CROSS = REMEDIATION_STATES["failed"].sign
_CLOCK = REMEDIATION_STATES["queued"].sign
_ARC = REMEDIATION_STATES["claimed"].sign
_HALF = WAIVER_STATES["active"].sign
_SLASH = WAIVER_STATES["ended"].sign

STATES = {
    ActionState.PROPOSED: Badge("proposed", "part", _HALF),
    ActionState.PENDING: Badge("under way", "open", _ARC),
    ActionState.DONE: Badge("done", "pass", _CHECK),
    ActionState.HELD: Badge("held", "warn", _CLOCK),
    ActionState.DECLINED: Badge("declined", "fail", _CROSS),
    ActionState.WITHDRAWN: Badge("withdrawn", "open", _SLASH),
}
KINDS = {
    ActionKind.COMMIT: "Commit to the target branch",
    ActionKind.REVIEW_BRANCH: "Keep on a review branch",
    ActionKind.REVERT: "Take back by an inverse commit",
    ActionKind.RESTORE: "Put back by another commit",
    ActionKind.CLOSE: "Close the review branch",
}
APPROVALS = {
    ActionKind.COMMIT: "Land it",
    ActionKind.REVIEW_BRANCH: "Make the branch",
    ActionKind.REVERT: "Take it back",
    ActionKind.RESTORE: "Put it back",
    ActionKind.CLOSE: "Close it",
}
REASONS = {
    "base_moved": "The target branch moved.",
    "braked": "The repository was switched to propose only before it was done.",
    "branch_missing": "The target branch is not there.",
    "change_refused": "The change cannot be applied any more.",
    "checked_out": "The branch is checked out in a work tree.",
    "conflict": "It conflicts with what is there now.",
    "declined": "A person declined it.",
    "many_commits": "More than one commit would be taken back.",
    "overtaken": "A later evaluation or decision asks for something else.",
    "push_refused": "The repository refused it.",
    "ref_moved": "Somebody else moved the branch.",
    "ref_taken": "A branch of this name is there already.",
    "repository_removed": "The repository is out of use.",
    "repository_unreachable": "The repository could not be reached.",
    "tree_differs": "Applied again, the change gives other files than were verified.",
}
IN_SHORT = {
    "base_moved": "target branch moved",
    "braked": "switched to propose only",
    "branch_missing": "no target branch",
    "change_refused": "change no longer applies",
    "checked_out": "branch checked out",
    "conflict": "in conflict",
    "declined": "declined",
    "many_commits": "more than one commit",
    "overtaken": "overtaken",
    "push_refused": "refused by the repository",
    "ref_moved": "branch moved by somebody else",
    "ref_taken": "name of the branch taken",
    "repository_removed": "repository out of use",
    "repository_unreachable": "repository not reached",
    "tree_differs": "other files than were verified",
}
"""The reasons where they are counted: beside a number, or after the action's name."""


def in_short(code: str) -> str:
    return IN_SHORT.get(code) or code.replace("_", " ")
