"""What becomes of a change in its repository once its run has a verdict, and in which words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from uuid import UUID

from verification.engine.outcome import Action

MAX_SUBJECT = 72
REVIEW, CLOSED = "loomverify/review", "loomverify/closed"
MAX_REVERIFICATIONS = 3
"""A change whose base moves faster than it can be verified is a person's."""

_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]+")


class Landing(StrEnum):
    COMMIT = "commit"
    REVIEW_BRANCH = "review_branch"
    REVERT = "revert"
    RESTORE = "restore"
    CLOSE = "close"


def landing_of(action: Action, *, has_landed: bool, was_taken_back: bool = False) -> Landing | None:
    """What a verdict asks of the repository; None: nothing moves.

    `has_landed`: the work stands on the target branch already, by whoever committed it.
    `was_taken_back`: it did, and an inverse commit came since.

    Source: docs/landing.md, "What follows from a verdict".
    """
    if has_landed:
        return Landing.REVERT if action is Action.REVERT else None
    return {
        Action.AUTO_COMMIT: Landing.RESTORE if was_taken_back else Landing.COMMIT,
        Action.REVIEW_BRANCH: Landing.REVIEW_BRANCH,
    }.get(action)


def review_branch(day: date, run: UUID) -> str:
    return f"refs/heads/{REVIEW}/{day.isoformat()}/{run}"


def closed_branch(ref: str) -> str:
    """Where a rejected review branch goes, so that its commit is lost to nobody."""
    return ref.replace(f"refs/heads/{REVIEW}/", f"refs/heads/{CLOSED}/", 1)


@dataclass(frozen=True, slots=True)
class Told:
    """What a commit says of the run that verified it."""

    run: UUID
    task: str
    description: str
    process: str
    process_version: int
    phase: str
    verifier_version: int
    confidence: str
    approved_by: str = ""
    url: str = ""


def message_of(told: Told, *, reverts: str = "", restores: str = "") -> str:
    """Return the commit's message; nothing submitted can add a trailer to it."""
    subject = one_line(told.description) or f"Task {one_line(told.task)}"
    if reverts:
        subject = f"Revert: {subject}"
    if restores:
        subject = f"Restore: {subject}"
    body = [f"Task {one_line(told.task)}"]
    if reverts:
        body.append(f"This takes back {reverts}, which verification rejected.")
    if restores:
        body.append(f"This puts back {restores}, which had been taken back.")
    return "\n".join([_shortened(subject), "", *body, "", *_trailers(told)]) + "\n"


def _trailers(told: Told) -> Sequence[str]:
    trailers = {
        "LoomVerify-Run": str(told.run),
        "LoomVerify-Process": f"{told.process} v{told.process_version}, phase {told.phase}",
        "LoomVerify-Verifier": f"v{told.verifier_version}",
        "LoomVerify-Confidence": told.confidence,
        "LoomVerify-Approved-By": told.approved_by,
        "LoomVerify-Url": told.url,
    }
    return [f"{name}: {one_line(value)}" for name, value in trailers.items() if value]


def one_line(text: str) -> str:
    """The text's first line that says something, without what a terminal would obey."""
    lines = (_UNPRINTABLE.sub(" ", line).strip() for line in text.splitlines())
    return next((line for line in lines if line), "")


def _shortened(subject: str) -> str:
    return subject if len(subject) <= MAX_SUBJECT else f"{subject[: MAX_SUBJECT - 1].rstrip()}…"
