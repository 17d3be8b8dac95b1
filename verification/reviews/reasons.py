"""Why a person is asked, in words: the same in lists, on pages and in mails."""

from __future__ import annotations

from verification.engine import reviewing
from verification.runs import wording

REASONS = {
    reviewing.RANDOM_SAMPLE: "drawn by chance",
    "asked_for": "somebody asked for it",
    "change_held": "its change waits for a person's word",
    "terminal": "the task takes no more submissions",
    "undecided": "the verifier could not decide",
    "rejected": "the verifier rejected it",
    "partial": "not all of it is verified",
}


def reason_words(code: str) -> str:
    """Of a run's reason code, or of a kind of reason that the policy names."""
    return REASONS.get(code) or wording.reason(code)
