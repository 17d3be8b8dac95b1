"""Sides, classes and judgements of comparisons, in signs and words for people."""

from __future__ import annotations

from verification.engine.outcome import Outcome
from verification.engine.shadow import DiffClass, SideOutcome
from verification.runs import wording
from verification.runs.wording import Badge
from verification.trials.judging.blinding import FIRST, SECOND
from verification.trials.models import Judged

_SAME = "M2.5 4.5h7M2.5 7.5h7"
_DIFFERENT = "M2.5 4.3h7M2.5 7.7h7M8 2 4 10"

CLASSES = {
    DiffClass.NO_DIFF: Badge("same", "open", _SAME),
    DiffClass.OLD_FAIL_NEW_PASS: Badge("laxer: the new one accepts", "fail", "M6 10V2M2.8 5 6 2l3.2 3"),
    DiffClass.OLD_PASS_NEW_FAIL: Badge("stricter: the new one rejects", "warn", "M6 2v8M2.8 7 6 10l3.2-3"),
    DiffClass.BOTH_FAIL_REASON_DIFF: Badge("both reject, otherwise", "open", _DIFFERENT),
    DiffClass.WARNINGS_DIFF: Badge("both accept, otherwise", "open", _DIFFERENT),
    DiffClass.NEW_UNDECIDED: Badge("the new one is undecided", "open", wording.UNDECIDED.sign),
    DiffClass.OLD_UNDECIDED: Badge("the old one is undecided", "open", wording.UNDECIDED.sign),
}  # fmt: skip
FINER = {
    "outcome": "outcome",
    "reason": "reason",
    "severity_class": "kind of fault",
    "findings": "findings",
    "enforcement": "enforcement",
    "severity": "severity",
    "warnings": "warnings",
    "scope": "where rules apply",
}
JUDGED = {
    Judged.OLD: Badge("old right", "open", wording.PASS.sign),
    Judged.NEW: Badge("new right", "pass", wording.PASS.sign),
    Judged.BOTH: Badge("both right", "open", _SAME),
    Judged.NEITHER: Badge("neither right", "fail", wording.FAIL.sign),
    Judged.DISPUTED: Badge("people disagree", "warn", wording.WARNINGS.sign),
}
ANSWERS = {
    FIRST: "First is right",
    SECOND: "Second is right",
    Judged.BOTH.value: "Both are right",
    Judged.NEITHER.value: "Neither is right",
}
KEYS = {FIRST: "o", SECOND: "n", Judged.BOTH.value: "b", Judged.NEITHER.value: "x"}
CHANGES = {
    "enforcement": "enforcement",
    "severity": "severity",
    "verdict": "verdict",
    "reason_code": "reason",
}


def side_badge(outcome: str) -> Badge:
    """Doubt is never shown as failed."""
    if outcome in ("", SideOutcome.UNDECIDED):
        return wording.UNDECIDED
    return wording.OUTCOMES[Outcome(outcome)]


def class_badge(diff_class: str) -> Badge | None:
    return CLASSES[DiffClass(diff_class)] if diff_class else None


def judged_badge(judged: str) -> Badge | None:
    return JUDGED[Judged(judged)] if judged else None


def finer_words(finer: str) -> str:
    return FINER.get(finer, finer.replace("_", " "))
